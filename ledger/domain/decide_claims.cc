#include <algorithm>

#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/draft.h"
#include "ledger/domain/lapsed_in_the_way.h"

namespace holdfast::internal {
namespace {

// A hold whose key exists is the same hold said again, or another under a used key.
Decided repeat(const StandingClaim& claim, const Hold& hold, const Holder& holder) {
  const auto reused = [](const char* field) {
    return refuse(Refusal{.reason = Reason::key_reused, .field = field});
  };
  if (claim.original_resource() != hold.resource) return reused("resource");
  if (claim.original_span() != hold.span) return reused("span");
  if (claim.original_quantity != hold.quantity.units) return reused("quantity");
  if (claim.holder->holder != holder) return reused("holder");
  if (!claim.live()) {
    return refuse(Refusal{.reason = Reason::terminal, .state = claim.shown()});
  }
  Decision decision = answer_with(claim);
  decision.replayed = true;
  decision.vouched_capacity = hold.capacity;
  return decision;
}

// The refusal of a command that needs a live hold; none if it is one.
std::optional<Refusal> not_a_live_hold(const StandingClaim& claim, Instant now) {
  if (claim.live() && claim.state == ClaimState::committed) {
    return Refusal{.reason = Reason::already_committed, .claim = State::snapshot(claim)};
  }
  return not_live(claim, now);
}

// A claim that has ended may be let go again, but for in a transaction: there it would count twice.
Decided ended_already(const Case& on, const StandingClaim& claim) {
  if (on.in_transaction) return refuse(*not_live(claim, on.given.now));
  return answer_with(claim);
}

// Release and cancel: how much of the claim goes; bad_quantity for more than it has.
tl::expected<Quantity, Refusal> part_of(const StandingClaim& claim,
                                        const std::optional<Quantity>& asked) {
  const Quantity part = asked.value_or(Quantity{claim.quantity});
  if (part.units > claim.quantity) return refuse(Reason::bad_quantity);
  return part;
}

// A new claim on a place: the lapsed holds in its way, then `held`. Labels and cart are the
// caller's.
struct NewClaim {
  const PathRules& rules;
  const Path& resource;
  const Key& key;
  const Holder& holder;
  Held held;
};
Event& add_new(Draft& draft, const State& state, NewClaim claim, const StandingClaim* except) {
  record_lapsed(draft, state, claim.rules, claim.held.span, except);
  return draft.add_held(claim.resource, claim.key, claim.holder, std::move(claim.held));
}

}  // namespace

tl::expected<const StandingClaim*, Refusal> named(const Case& on, const Key& key,
                                                  const std::optional<Holder>& holder) {
  const StandingClaim* claim = on.claim(key);
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

std::optional<Refusal> not_live(const StandingClaim& claim, Instant now) {
  if (claim.live()) return std::nullopt;
  if (claim.shown() == ClaimState::expired) {
    return Refusal{.reason = Reason::expired, .expires_at = claim.expires_at, .now = now};
  }
  return Refusal{.reason = Reason::terminal, .state = claim.state};
}

Decided decide(const Case& on, const Hold& hold) {
  const Holder holder = on.holder_or_actor(hold.holder);
  const Key& key = on.key_or_fresh(hold.key);
  if (const StandingClaim* claim = on.state.find(key.view())) {
    return on.sees(*claim) ? repeat(*claim, hold, holder) : refuse(Reason::key_reused);
  }
  const PathRules rules(on.state, hold.resource.view(), on.given.policy);
  if (rules.is_unknown()) return refuse(Reason::unknown_resource);
  const Instant now = on.given.now;
  const auto granted = deadline(rules, hold.expiry, now, now);
  if (!granted) return refuse(granted.error());
  const Placing placing{
      .span = hold.span, .quantity = hold.quantity, .holder = holder, .vouched = hold.capacity};
  if (auto refusal = refused_at(on.state, rules, placing, now)) return refuse(*std::move(refusal));
  Draft draft(on);
  Event& held = add_new(draft, on.state,
                        {rules, hold.resource, key, holder,
                         Held{.span = hold.span,
                              .quantity = hold.quantity,
                              .expires_at = granted->at,
                              .clamped = granted->clamped,
                              .capacity = hold.capacity,
                              .stolen_from = {},
                              .bound = hold.bound}},
                        nullptr);
  held.personal.cart = hold.cart;
  held.personal.label = hold.label;
  Decision decision{.claim = key, .clamped = granted->clamped, .vouched_capacity = hold.capacity};
  draft.move_into(decision);
  return decision;
}

Decided decide(const Case& on, const Extend& extend) {
  const auto found = named(on, std::get<Key>(extend.which), extend.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  const Instant now = on.given.now;
  if (auto refusal = not_a_live_hold(claim, now)) return refuse(*std::move(refusal));
  if (is_stale(claim, extend.version)) return stale(claim);
  const PathRules rules(on.state, claim.resource->path.view(), on.given.policy);
  const auto granted = deadline(rules, extend.expiry, claim.held_at, now);
  if (!granted) return refuse(granted.error());
  if (rules.extension_limit() && claim.extensions >= *rules.extension_limit()) {
    return refuse(Refusal{.reason = Reason::extension_limit, .allowed = rules.extension_limit()});
  }
  const bool no_time_left = granted->at <= now;
  const Instant expires_at =
      extend.shorten && !no_time_left ? granted->at : std::max(claim.expires_at, granted->at);
  Decision decision = answer_with(claim);
  decision.clamped = granted->clamped;
  if (expires_at == claim.expires_at) return decision;
  Draft draft(on);
  draft.add(claim, Extended{.expires_at = expires_at, .clamped = granted->clamped});
  draft.move_into(decision);
  return decision;
}

Decided decide(const Case& on, const Release& release) {
  const auto found = named(on, std::get<Key>(release.which), release.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  if (!claim.live()) return ended_already(on, claim);
  if (auto refusal = not_a_live_hold(claim, on.given.now)) return refuse(*std::move(refusal));
  if (is_stale(claim, release.version)) return stale(claim);
  const auto part = part_of(claim, release.quantity);
  if (!part) return refuse(part.error());
  Draft draft(on);
  draft.add(claim, Released{.quantity = *part, .remaining = {claim.quantity - part->units}});
  Decision decision = answer_with(claim);
  draft.move_into(decision);
  return decision;
}

namespace {

// A hold that has expired is held anew under another key, and committed at once.
Decided reacquire(const Case& on, const Commit& commit, const StandingClaim& old) {
  if (is_stale(old, commit.version)) return stale(old);
  const auto part = part_of(old, commit.quantity);
  if (!part) return refuse(part.error());
  const Path& path = old.resource->path;
  const PathRules rules(on.state, path.view(), on.given.policy);
  const Instant now = on.given.now;
  const auto granted = deadline(rules, {}, now, now);
  if (!granted) return refuse(granted.error());
  const Placing placing{.span = old.own_span(),
                        .quantity = *part,
                        .holder = old.holder->holder,
                        .vouched = commit.capacity};
  if (auto refusal = refused_at(on.state, rules, placing, now)) return refuse(*std::move(refusal));
  const Key& key = *commit.reacquire;
  Draft draft(on);
  Event& held = add_new(draft, on.state,
                        {rules, path, key, old.holder->holder,
                         Held{.span = placing.span,
                              .quantity = *part,
                              .expires_at = granted->at,
                              .clamped = false,
                              .capacity = commit.capacity,
                              .stolen_from = {},
                              .bound = false}},
                        nullptr);
  if (old.extras) held.personal.label = old.extras->label;
  Event& committed =
      draft.add_next(path, key, old.holder->holder, Committed{.quantity = *part, .let_go = {0}});
  committed.personal.label = commit.label;
  Decision decision{.claim = key, .vouched_capacity = commit.capacity};
  draft.move_into(decision);
  return decision;
}

}  // namespace

Decided decide(const Case& on, const Commit& commit) {
  if (commit.reacquire && on.state.find(commit.reacquire->view()) != nullptr) return key_in_use();
  const Key& key = std::get<Key>(commit.which);
  if (commit.reacquire) {
    const StandingClaim* old = on.claim(key);
    if (old != nullptr && !old->live() &&
        PathRules(on.state, old->resource->path.view(), on.given.policy).is_unknown()) {
      return refuse(Reason::unknown_resource);
    }
  }
  const auto found = named(on, key, commit.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  if (commit.reacquire && claim.shown() == ClaimState::expired) return reacquire(on, commit, claim);
  if (auto refusal = not_a_live_hold(claim, on.given.now)) return refuse(*std::move(refusal));
  if (is_stale(claim, commit.version)) return stale(claim);
  const auto part = part_of(claim, commit.quantity);
  if (!part) return refuse(part.error());
  Draft draft(on);
  Event& committed =
      draft.add(claim, Committed{.quantity = *part, .let_go = {claim.quantity - part->units}});
  committed.personal.label = commit.label;
  Decision decision = answer_with(claim);
  draft.move_into(decision);
  return decision;
}

Decided decide(const Case& on, const Cancel& cancel) {
  const auto found = named(on, cancel.key, cancel.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  if (claim.state == ClaimState::cancelled) return ended_already(on, claim);
  if (claim.state != ClaimState::committed) {
    return refuse(Refusal{.reason = Reason::not_committed, .state = claim.shown()});
  }
  if (is_stale(claim, cancel.version)) return stale(claim);
  const auto part = part_of(claim, cancel.quantity);
  if (!part) return refuse(part.error());
  Draft draft(on);
  draft.add(claim, Cancelled{.quantity = *part, .remaining = {claim.quantity - part->units}});
  Decision decision = answer_with(claim);
  draft.move_into(decision);
  return decision;
}

}  // namespace holdfast::internal
