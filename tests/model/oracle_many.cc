#include <algorithm>

#include "tests/model/oracle.h"

// Commands of many parts: each part is judged on its own, and the whole is refused with it.
namespace holdfast::testing {

Outcome Oracle::part(const Command& command) {
  const Command* whole = std::exchange(command_, &command);
  Outcome outcome =
      alone([&] { std::visit([this](const auto& action) { judge(action); }, command.action); });
  command_ = whole;
  return outcome;
}

template <class Single>
Outcome Oracle::alone(const Single& single) {
  Outcome whole = std::exchange(outcome_, {});
  single();
  close_transaction();
  return std::exchange(outcome_, std::move(whole));
}

bool Oracle::take(Outcome part) {
  if (part.refusal) {
    outcome_ = {};
    return !refuse(std::move(*part.refusal));
  }
  outcome_.events.insert(outcome_.events.end(), part.events.begin(), part.events.end());
  outcome_.accepted.parts.push_back(std::move(part.accepted));
  return true;
}

template <class Each>
void Oracle::for_cart(const Cart& cart, const Each& each) {
  std::vector<Key> keys;
  for (const Claim& claim : facts_.claims) {
    const bool in_it = claim.cart && *claim.cart == cart;
    if (in_it && claim.state == ClaimState::held && live(claim)) keys.push_back(claim.key);
  }
  std::sort(keys.begin(), keys.end());
  if (keys.empty()) refuse({.reason = Reason::unknown_claim});
  for (const Key& key : keys) {
    if (!take(alone([&] { each(key); }))) return;
  }
}

void Oracle::judge(const Extend& extend) {
  const auto one = [&](const Key& key) { extend_one(key, extend); };
  if (const auto* cart = std::get_if<Cart>(&extend.which)) return for_cart(*cart, one);
  one(std::get<Key>(extend.which));
}

void Oracle::judge(const Release& release) {
  const auto one = [&](const Key& key) { release_one(key, release); };
  if (const auto* cart = std::get_if<Cart>(&release.which)) return for_cart(*cart, one);
  one(std::get<Key>(release.which));
}

void Oracle::judge(const Commit& commit) {
  const auto one = [&](const Key& key) { commit_one(key, commit); };
  if (const auto* cart = std::get_if<Cart>(&commit.which)) return for_cart(*cart, one);
  one(std::get<Key>(commit.which));
}

namespace {

Key numbered(const Key& prefix, std::int64_t number) {
  return Key::trusted(prefix.str() + "/" + std::to_string(number));
}

Hold one_of(const HoldAny& any, const Path& resource, const Key& key) {
  return {resource, key,       any.span,   any.quantity, any.holder,
          any.cart, any.label, any.expiry, {},           any.bound};
}

}  // namespace

// The same said again: every hold of the first time, and no more.
void Oracle::repeat(const HoldAny& any, const Key& prefix) {
  for (std::int64_t i = 1; i <= any.count + 1; ++i) {
    if ((find(numbered(prefix, i)) != nullptr) == (i <= any.count)) continue;
    refuse({.reason = Reason::key_reused, .field = "n"});
    return;
  }
  for (std::int64_t i = 1; i <= any.count; ++i) {
    const Claim& claim = *find(numbered(prefix, i));
    const Path resource = claim.original ? claim.original->resource : claim.resource;
    if (resource.str().rfind(any.below.str() + "/", 0) != 0) {
      outcome_ = {};
      refuse({.reason = Reason::key_reused, .field = "resource"});
      return;
    }
    const Hold hold = one_of(any, resource, claim.key);
    if (!take(alone([&] { judge(hold); }))) return;
  }
  outcome_.accepted.replayed = true;
}

void Oracle::judge(const HoldAny& any) {
  const Key prefix = fresh_key(any.key);
  for (std::int64_t i = 1; i <= any.count + 1; ++i) {
    if (find(numbered(prefix, i)) != nullptr) return repeat(any, prefix);
  }
  std::vector<Path> below;
  for (const Place& place : facts_.places) {
    const bool under = place.path.str().rfind(any.below.str() + "/", 0) == 0;
    if (under && place.definition) below.push_back(place.path);
  }
  std::sort(below.begin(), below.end());
  std::int64_t found = 0;
  for (const Path& path : below) {
    if (found == any.count) break;
    const Hold hold = one_of(any, path, numbered(prefix, found + 1));
    Outcome one = alone([&] { judge(hold); });
    if (one.refusal) continue;
    take(std::move(one));
    ++found;
  }
  if (found == any.count) return;
  outcome_ = {};
  refuse({.reason = Reason::conflict, .available = found});
}

void Oracle::judge(const EndAll& end) {
  const Position begun = end.begun.value_or(facts_.head);
  std::vector<Key> standing;
  for (const Claim& claim : facts_.claims) {
    const bool below =
        claim.resource == end.below || claim.resource.str().rfind(end.below.str() + "/", 0) == 0;
    if (!below || !live(claim) || claim.placed > begun) continue;
    if (!end.after || *end.after < claim.key) standing.push_back(claim.key);
  }
  std::sort(standing.begin(), standing.end());
  const bool more = standing.size() > end.limit;
  std::vector<Key> now(standing.begin(), standing.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                standing.size(), end.limit)));
  if (more && !end.dry_run) {
    const bool possible =
        std::includes(standing.begin(), standing.end(), ended_.begin(), ended_.end());
    if (possible && ended_.size() == end.limit) now = ended_;
  }
  if (more) outcome_.accepted.begun = begun;
  if (more && end.dry_run) outcome_.accepted.after = now.back();
  for (const Key& key : now) {
    if (end.dry_run) {
      outcome_.accepted.parts.push_back(Accepted{.claim = *find(key)});
      continue;
    }
    take(alone([&] {
      end_one(key);
      answer(key);
    }));
  }
}

void Oracle::judge(const Transact& transact) {
  std::vector<Refusal> refused;
  Outcome all;
  const bool inside = std::exchange(in_transaction_, true);
  std::uint32_t number = 0;
  for (const Step& step : transact.steps) {
    ++number;
    const Facts before = facts_;
    Outcome one = step.command ? part(*step.command) : Outcome{step.command.error(), {}, {}};
    if (one.refusal) {
      facts_ = before;
      refused.push_back(*one.refusal);
      refused.back().position = number;
      continue;
    }
    for (Event& event : one.events) event.step = number - 1;
    all.events.insert(all.events.end(), one.events.begin(), one.events.end());
    all.accepted.parts.push_back(std::move(one.accepted));
  }
  in_transaction_ = inside;
  outcome_ = std::move(all);
  if (refused.empty()) return;
  outcome_ = {};
  Refusal whole = refused.front();
  whole.positions = transact.steps.size();
  whole.refused = std::move(refused);
  refuse(std::move(whole));
}

}  // namespace holdfast::testing
