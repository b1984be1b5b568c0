#include <algorithm>

#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/draft.h"

namespace holdfast::internal {
namespace {

constexpr std::size_t kMaxLapsedRecorded = 64;

Decision answer_with(const StandingClaim& claim) {
  return Decision{.events = {}, .claim = claim.key, .vouched_capacity = {}};
}

// Records the lapsed holds in the way of a claim on the path: oldest due first, then by key.
// `except`: the one that a steal ends in its own way.
void record_lapsed(Draft& draft, const State& state, const Path& path, std::optional<Span> span,
                   const StandingClaim* except) {
  const ResourceNode* node = state.resource(path.view());
  if (node == nullptr) return;
  const Span whole = occupied(span, node->turnaround());
  std::size_t recorded = 0;
  node->lapsed.for_each([&](const StandingClaim& hold) {
    const Span its = hold.span == kAllOfTime ? kAllOfTime : occupied(hold.span, node->turnaround());
    if (&hold != except && meets(its, whole)) {
      draft.add_expired(hold);
      ++recorded;
    }
    return recorded < kMaxLapsedRecorded;
  });
}

// A hold whose key exists is the same hold said again, or another under a used key.
Decided repeat(const StandingClaim& claim, const Hold& hold, const Holder& holder) {
  const auto reused = [](const char* field) {
    return refuse(Refusal{.reason = Reason::key_reused, .field = field});
  };
  if (claim.resource->path != hold.resource) return reused("resource");
  if (claim.span != hold.span.value_or(kAllOfTime)) return reused("span");
  if (claim.original_quantity != hold.quantity.units) return reused("quantity");
  if (claim.holder->holder != holder) return reused("holder");
  if (!claim.live()) {
    return refuse(Refusal{.reason = Reason::terminal,
                          .state = claim.lapsed ? ClaimState::expired : claim.state});
  }
  Decision decision = answer_with(claim);
  decision.replayed = true;
  decision.vouched_capacity = hold.capacity;
  return decision;
}

// The claim a command names, its holder checked.
tl::expected<const StandingClaim*, Refusal> named(const Case& on, const Key& key,
                                                  const std::optional<Holder>& holder) {
  const StandingClaim* claim = on.state.find(key.view());
  if (claim == nullptr) return refuse(Reason::unknown_claim);
  if (holder && claim->holder->holder != *holder) return refuse(Reason::not_holder);
  return claim;
}

bool is_stale(const StandingClaim& claim, const std::optional<Position>& version) {
  return version && *version != claim.version;
}

tl::unexpected<Refusal> stale(const StandingClaim& claim) {
  return refuse(Refusal{.reason = Reason::stale_version, .current = claim.version});
}

// The refusal of a command that needs a live hold; none if it is one.
std::optional<Refusal> not_a_live_hold(const StandingClaim& claim, Instant now) {
  if (claim.live()) {
    if (claim.state == ClaimState::held) return std::nullopt;
    return Refusal{.reason = Reason::already_committed, .claim = State::snapshot(claim)};
  }
  if (claim.lapsed || claim.state == ClaimState::expired) {
    return Refusal{.reason = Reason::expired, .expires_at = claim.expires_at, .now = now};
  }
  return Refusal{.reason = Reason::terminal, .state = claim.state};
}

// Release and cancel: how much of the claim goes; bad_quantity for more than it has.
tl::expected<Quantity, Refusal> part_of(const StandingClaim& claim,
                                        const std::optional<Quantity>& asked) {
  const Quantity part = asked.value_or(Quantity{claim.quantity});
  if (part.units > claim.quantity) return refuse(Reason::bad_quantity);
  return part;
}

}  // namespace

Decided decide(const Case& on, const Hold& hold) {
  const Holder holder = hold.holder.value_or(Holder::trusted(on.command.asker.actor.str()));
  const Key& key = hold.key ? *hold.key : on.given.fresh_key;
  if (const StandingClaim* claim = on.state.find(key.view())) return repeat(*claim, hold, holder);
  if (is_unknown(on.state, hold.resource.view(), on.given.policy)) {
    return refuse(Reason::unknown_resource);
  }
  const auto deadline = admit(on.state,
                              {.resource = hold.resource,
                               .span = hold.span,
                               .quantity = hold.quantity,
                               .expiry = hold.expiry,
                               .vouched = hold.capacity},
                              on.given);
  if (!deadline) return refuse(deadline.error());
  Draft draft(on.state, on.command, on.given);
  record_lapsed(draft, on.state, hold.resource, hold.span, nullptr);
  Event& held = draft.add_held(hold.resource, key, holder,
                               Held{.span = hold.span,
                                    .quantity = hold.quantity,
                                    .expires_at = deadline->at,
                                    .clamped = deadline->clamped,
                                    .capacity = hold.capacity,
                                    .stolen_from = {}});
  held.personal.cart = hold.cart;
  held.personal.label = hold.label;
  return Decision{.events = draft.take(),
                  .claim = key,
                  .clamped = deadline->clamped,
                  .vouched_capacity = hold.capacity};
}

Decided decide(const Case& on, const Extend& extend) {
  const auto found = named(on, extend.key, extend.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  if (auto refusal = not_a_live_hold(claim, on.given.now)) return refuse(*std::move(refusal));
  if (is_stale(claim, extend.version)) return stale(claim);
  const auto granted =
      deadline(on.state, claim.resource->path.view(), extend.expiry, on.given.now, on.given.policy);
  if (!granted) return refuse(granted.error());
  const Instant expires_at = extend.shorten ? granted->at : std::max(claim.expires_at, granted->at);
  Decision decision = answer_with(claim);
  decision.clamped = granted->clamped;
  if (expires_at == claim.expires_at) return decision;
  Draft draft(on.state, on.command, on.given);
  draft.add(claim, Extended{.expires_at = expires_at, .clamped = granted->clamped});
  decision.events = draft.take();
  return decision;
}

Decided decide(const Case& on, const Release& release) {
  const auto found = named(on, release.key, release.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  if (!claim.live()) return answer_with(claim);
  if (claim.state == ClaimState::committed) {
    return refuse(Refusal{.reason = Reason::already_committed, .claim = State::snapshot(claim)});
  }
  if (is_stale(claim, release.version)) return stale(claim);
  const auto part = part_of(claim, release.quantity);
  if (!part) return refuse(part.error());
  Draft draft(on.state, on.command, on.given);
  draft.add(claim, Released{.quantity = *part, .remaining = {claim.quantity - part->units}});
  Decision decision = answer_with(claim);
  decision.events = draft.take();
  return decision;
}

Decided decide(const Case& on, const Commit& commit) {
  const auto found = named(on, commit.key, commit.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  if (auto refusal = not_a_live_hold(claim, on.given.now)) return refuse(*std::move(refusal));
  if (is_stale(claim, commit.version)) return stale(claim);
  const auto part = part_of(claim, commit.quantity);
  if (!part) return refuse(part.error());
  Draft draft(on.state, on.command, on.given);
  Event& committed =
      draft.add(claim, Committed{.quantity = *part, .let_go = {claim.quantity - part->units}});
  committed.personal.label = commit.label;
  Decision decision = answer_with(claim);
  decision.events = draft.take();
  return decision;
}

Decided decide(const Case& on, const Cancel& cancel) {
  const auto found = named(on, cancel.key, cancel.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  if (claim.state == ClaimState::cancelled) return answer_with(claim);
  if (claim.state != ClaimState::committed) {
    return refuse(Refusal{.reason = Reason::not_committed,
                          .state = claim.lapsed ? ClaimState::expired : claim.state});
  }
  if (is_stale(claim, cancel.version)) return stale(claim);
  const auto part = part_of(claim, cancel.quantity);
  if (!part) return refuse(part.error());
  Draft draft(on.state, on.command, on.given);
  draft.add(claim, Cancelled{.quantity = *part, .remaining = {claim.quantity - part->units}});
  Decision decision = answer_with(claim);
  decision.events = draft.take();
  return decision;
}

Decided decide(const Case& on, const Steal& steal) {
  const Key& key = steal.new_key ? *steal.new_key : on.given.fresh_key;
  if (on.state.find(key.view()) != nullptr) {
    return refuse(Refusal{.reason = Reason::key_reused, .field = "key"});
  }
  const StandingClaim* old = on.state.find(steal.key.view());
  if (old != nullptr && is_unknown(on.state, old->resource->path.view(), on.given.policy)) {
    return refuse(Reason::unknown_resource);
  }
  const auto found = named(on, steal.key, steal.from_holder);
  if (!found) return refuse(found.error());
  if (old->live()) {
    if (old->state == ClaimState::committed) {
      return refuse(Refusal{.reason = Reason::already_committed, .claim = State::snapshot(*old)});
    }
    return refuse(Refusal{.reason = Reason::not_expired, .expires_at = old->expires_at});
  }
  if (!old->lapsed && old->state != ClaimState::expired) {
    return refuse(Refusal{.reason = Reason::terminal, .state = old->state});
  }
  if (is_stale(*old, steal.version)) return stale(*old);
  const Path& path = old->resource->path;
  const auto span = old->span == kAllOfTime ? std::nullopt : std::optional(old->span);
  const Quantity quantity{old->quantity};
  const auto deadline = admit(on.state,
                              {.resource = path,
                               .span = span,
                               .quantity = quantity,
                               .expiry = steal.expiry,
                               .vouched = steal.capacity},
                              on.given);
  if (!deadline) return refuse(deadline.error());
  Draft draft(on.state, on.command, on.given);
  record_lapsed(draft, on.state, path, span, old);
  draft.add(*old, Stolen{.by = key});
  Event& held = draft.add_held(path, key,
                               steal.holder.value_or(Holder::trusted(on.command.asker.actor.str())),
                               Held{.span = span,
                                    .quantity = quantity,
                                    .expires_at = deadline->at,
                                    .clamped = deadline->clamped,
                                    .capacity = steal.capacity,
                                    .stolen_from = old->key});
  held.personal.cart = steal.cart;
  held.personal.label = steal.label;
  return Decision{.events = draft.take(),
                  .claim = key,
                  .clamped = deadline->clamped,
                  .vouched_capacity = steal.capacity};
}

}  // namespace holdfast::internal
