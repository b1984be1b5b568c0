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
    if (own->has_parts()) {
      in_the_way.collect(state.lapsed(), [own](const StandingClaim& hold) {
        return hold.resource != own && at_or_below(hold.resource->path.view(), own->path.view());
      });
    }
  }
  rules.visit_wholes([&](const ResourceNode& whole) {
    in_the_way.collect(whole.lapsed, any);
    return true;
  });
  for (const StandingClaim* hold : in_the_way.in_order()) draft.add_expired(*hold);
}

}  // namespace holdfast
