// Claims that change hands or place: steal and move.
#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/draft.h"
#include "ledger/domain/lapsed_in_the_way.h"
#include "ledger/domain/undo.h"

namespace holdfast::internal {
namespace {

// Why the named hold cannot be taken over; none: it can.
std::optional<Refusal> not_for_stealing(const StandingClaim& old, bool force) {
  if (old.live() && old.state == ClaimState::committed) {
    return Refusal{.reason = Reason::already_committed, .claim = State::snapshot(old)};
  }
  if (old.live() && !force) {
    return Refusal{.reason = Reason::not_expired, .expires_at = old.expires_at};
  }
  if (!old.live() && old.shown() != ClaimState::expired) {
    return Refusal{.reason = Reason::terminal, .state = old.state};
  }
  return std::nullopt;
}

}  // namespace

Decided decide(const Case& on, const Steal& steal) {
  const Key& key = on.key_or_fresh(steal.new_key);
  if (on.state.find(key.view()) != nullptr) return key_in_use();
  const StandingClaim* old = on.claim(steal.key);
  if (old == nullptr) return refuse(Reason::unknown_claim);
  const Path& path = old->resource->path;
  const PathRules rules(on.state, path.view(), on.given.policy);
  if (rules.is_unknown()) return refuse(Reason::unknown_resource);
  if (const auto found = named(on, steal.key, steal.from_holder); !found) {
    return refuse(found.error());
  }
  if (auto refusal = not_for_stealing(*old, steal.force)) return refuse(*std::move(refusal));
  if (is_stale(*old, steal.version)) return stale(*old);
  const Instant now = on.given.now;
  const auto granted = deadline(rules, steal.expiry, now, now);
  if (!granted) return refuse(granted.error());
  const Holder holder = on.holder_or_actor(steal.holder);
  const Placing placing{.span = old->own_span(),
                        .quantity = {old->quantity},
                        .holder = holder,
                        .vouched = steal.capacity};
  {
    const Lifted lifted(on.state, *old);
    if (auto refusal = refused_at(on.state, rules, placing, now)) {
      return refuse(*std::move(refusal));
    }
  }
  Draft draft(on);
  record_lapsed(draft, on.state, rules, placing.span, old);
  draft.add(*old, Stolen{.by = key});
  Event& held = draft.add_held(path, key, holder,
                               Held{.span = placing.span,
                                    .quantity = placing.quantity,
                                    .expires_at = granted->at,
                                    .clamped = granted->clamped,
                                    .capacity = steal.capacity,
                                    .stolen_from = old->key,
                                    .bound = false});
  held.personal.cart = steal.cart;
  held.personal.label = steal.label;
  Decision decision{.claim = key, .clamped = granted->clamped, .vouched_capacity = steal.capacity};
  draft.move_into(decision);
  return decision;
}

Decided decide(const Case& on, const Move& move) {
  const StandingClaim* standing = on.claim(move.key);
  const Path* to = move.to ? &*move.to : standing != nullptr ? &standing->resource->path : nullptr;
  if (to == nullptr) return refuse(Reason::unknown_claim);
  const PathRules rules(on.state, to->view(), on.given.policy);
  const bool stays = standing != nullptr && *to == standing->resource->path;
  if (!stays && rules.is_unknown()) return refuse(Reason::unknown_resource);
  const auto found = named(on, move.key, move.holder);
  if (!found) return refuse(found.error());
  const StandingClaim& claim = **found;
  const Instant now = on.given.now;
  if (auto refusal = not_live(claim, now)) return refuse(*std::move(refusal));
  if (is_stale(claim, move.version)) return stale(claim);
  const auto span = move.span ? move.span : claim.own_span();
  Decision decision = answer_with(claim);
  if (stays && span == claim.own_span()) return decision;
  if (rules.is_unknown()) return refuse(Reason::unknown_resource);
  // On a path that nobody defined, the number its hold vouched for goes on counting there.
  const auto vouched = stays && claim.extras && rules.defined() == nullptr
                           ? claim.extras->vouched_capacity
                           : std::nullopt;
  const Placing placing{.span = span,
                        .quantity = {claim.quantity},
                        .holder = claim.holder->holder,
                        .vouched = vouched};
  {
    const Lifted lifted(on.state, claim);
    if (auto refusal = refused_at(on.state, rules, placing, now)) {
      return refuse(*std::move(refusal));
    }
  }
  Draft draft(on);
  record_lapsed(draft, on.state, rules, span, nullptr);
  draft.add_moved(
      claim,
      Moved{.to = stays ? std::nullopt : std::optional(*to), .span = span, .previous_on_to = {}});
  draft.move_into(decision);
  return decision;
}

}  // namespace holdfast::internal
