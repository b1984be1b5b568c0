#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/draft.h"

namespace holdfast::internal {
namespace {

Decided one_event(const Case& on, const Path& resource, Happening happening) {
  Draft draft(on.state, on.command, on.given);
  draft.add(resource, std::move(happening));
  return Decision{.events = draft.take(), .claim = {}, .vouched_capacity = {}};
}

Decided no_change() { return Decision{.events = {}, .claim = {}, .vouched_capacity = {}}; }

bool is_live_at_or_below(const State& state, const Path& path) {
  const ResourceNode* node = state.resource(path.view());
  return node != nullptr && node->live_at_or_below > 0;
}

tl::unexpected<Refusal> in_use(const State& state, const Path& path, bool below) {
  return refuse(
      Refusal{.reason = Reason::in_use, .blockers = blockers_at(state, path.view(), below)});
}

}  // namespace

Decided decide(const Case& on, const Define& define) {
  if (const Resource* defined = on.state.definition(define.resource.view())) {
    if (defined->definition == define.definition) return no_change();
    return refuse(Reason::already_defined);
  }
  // Claims that stand were admitted with the turnaround of an undefined path: none.
  if (define.definition.turnaround > Duration{0} &&
      is_live_at_or_below(on.state, define.resource)) {
    return in_use(on.state, define.resource, true);
  }
  return one_event(on, define.resource, Defined{define.definition});
}

Decided decide(const Case& on, const Change& change) {
  const Resource* defined = on.state.definition(change.resource.view());
  if (defined == nullptr) return refuse(Reason::unknown_resource);
  Definition after = defined->definition;
  if (change.change.capacity) after.capacity = *change.change.capacity;
  if (change.change.turnaround) after.turnaround = *change.change.turnaround;
  if (change.change.max_ttl) after.max_ttl = change.change.max_ttl;
  if (change.change.default_ttl) after.default_ttl = change.change.default_ttl;
  if (after == defined->definition) return no_change();
  if (after.turnaround != defined->definition.turnaround &&
      is_live_at_or_below(on.state, change.resource)) {
    return in_use(on.state, change.resource, true);
  }
  return one_event(on, change.resource, Changed{after});
}

Decided decide(const Case& on, const Close& close) {
  const Resource* defined = on.state.definition(close.resource.view());
  if (defined == nullptr) return refuse(Reason::unknown_resource);
  if (defined->closed) return no_change();
  return one_event(on, close.resource, Closed{});
}

Decided decide(const Case& on, const Open& open) {
  const Resource* defined = on.state.definition(open.resource.view());
  if (defined == nullptr) return refuse(Reason::unknown_resource);
  if (!defined->closed) return no_change();
  return one_event(on, open.resource, Opened{});
}

Decided decide(const Case& on, const Retire& retire) {
  const ResourceNode* node = on.state.resource(retire.resource.view());
  if (node == nullptr || !node->defined) return refuse(Reason::unknown_resource);
  if (!retire.force && !node->live.empty()) return in_use(on.state, retire.resource, false);
  Draft draft(on.state, on.command, on.given);
  node->live.for_each([&](const StandingClaim& claim) {
    if (claim.state == ClaimState::held) {
      draft.add(claim, Released{.quantity = {claim.quantity}, .remaining = {0}});
    } else {
      draft.add(claim, Cancelled{.quantity = {claim.quantity}, .remaining = {0}});
    }
    return true;
  });
  draft.add(retire.resource, Retired{.forced = retire.force});
  return Decision{.events = draft.take(), .claim = {}, .vouched_capacity = {}};
}

}  // namespace holdfast::internal
