#pragma once

#include <cstdint>
#include <optional>

#include "ledger/domain/avl.h"
#include "ledger/domain/time.h"

namespace holdfast {

// Units occupied over time on one resource: a step function U(t) kept as its changes in a balanced
// tree with sums and highest prefix sums, so that a span's maximum costs O(log n) however many
// claims stand. Claims without a span are one number beside it.
class Occupancy {
 public:
  Occupancy() = default;
  ~Occupancy();
  Occupancy(const Occupancy&) = delete;
  Occupancy& operator=(const Occupancy&) = delete;

  void add(Span span, std::int64_t units);
  void remove(Span span, std::int64_t units) { add(span, -units); }

  // The highest U within the span, and the earliest instant in it at which U is that high.
  struct Peak {
    std::int64_t units;
    Instant at;
  };
  Peak peak(Span span) const;

  // The begin of the last piece of U within the span that is above `units`. O(log n).
  std::optional<Instant> last_above(Span span, std::int64_t units) const;
  // The first instant from `at` on at which U is not above `units`; none: never. O(log n + changes
  // passed over).
  std::optional<Instant> first_not_above(Instant at, std::int64_t units) const;

  // The pieces of U within the span in order: neighbours differ. Stops when `visit` says false.
  template <class Visit>
  void visit_steps(Span span, const Visit& visit) const {
    std::int64_t level = level_at(span.from);
    Instant begin = span.from;
    const auto step = [&](const Change& c) {
      const Span piece{begin, c.at};
      const std::int64_t units = level;
      begin = c.at;
      level += c.delta;
      return visit(piece, units);
    };
    if (visit_changes(changes_.root(), span, step)) visit(Span{begin, span.until}, level);
  }

  bool empty() const { return always_ == 0 && changes_.empty(); }

  struct Change {  // U changes by `delta` at `at`
    Instant at;
    std::int64_t delta;
    std::int64_t sum = 0;      // of the deltas of the subtree
    std::int64_t highest = 0;  // highest prefix sum that ends at a node of the subtree
    AvlLinks<Change> links = {};
  };

 private:
  struct Order {
    static AvlLinks<Change>& links(Change& c) { return c.links; }
    static bool before(const Change& a, const Change& b) { return a.at < b.at; }
    static void pull(Change& c);
  };
  using Changes = Avl<Change, Order>;

  // The changes inside the span, its begin excluded, in order; false: `visit` said so.
  template <class Visit>
  static bool visit_changes(const Change* c, Span span, const Visit& visit) {
    if (c == nullptr) return true;
    if (c->at <= span.from) return visit_changes(c->links.right, span, visit);
    if (!visit_changes(c->links.left, span, visit)) return false;
    if (c->at >= span.until) return true;
    return visit(*c) && visit_changes(c->links.right, span, visit);
  }

  void change_at(Instant at, std::int64_t delta);
  std::int64_t level_at(Instant at) const;

  std::int64_t always_ = 0;
  Changes changes_;
};

}  // namespace holdfast
