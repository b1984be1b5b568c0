#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ledger/domain/time.h"

namespace holdfast {

// Explicit spans of a resource (hours, blocks) as they were added, and the time they cover
// together: touching and overlapping ones are one run. Looking up costs O(log n), adding and
// removing O(n).
class Windows {
 public:
  Windows() = default;
  explicit Windows(const std::vector<Span>& spans);

  bool empty() const { return spans_.empty(); }
  std::size_t size() const { return spans_.size(); }
  const std::vector<Span>& spans() const { return spans_; }  // ascending
  bool has(const Span& span) const;

  void add(const Span& span);
  void remove(const Span& span);

  // The whole span lies inside one run.
  bool cover(const Span& span) const;
  bool meet(const Span& span) const;
  // The runs that meet the span, cut to it, in order.
  std::vector<Span> within(const Span& span) const;
  // The first instant from `at` on at which a run covers that length; none: never.
  std::optional<Instant> first_covered(Instant at, Duration length) const;
  // The end of the last run that meets the span; none: none does.
  std::optional<Instant> end_of_last_met(const Span& span) const;

  bool operator==(const Windows& other) const { return spans_ == other.spans_; }

 private:
  void merge();
  // The first run that ends behind the instant.
  std::vector<Span>::const_iterator behind(Instant at) const;

  std::vector<Span> spans_;  // a resource is copied with them: one block of memory
  std::vector<Span> runs_;
};

}  // namespace holdfast
