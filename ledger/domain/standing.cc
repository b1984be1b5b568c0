#include "ledger/domain/standing.h"

#include <algorithm>
#include <vector>

namespace holdfast {
namespace {

// Visits live claims with from < `before` and until > `after`, in order of (from, key).
template <class Visit>
bool visit_overlapping(const StandingClaim* top, Instant after, Instant before,
                       const Visit& visit) {
  if (top == nullptr || top->latest_until <= after) return true;
  if (!visit_overlapping(top->by_span.left, after, before, visit)) return false;
  if (top->span.from >= before) return true;
  if (top->span.until > after && !visit(*top)) return false;
  return visit_overlapping(top->by_span.right, after, before, visit);
}

// Takes claims out of the occupancy one by one and puts them back at its end.
class Without {
 public:
  explicit Without(ResourceNode& resource) : resource_(resource) {}
  ~Without() {
    for (const auto& [span, units] : taken_) resource_.occupancy.add(span, units);
  }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

  void take_out(const StandingClaim& claim) {
    taken_.emplace_back(occupied_by(claim), claim.quantity);
    resource_.occupancy.remove(taken_.back().first, taken_.back().second);
  }

 private:
  ResourceNode& resource_;
  std::vector<std::pair<Span, std::int64_t>> taken_;
};

}  // namespace

const Path& StandingClaim::original_resource() const {
  return extras && extras->original ? extras->original->resource : resource->path;
}

bool visit_meeting(const ResourceNode& resource, Span span,
                   const std::function<bool(const StandingClaim&)>& visit) {
  // A claim occupies until its end plus turnaround: compare its end with the span moved back.
  return visit_overlapping(resource.live.root(), span.from - resource.turnaround(), span.until,
                           visit);
}

std::vector<const StandingClaim*> covering(const ResourceNode& resource, Instant at,
                                           std::size_t limit) {
  std::vector<const StandingClaim*> found;
  visit_meeting(resource, Span{at, at + Duration{1}}, [&](const StandingClaim& claim) {
    found.push_back(&claim);
    return found.size() < limit;
  });
  return found;
}

std::optional<Instant> earliest_room(ResourceNode& resource, Span span, std::int64_t allowed) {
  // Few claims in the way: those alone, in due order. Many: the resource's holds in due order,
  // where as a rule the first few are enough.
  constexpr std::size_t kFew = 1'024;
  std::vector<const StandingClaim*> holds;
  visit_meeting(resource, span, [&](const StandingClaim& claim) {
    holds.push_back(&claim);
    return holds.size() <= kFew;
  });
  const bool few = holds.size() <= kFew;
  Without without(resource);
  std::optional<Instant> room;
  const auto lapse = [&](const StandingClaim& hold) {
    if (!meets(occupied_by(hold), span)) return true;
    without.take_out(hold);
    if (resource.occupancy.peak(span).units > allowed) return true;
    room = hold.expires_at;
    return false;
  };
  if (!few) {
    resource.due.for_each(lapse);
    return room;
  }
  std::erase_if(holds, [](const StandingClaim* c) { return c->state != ClaimState::held; });
  std::sort(holds.begin(), holds.end(), [](const StandingClaim* a, const StandingClaim* b) {
    return DueOrder::before(*a, *b);
  });
  for (const StandingClaim* hold : holds) {
    if (!lapse(*hold)) break;
  }
  return room;
}

}  // namespace holdfast
