#include "tests/model/oracle.h"

#include <algorithm>

// The commands. What they are made of is in oracle_rules.cc.
namespace holdfast::testing {

Outcome Oracle::run(const Command& command, Instant now, const Key& fresh_key) {
  command_ = &command;
  fresh_key_ = fresh_key;
  now_ = now;
  outcome_ = {};
  std::visit([this](const auto& action) { judge(action); }, command.action);
  close_transaction();
  return std::move(outcome_);
}

std::vector<Event> Oracle::sweep(Instant now, std::size_t limit) {
  now_ = now;
  std::vector<Event> events;
  while (events.size() < limit) {
    Claim* next = nullptr;
    for (Claim& claim : claims_) {
      if (claim.state != ClaimState::held || live(claim)) continue;
      if (next == nullptr || claim.expires_at < next->expires_at ||
          (claim.expires_at == next->expires_at && claim.key < next->key)) {
        next = &claim;
      }
    }
    if (next == nullptr) break;
    outcome_ = {};
    write_expired(*next);
    close_transaction();
    events.push_back(outcome_.events.front());
  }
  return events;
}

void Oracle::judge(const Define& define) {
  if (defined(define.resource)) {
    if (definition(define.resource) != define.definition) {
      refuse({.reason = Reason::already_defined});
    }
    return;
  }
  if (define.definition.turnaround.ms != 0 && refuse_in_use(define.resource, true)) return;
  write(define.resource, Defined{define.definition});
  Place& here = place(define.resource);
  here.definition = define.definition;
  here.closed = false;
  here.retired = false;
}

void Oracle::judge(const Change& change) {
  if (!defined(change.resource)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  const Definition before = definition(change.resource);
  Definition after = before;
  if (change.change.capacity) after.capacity = *change.change.capacity;
  if (change.change.turnaround) after.turnaround = *change.change.turnaround;
  if (change.change.max_ttl) after.max_ttl = *change.change.max_ttl;
  if (change.change.default_ttl) after.default_ttl = *change.change.default_ttl;
  if (after == before) return;
  if (after.turnaround != before.turnaround && refuse_in_use(change.resource, true)) return;
  write(change.resource, Changed{after});
  place(change.resource).definition = after;
}

void Oracle::judge(const Close& close) {
  if (!defined(close.resource)) {
    refuse({.reason = Reason::unknown_resource});
  } else if (!place(close.resource).closed) {
    write(close.resource, Closed{});
    place(close.resource).closed = true;
  }
}

void Oracle::judge(const Open& open) {
  if (!defined(open.resource)) {
    refuse({.reason = Reason::unknown_resource});
  } else if (place(open.resource).closed) {
    write(open.resource, Opened{});
    place(open.resource).closed = false;
  }
}

void Oracle::judge(const Retire& retire) {
  if (!defined(retire.resource)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  if (!retire.force && refuse_in_use(retire.resource, false)) return;
  std::vector<Key> standing;
  for (const Claim& claim : claims_) {
    if (live(claim) && claim.resource == retire.resource) standing.push_back(claim.key);
  }
  std::sort(standing.begin(), standing.end(), [this](const Key& a, const Key& b) {
    const Instant from_a = find(a)->span ? find(a)->span->from : Instant{-1};
    const Instant from_b = find(b)->span ? find(b)->span->from : Instant{-1};
    return from_a != from_b ? from_a < from_b : a < b;
  });
  for (const Key& key : standing) {
    Claim& claim = *find(key);
    if (claim.state == ClaimState::held) {
      write(claim, Released{claim.quantity, {0}});
      claim.state = ClaimState::released;
    } else {
      write(claim, Cancelled{claim.quantity, {0}});
      claim.state = ClaimState::cancelled;
    }
  }
  write(retire.resource, Retired{retire.force});
  Place& here = place(retire.resource);
  here.definition.reset();
  here.retired = true;
}

void Oracle::judge(const Hold& hold) {
  const Key key = hold.key.value_or(*fresh_key_);
  const Holder holder = hold.holder.value_or(Holder::trusted(command_->asker.actor.str()));
  if (const Claim* before = find(key)) {
    const auto reused = [this](const char* field) {
      refuse({.reason = Reason::key_reused, .field = field});
    };
    if (before->resource != hold.resource) return reused("resource");
    if (before->span != hold.span) return reused("span");
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
  const Wish wish{hold.resource, hold.span, hold.quantity, hold.expiry, hold.capacity};
  if (unknown(hold.resource)) {
    refuse({.reason = Reason::unknown_resource});
  } else if (!refuse_wish(wish)) {
    write_lapsed(wish, nullptr);
    write_held(wish, key, holder, hold.cart, hold.label, {});
    answer(key, hold.capacity);
  }
}

void Oracle::judge(const Extend& extend) {
  Claim* claim = find(extend.key);
  if (refuse_holder(claim, extend.holder) || refuse_not_held(*claim) ||
      refuse_version(*claim, extend.version)) {
    return;
  }
  const auto granted = term(claim->resource, extend.expiry);
  if (!granted) {
    refuse({.reason = Reason::bad_ttl});
    return;
  }
  outcome_.accepted.clamped = granted->clamped;
  const bool moves = extend.shorten ? granted->expires_at != claim->expires_at
                                    : granted->expires_at > claim->expires_at;
  if (moves) {
    write(*claim, Extended{granted->expires_at, granted->clamped});
    claim->expires_at = granted->expires_at;
  }
  answer(extend.key);
}

void Oracle::judge(const Release& release) {
  Claim* claim = find(release.key);
  if (refuse_holder(claim, release.holder)) return;
  if (!live(*claim)) {
    answer(release.key);
    return;
  }
  if (claim->state == ClaimState::committed) {
    refuse({.reason = Reason::already_committed, .claim = *claim});
    return;
  }
  if (refuse_version(*claim, release.version) || refuse_part(*claim, release.quantity)) return;
  const std::int64_t part = release.quantity.value_or(claim->quantity).units;
  const std::int64_t rest = claim->quantity.units - part;
  write(*claim, Released{{part}, {rest}});
  if (rest == 0) {
    claim->state = ClaimState::released;
  } else {
    claim->quantity = {rest};
  }
  answer(release.key);
}

void Oracle::judge(const Commit& commit) {
  Claim* claim = find(commit.key);
  if (refuse_holder(claim, commit.holder) || refuse_not_held(*claim) ||
      refuse_version(*claim, commit.version) || refuse_part(*claim, commit.quantity)) {
    return;
  }
  const Quantity part = commit.quantity.value_or(claim->quantity);
  Event& event = write(*claim, Committed{part, {claim->quantity.units - part.units}});
  event.personal.label = commit.label;
  claim->state = ClaimState::committed;
  claim->quantity = part;
  if (commit.label) claim->label = commit.label;
  answer(commit.key);
}

void Oracle::judge(const Cancel& cancel) {
  Claim* claim = find(cancel.key);
  if (refuse_holder(claim, cancel.holder)) return;
  if (claim->state == ClaimState::cancelled) {
    answer(cancel.key);
    return;
  }
  if (claim->state != ClaimState::committed) {
    refuse({.reason = Reason::not_committed, .state = seen(*claim).state});
    return;
  }
  if (refuse_version(*claim, cancel.version) || refuse_part(*claim, cancel.quantity)) return;
  const std::int64_t part = cancel.quantity.value_or(claim->quantity).units;
  const std::int64_t rest = claim->quantity.units - part;
  write(*claim, Cancelled{{part}, {rest}});
  if (rest == 0) {
    claim->state = ClaimState::cancelled;
  } else {
    claim->quantity = {rest};
  }
  answer(cancel.key);
}

void Oracle::judge(const Steal& steal) {
  const Key key = steal.new_key.value_or(*fresh_key_);
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
  if (state == ClaimState::committed) {
    refuse({.reason = Reason::already_committed, .claim = *old});
    return;
  }
  if (state == ClaimState::held) {
    refuse({.reason = Reason::not_expired, .expires_at = old->expires_at});
    return;
  }
  if (state != ClaimState::expired) {
    refuse({.reason = Reason::terminal, .state = state});
    return;
  }
  const Wish wish{old->resource, old->span, old->quantity, steal.expiry, steal.capacity};
  if (refuse_version(*old, steal.version) || refuse_wish(wish)) return;
  write_lapsed(wish, old);
  write(*old, Stolen{key});
  old->state = ClaimState::stolen;
  old->stolen_by = key;
  write_held(wish, key, steal.holder.value_or(Holder::trusted(command_->asker.actor.str())),
             steal.cart, steal.label, steal.key);
  answer(key, steal.capacity);
}

}  // namespace holdfast::testing
