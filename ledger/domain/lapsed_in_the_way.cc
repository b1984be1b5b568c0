#include "ledger/domain/lapsed_in_the_way.h"

#include <algorithm>
#include <vector>

namespace holdfast {
namespace {

class InTheWay {
 public:
  InTheWay(const PathRules& rules, const std::optional<Span>& span, const StandingClaim* except)
      : rules_(rules), span_(span), except_(except) {}

  // From an index in due order.
  template <class Index, class Where>
  void collect(const Index& lapsed, const Where& where) {
    std::size_t taken = 0;
    lapsed.for_each([&](const StandingClaim& hold) {
      if (&hold != except_ && where(hold) && is_met(hold)) {
        found_.push_back(&hold);
        ++taken;
      }
      return taken < kMaxLapsedRecorded;
    });
  }

  // Below a whole, by way of its parts or of all that has lapsed, whichever are fewer.
  void collect_below(const State& state, const ResourceNode& whole) {
    const std::size_t before = found_.size();
    std::size_t visited = 0;
    visit_nodes(whole, [&](const ResourceNode& node) {
      if (++visited > state.lapsed_claims()) return false;
      if (&node != &whole) collect(node.lapsed, [](const StandingClaim&) { return true; });
      return true;
    });
    if (visited <= state.lapsed_claims()) return;
    found_.resize(before);
    collect(state.lapsed(), [&](const StandingClaim& hold) {
      return hold.resource != &whole && at_or_below(hold.resource->path.view(), whole.path.view());
    });
  }

  const std::vector<const StandingClaim*>& in_order() {
    std::sort(found_.begin(), found_.end(), [](const StandingClaim* a, const StandingClaim* b) {
      return DueOrder::before(*a, *b);
    });
    if (found_.size() > kMaxLapsedRecorded) found_.resize(kMaxLapsedRecorded);
    return found_;
  }

 private:
  bool is_met(const StandingClaim& hold) const {
    const ResourceNode& its = *hold.resource;
    return meets(occupied_by(hold), reach(span_, rules_.between(its), its.turnaround()));
  }

  const PathRules& rules_;
  const std::optional<Span>& span_;
  const StandingClaim* except_;
  std::vector<const StandingClaim*> found_;
};

}  // namespace

void record_lapsed(Draft& draft, const State& state, const PathRules& rules,
                   const std::optional<Span>& span, const StandingClaim* except) {
  if (state.lapsed_claims() == 0) return;
  InTheWay in_the_way(rules, span, except);
  const auto any = [](const StandingClaim&) { return true; };
  if (const ResourceNode* own = rules.own()) {
    in_the_way.collect(own->lapsed, any);
    if (own->has_parts()) in_the_way.collect_below(state, *own);
  }
  rules.visit_wholes([&](const ResourceNode& whole) {
    in_the_way.collect(whole.lapsed, any);
    return true;
  });
  for (const StandingClaim* hold : in_the_way.in_order()) draft.add_expired(*hold);
}

}  // namespace holdfast
