#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "ledger/domain/decide.h"
#include "ledger/domain/state.h"

namespace holdfast {

// What the levels of a path say together, read in one walk up. Valid until the state changes.
class PathRules {
 public:
  PathRules(const State& state, std::string_view path, const Policy& policy);

  const ResourceNode* own() const { return own_; }          // what is in memory of the path itself
  const ResourceNode* nearest() const { return nearest_; }  // or of the nearest one above it
  const Resource* defined() const { return own_ == nullptr ? nullptr : own_->defined.get(); }

  // New claims find no resource here: retired, or undefined under strict_resources.
  bool is_unknown() const { return unknown_; }
  // The earliest begin of a new claim's span; none: any.
  std::optional<Instant> earliest_begin() const { return earliest_begin_; }
  bool is_too_early(const std::optional<Span>& span) const {
    return earliest_begin_ && span && span->from < *earliest_begin_;
  }
  // The span for which room is looked for: what ended before the horizon is in nobody's way.
  std::optional<Span> in_question(const std::optional<Span>& span) const {
    if (span || !earliest_begin_) return span;
    return Span{std::max(*earliest_begin_, kMinInstant), kAllOfTime.until};
  }
  // As defined, else as vouched for, else 1.
  std::int64_t capacity(std::optional<Quantity> vouched) const;
  Duration turnaround() const { return own_ == nullptr ? Duration{0} : own_->turnaround(); }
  // What must lie between a claim here and one on a whole or a part of it: the larger of the two.
  Duration between(const ResourceNode& other) const {
    return std::max(turnaround(), other.turnaround());
  }
  Duration max_ttl() const { return max_ttl_; }
  Duration default_ttl() const { return default_ttl_; }
  std::optional<Duration> max_hold_time() const { return max_hold_time_; }
  std::optional<std::int64_t> extension_limit() const { return extension_limit_; }
  const ResourceNode* closed() const { return closed_; }  // nearest; null: open
  const Windows* hours() const { return hours_; }         // of the nearest that has any

  // The levels, nearest first, until `visit` says false.
  template <class Visit>
  void visit_levels(const Visit& visit) const {
    for (const ResourceNode* n = nearest_; n != nullptr && visit(*n); n = n->parent) {
    }
  }
  // Levels above the path that are the whole of what lies below them.
  template <class Visit>
  void visit_wholes(const Visit& visit) const {
    visit_levels([&](const ResourceNode& level) {
      return &level == own_ || !level.has_parts() || visit(level);
    });
  }

 private:
  void read(const ResourceNode& level);

  const ResourceNode* own_ = nullptr;
  const ResourceNode* nearest_ = nullptr;
  bool unknown_;
  std::optional<Instant> earliest_begin_;
  std::optional<Duration> own_max_ttl_;
  std::optional<Duration> own_default_ttl_;
  Duration max_ttl_;
  Duration default_ttl_;
  std::optional<Duration> max_hold_time_;
  std::optional<std::int64_t> extension_limit_;
  const ResourceNode* closed_ = nullptr;
  const Windows* hours_ = nullptr;
};

// The part of another resource's time that a span would touch, where `between` must lie between the
// two and the other's claims occupy `theirs` beyond their ends already.
constexpr Span reach(const std::optional<Span>& span, Duration between, Duration theirs) {
  return span ? Span{span->from - (between - theirs), span->until + between} : kAllOfTime;
}

// Live claims that a claim with this span on the path would meet, turnaround counted: on the
// resource itself, on the wholes above it and, if it is one, below it. Until `visit` says false.
void visit_met(const PathRules& rules, const std::optional<Span>& span,
               const std::function<bool(const StandingClaim&)>& visit);
// Of these, those on wholes above and on parts below, whose quantity does not matter.
void visit_excluding(const PathRules& rules, const std::optional<Span>& span,
                     const std::function<bool(const StandingClaim&)>& visit);

// Earliest instant of the span at which a whole above or a part below excludes the claim; none:
// nothing does. O(log n) a level.
std::optional<Instant> excluded_at(const PathRules& rules, const std::optional<Span>& span);

}  // namespace holdfast
