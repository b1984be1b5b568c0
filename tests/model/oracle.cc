#include "tests/model/oracle.h"

#include <algorithm>

// Commands on one claim. Those of many and of resources are in oracle_many.cc and
// oracle_resources.cc, what they are made of in oracle_rules.cc.
namespace holdfast::testing {

Outcome Oracle::run(const Command& command, Instant now, std::vector<Key> fresh,
                    std::vector<Key> ended) {
  now_ = now;
  fresh_ = std::move(fresh);
  ended_ = std::move(ended);
  in_transaction_ = false;
  const Facts before = facts_;
  outcome_ = part(command);
  if (outcome_.refusal) facts_ = before;
  return std::move(outcome_);
}

std::vector<Event> Oracle::sweep(Instant now, std::size_t limit) {
  now_ = now;
  std::vector<Event> events;
  while (events.size() < limit) {
    Claim* next = nullptr;
    for (Claim& claim : facts_.claims) {
      if (claim.state != ClaimState::held || live(claim)) continue;
      if (next == nullptr || claim.expires_at < next->expires_at ||
          (claim.expires_at == next->expires_at && claim.key < next->key)) {
        next = &claim;
      }
    }
    if (next == nullptr) break;
    outcome_ = {};
    write_by_itself(*next, Expired{next->expires_at});
    close_transaction();
    events.push_back(outcome_.events.front());
  }
  return events;
}

std::vector<Event> Oracle::disconnect(Instant now) {
  now_ = now;
  std::vector<Key> keys;
  for (const Claim& claim : facts_.claims) {
    if (claim.bound && live(claim) && claim.state == ClaimState::held) keys.push_back(claim.key);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Event> events;
  for (const Key& key : keys) {
    outcome_ = {};
    Claim& claim = *find(key);
    write_by_itself(claim, Released{claim.quantity, {0}});
    outcome_.events.front().personal.reason = Note::trusted("connection closed");
    close_transaction();
    events.push_back(outcome_.events.front());
  }
  return events;
}

void Oracle::judge(const Hold& hold) {
  const Key key = fresh_key(hold.key);
  const Holder holder = hold.holder.value_or(Holder::trusted(command_->asker.actor.str()));
  if (const Claim* before = find(key)) {
    const auto reused = [this](const char* field) {
      refuse({.reason = Reason::key_reused, .field = field});
    };
    const Placement first = before->original.value_or(Placement{before->resource, before->span});
    if (first.resource != hold.resource) return reused("resource");
    if (first.span != hold.span) return reused("span");
    if (before->original_quantity != hold.quantity) return reused("quantity");
    if (before->holder != holder) return reused("holder");
    if (!live(*before)) {
      refuse({.reason = Reason::terminal, .state = seen(*before).state});
      return;
    }
    outcome_.accepted.replayed = true;
    answer(key, hold.capacity);
    return;
  }
  const Wish wish{hold.resource, hold.span, hold.quantity, holder, hold.capacity};
  if (unknown(hold.resource)) {
    refuse({.reason = Reason::unknown_resource});
  } else if (!refuse_term(hold.resource, hold.expiry, now_) && !refuse_wish(wish)) {
    write_lapsed(wish);
    Claim& claim = write_held(wish, key, *term(hold.resource, hold.expiry, now_));
    Event& event = outcome_.events.back();
    claim.cart = event.personal.cart = hold.cart;
    claim.label = event.personal.label = hold.label;
    claim.bound = std::get<Held>(event.happening).bound = hold.bound;
    answer(key, hold.capacity);
  }
}

void Oracle::extend_one(const Key& key, const Extend& extend) {
  Claim* claim = find(key);
  if (refuse_holder(claim, extend.holder) || refuse_not_held(*claim) ||
      refuse_version(*claim, extend.version) ||
      refuse_term(claim->resource, extend.expiry, claim->held_at)) {
    return;
  }
  std::optional<std::int64_t> limit;
  for (const Path& level : upwards(claim->resource)) {
    if (!limit) limit = definition(level).extension_limit;
  }
  if (limit && claim->extensions >= *limit) {
    refuse({.reason = Reason::extension_limit, .allowed = limit});
    return;
  }
  const Term granted = *term(claim->resource, extend.expiry, claim->held_at);
  outcome_.accepted.clamped = granted.clamped;
  // An extension never ends a hold, even one that has lasted longer than a later change allows.
  const bool earlier = extend.shorten && now_ < granted.expires_at;
  const bool moves =
      earlier ? granted.expires_at != claim->expires_at : granted.expires_at > claim->expires_at;
  if (moves) {
    write(*claim, Extended{granted.expires_at, granted.clamped});
    claim->expires_at = granted.expires_at;
    claim->extensions += 1;
  }
  answer(key);
}

void Oracle::release_one(const Key& key, const Release& release) {
  Claim* claim = find(key);
  if (refuse_holder(claim, release.holder)) return;
  if (!live(*claim)) {
    if (in_transaction_) {
      refuse_over(*claim);
    } else {
      answer(key);
    }
    return;
  }
  if (refuse_not_held(*claim) || refuse_version(*claim, release.version) ||
      refuse_part(*claim, release.quantity)) {
    return;
  }
  const std::int64_t gone = release.quantity.value_or(claim->quantity).units;
  const std::int64_t rest = claim->quantity.units - gone;
  write(*claim, Released{{gone}, {rest}});
  if (rest == 0) {
    claim->state = ClaimState::released;
  } else {
    claim->quantity = {rest};
  }
  answer(key);
}

void Oracle::commit_one(const Key& key, const Commit& commit) {
  if (commit.reacquire && find(*commit.reacquire) != nullptr) {
    refuse({.reason = Reason::key_reused, .field = "key"});
    return;
  }
  Claim* claim = find(key);
  const bool ended = claim != nullptr && !live(*claim);
  if (commit.reacquire && ended && unknown(claim->resource)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  const bool again = commit.reacquire && ended && seen(*claim).state == ClaimState::expired;
  if (refuse_holder(claim, commit.holder) || (!again && refuse_not_held(*claim)) ||
      refuse_version(*claim, commit.version) || refuse_part(*claim, commit.quantity)) {
    return;
  }
  if (again) return reacquire(*claim, commit);
  const Quantity booked = commit.quantity.value_or(claim->quantity);
  Event& event = write(*claim, Committed{booked, {claim->quantity.units - booked.units}});
  event.personal.label = commit.label;
  claim->state = ClaimState::committed;
  claim->quantity = booked;
  if (commit.label) claim->label = commit.label;
  answer(key);
}

void Oracle::reacquire(Claim& old, const Commit& commit) {
  const Wish wish{old.resource, old.span, commit.quantity.value_or(old.quantity), old.holder,
                  commit.capacity};
  if (refuse_wish(wish)) return;
  write_lapsed(wish);
  const std::optional<Note> label = old.label;
  Claim& claim = write_held(wish, *commit.reacquire, *term(wish.path, {}, now_));
  claim.label = outcome_.events.back().personal.label = label;
  write(claim, Committed{wish.quantity, {0}}).personal.label = commit.label;
  if (commit.label) claim.label = commit.label;
  claim.state = ClaimState::committed;
  answer(*commit.reacquire, commit.capacity);
}

void Oracle::judge(const Cancel& cancel) {
  Claim* claim = find(cancel.key);
  if (refuse_holder(claim, cancel.holder)) return;
  if (claim->state == ClaimState::cancelled) {
    if (in_transaction_) {
      refuse_over(*claim);
    } else {
      answer(cancel.key);
    }
    return;
  }
  if (claim->state != ClaimState::committed) {
    refuse({.reason = Reason::not_committed, .state = seen(*claim).state});
    return;
  }
  if (refuse_version(*claim, cancel.version) || refuse_part(*claim, cancel.quantity)) return;
  const std::int64_t gone = cancel.quantity.value_or(claim->quantity).units;
  const std::int64_t rest = claim->quantity.units - gone;
  write(*claim, Cancelled{{gone}, {rest}});
  if (rest == 0) {
    claim->state = ClaimState::cancelled;
  } else {
    claim->quantity = {rest};
  }
  answer(cancel.key);
}

void Oracle::judge(const Steal& steal) {
  const Key key = fresh_key(steal.new_key);
  if (find(key) != nullptr) {
    refuse({.reason = Reason::key_reused, .field = "key"});
    return;
  }
  Claim* old = find(steal.key);
  if (old != nullptr && unknown(old->resource)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  if (refuse_holder(old, steal.from_holder)) return;
  const ClaimState state = seen(*old).state;
  if (state == ClaimState::held && !steal.force) {
    refuse({.reason = Reason::not_expired, .expires_at = old->expires_at});
    return;
  }
  if (state != ClaimState::held && state != ClaimState::expired) {
    refuse_not_held(*old);
    return;
  }
  const Holder holder = steal.holder.value_or(Holder::trusted(command_->asker.actor.str()));
  const Wish wish{old->resource, old->span, old->quantity, holder, steal.capacity, steal.key};
  if (refuse_version(*old, steal.version) || refuse_term(old->resource, steal.expiry, now_) ||
      refuse_wish(wish)) {
    return;
  }
  write_lapsed(wish);
  write(*old, Stolen{key});
  old->state = ClaimState::stolen;
  old->stolen_by = key;
  Claim& claim = write_held(wish, key, *term(wish.path, steal.expiry, now_));
  Event& event = outcome_.events.back();
  claim.cart = event.personal.cart = steal.cart;
  claim.label = event.personal.label = steal.label;
  claim.stolen_from = std::get<Held>(event.happening).stolen_from = steal.key;
  answer(key, steal.capacity);
}

void Oracle::judge(const Move& move) {
  Claim* claim = find(move.key);
  const bool leaves = claim != nullptr && move.to && *move.to != claim->resource;
  if (move.to && (leaves || claim == nullptr) && unknown(*move.to)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  if (refuse_holder(claim, move.holder) || refuse_over(*claim) ||
      refuse_version(*claim, move.version)) {
    return;
  }
  // What the caller vouched for is said of the path of the hold alone.
  Wish wish{
      claim->resource, move.span ? move.span : claim->span, claim->quantity, claim->holder, {},
      move.key};
  if (leaves) wish.path = *move.to;
  if (!leaves && !defined(wish.path)) wish.vouched = claim->vouched_capacity;
  if (!leaves && wish.span == claim->span) {
    answer(move.key);
    return;
  }
  if (!leaves && unknown(wish.path)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  if (refuse_wish(wish)) return;
  write_lapsed(wish);
  Moved moved{{}, wish.span, {}};
  const Position before = last_event(wish.path);
  if (wish.path != claim->resource) {
    moved.to = wish.path;
    moved.previous_on_to = before;
    claim->vouched_capacity.reset();
  }
  if (!claim->original) claim->original = Placement{claim->resource, claim->span};
  write(*claim, std::move(moved));
  place(wish.path).last = facts_.head;
  claim->resource = wish.path;
  claim->span = wish.span;
  claim->placed = facts_.head;
  answer(move.key);
}

}  // namespace holdfast::testing
