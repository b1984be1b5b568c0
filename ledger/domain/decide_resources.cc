#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/draft.h"

namespace holdfast::internal {
namespace {

Decided one_event(const Case& on, const Path& resource, Happening happening) {
  Draft draft(on);
  draft.add(resource, std::move(happening));
  Decision decision;
  draft.move_into(decision);
  return decision;
}

Decided no_change() { return Decision{}; }

bool is_live_at_or_below(const State& state, const Path& path) {
  return state.live_at_or_below(path.view()) > 0;
}

tl::unexpected<Refusal> in_use(const State& state, const Path& path, bool below) {
  return refuse(
      Refusal{.reason = Reason::in_use, .blockers = blockers_at(state, path.view(), below)});
}

}  // namespace

Decided decide(const Case& on, const Define& define) {
  const Definition& definition = define.definition;
  if (const Resource* defined = on.state.definition(define.resource.view())) {
    if (defined->definition == definition) return no_change();
    return refuse(Reason::already_defined);
  }
  // Claims that stand were admitted with what an undefined path has: none of these.
  if (moves_rooms({}, definition) && is_live_at_or_below(on.state, define.resource)) {
    return in_use(on.state, define.resource, true);
  }
  return one_event(on, define.resource, Defined{definition});
}

namespace {

Definition changed(const Definition& before, const DefinitionChange& change) {
  Definition after = before;
  if (change.capacity) after.capacity = *change.capacity;
  if (change.turnaround) after.turnaround = *change.turnaround;
  if (change.parts) after.parts = *change.parts;
  if (change.max_ttl) after.max_ttl = change.max_ttl;
  if (change.default_ttl) after.default_ttl = change.default_ttl;
  if (change.holder_limit) after.holder_limit = change.holder_limit;
  if (change.extension_limit) after.extension_limit = change.extension_limit;
  if (change.max_hold_time) after.max_hold_time = change.max_hold_time;
  for (const auto& [name, value] : change.attributes) {
    if (value) {
      after.attributes.insert_or_assign(name, *value);
    } else {
      after.attributes.erase(name);
    }
  }
  return after;
}

tl::unexpected<Refusal> above(const char* name, std::size_t max) {
  return refuse(
      Refusal{.reason = Reason::limit, .name = name, .max = static_cast<std::int64_t>(max)});
}

}  // namespace

Decided decide(const Case& on, const Change& change) {
  const Resource* defined = on.state.definition(change.resource.view());
  if (defined == nullptr) return refuse(Reason::unknown_resource);
  const Definition& before = defined->definition;
  const Definition after = changed(before, change.change);
  if (after.attributes.size() > kMaxAttributes) return above("attributes", kMaxAttributes);
  if (after == before) return no_change();
  if (moves_rooms(before, after) && is_live_at_or_below(on.state, change.resource)) {
    return in_use(on.state, change.resource, true);
  }
  return one_event(on, change.resource, Changed{.definition = after, .window = {}});
}

Decided decide(const Case& on, const ChangeWindow& change) {
  const Resource* defined = on.state.definition(change.resource.view());
  if (defined == nullptr) return refuse(Reason::unknown_resource);
  const auto& [kind, add, span] = change.change;
  const Windows& windows = defined->windows(kind);
  if (windows.has(span) == add) return no_change();
  if (add && windows.size() == kMaxWindows) {
    return above(kind == WindowKind::hours ? "hours" : "blocked", kMaxWindows);
  }
  return one_event(on, change.resource,
                   Changed{.definition = defined->definition, .window = change.change});
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
  Draft draft(on);
  node->live.for_each([&](const StandingClaim& claim) {
    draft.add_end(claim);
    return true;
  });
  draft.add(retire.resource, Retired{.forced = retire.force});
  Decision decision;
  draft.move_into(decision);
  return decision;
}

}  // namespace holdfast::internal
