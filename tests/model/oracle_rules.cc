#include <algorithm>

#include "tests/model/oracle.h"

// What the oracle's commands are made of: its lists, the rules, the writing of events.
namespace holdfast::testing {

namespace {

bool is_part_of(const Path& path, const Path& above) {
  return path == above || path.str().rfind(above.str() + "/", 0) == 0;
}

Instant begin_of(const Claim& claim) { return claim.span ? claim.span->from : Instant{-1}; }

bool by_begin(const Claim& a, const Claim& b) {
  return begin_of(a) != begin_of(b) ? begin_of(a) < begin_of(b) : a.key < b.key;
}

}  // namespace

// -- state

Oracle::Place& Oracle::place(const Path& path) {
  for (Place& place : places_) {
    if (place.path == path) return place;
  }
  return places_.emplace_back(Place{.path = path});
}

const Oracle::Place* Oracle::known(const Path& path) const {
  for (const Place& place : places_) {
    if (place.path == path) return &place;
  }
  return nullptr;
}

bool Oracle::defined(const Path& path) const {
  const Place* here = known(path);
  return here != nullptr && here->definition.has_value();
}

Definition Oracle::definition(const Path& path) const {
  return defined(path) ? *known(path)->definition : Definition{};
}

Position Oracle::last_event(const Path& path) const {
  const Place* here = known(path);
  return here == nullptr ? Position{} : here->last;
}

Claim* Oracle::find(const Key& key) {
  for (Claim& claim : claims_) {
    if (claim.key == key) return &claim;
  }
  return nullptr;
}

bool Oracle::live(const Claim& claim) const {
  return claim.state == ClaimState::committed ||
         (claim.state == ClaimState::held && now_ < claim.expires_at);
}

Claim Oracle::seen(const Claim& claim) const {
  Claim shown = claim;
  if (claim.state == ClaimState::held && !live(claim)) shown.state = ClaimState::expired;
  return shown;
}

std::vector<Claim> Oracle::claims(Instant now) const {
  Oracle then = *this;
  then.now_ = now;
  std::vector<Claim> all;
  for (const Claim& claim : claims_) all.push_back(then.seen(claim));
  return all;
}

std::optional<Claim> Oracle::claim(const Key& key, Instant now) const {
  for (const Claim& claim : claims(now)) {
    if (claim.key == key) return claim;
  }
  return std::nullopt;
}

Span Oracle::whole(const Path& path, const std::optional<Span>& span) const {
  if (!span) return {{-1}, {kMaxInstant.ms * 2}};
  return {span->from, {span->until.ms + definition(path).turnaround.ms}};
}

// -- rules

bool Oracle::refuse(Refusal refusal) {
  outcome_.refusal = std::move(refusal);
  return true;
}

bool Oracle::refuse_holder(const Claim* claim, const std::optional<Holder>& holder) {
  if (claim == nullptr) return refuse({.reason = Reason::unknown_claim});
  if (holder && *holder != claim->holder) return refuse({.reason = Reason::not_holder});
  return false;
}

bool Oracle::refuse_version(const Claim& claim, const std::optional<Position>& version) {
  if (!version || *version == claim.version) return false;
  return refuse({.reason = Reason::stale_version, .current = claim.version});
}

bool Oracle::refuse_part(const Claim& claim, const std::optional<Quantity>& part) {
  if (!part || *part <= claim.quantity) return false;
  return refuse({.reason = Reason::bad_quantity});
}

bool Oracle::refuse_not_held(const Claim& claim) {
  const ClaimState state = seen(claim).state;
  if (state == ClaimState::held) return false;
  if (state == ClaimState::committed) {
    return refuse({.reason = Reason::already_committed, .claim = claim});
  }
  if (state == ClaimState::expired) {
    return refuse({.reason = Reason::expired, .expires_at = claim.expires_at, .now = now_});
  }
  return refuse({.reason = Reason::terminal, .state = state});
}

bool Oracle::refuse_in_use(const Path& path, bool below) {
  std::vector<Claim> blockers;
  for (const Claim& claim : claims_) {
    const bool there = claim.resource == path || (below && is_part_of(claim.resource, path));
    if (live(claim) && there) blockers.push_back(claim);
  }
  if (blockers.empty()) return false;
  std::sort(blockers.begin(), blockers.end(), by_begin);
  if (blockers.size() > 16) blockers.resize(16);
  return refuse({.reason = Reason::in_use, .blockers = blockers});
}

bool Oracle::unknown(const Path& path) const {
  const Place* here = known(path);
  if (here != nullptr && here->retired) return true;
  return policy_.strict_resources && !defined(path);
}

std::vector<Path> Oracle::upwards(const Path& path) const {
  std::vector<Path> all = {path};
  std::string text = path.str();
  for (auto slash = text.rfind('/'); slash != std::string::npos; slash = text.rfind('/')) {
    text.resize(slash);
    all.push_back(Path::trusted(text));
  }
  return all;
}

std::optional<Oracle::Term> Oracle::term(const Path& path, const Expiry& expiry) const {
  std::optional<Duration> longest;
  std::optional<Duration> nearest;
  for (const Path& level : upwards(path)) {
    const Definition its = definition(level);
    if (its.max_ttl && (!longest || *its.max_ttl < *longest)) longest = its.max_ttl;
    if (!nearest) nearest = its.default_ttl;
  }
  const Instant latest = now_ + longest.value_or(policy_.max_ttl);
  if (expiry.expires_at && *expiry.expires_at <= now_) return std::nullopt;
  const Instant wanted = expiry.expires_at ? *expiry.expires_at
                         : expiry.ttl      ? now_ + *expiry.ttl
                                           : now_ + nearest.value_or(policy_.default_ttl);
  const bool asked = expiry.expires_at || expiry.ttl;
  return Term{std::min(wanted, latest), asked && wanted > latest};
}

std::int64_t Oracle::taken(const Path& path, Instant at, Instant later) const {
  std::int64_t units = 0;
  for (const Claim& claim : claims_) {
    if (claim.resource != path || !live(claim)) continue;
    if (claim.state == ClaimState::held && claim.expires_at <= later) continue;
    const Span its = whole(path, claim.span);
    if (its.from <= at && at < its.until) units += claim.quantity.units;
  }
  return units;
}

std::vector<Instant> Oracle::interesting(const Path& path, Span span) const {
  std::vector<Instant> instants = {span.from};
  for (const Claim& claim : claims_) {
    if (claim.resource != path) continue;
    const Instant from = whole(path, claim.span).from;
    if (span.from < from && from < span.until) instants.push_back(from);
  }
  std::sort(instants.begin(), instants.end());
  return instants;
}

std::int64_t Oracle::most_taken(const Path& path, Span span, Instant later) const {
  std::int64_t most = 0;
  for (const Instant at : interesting(path, span)) most = std::max(most, taken(path, at, later));
  return most;
}

bool Oracle::refuse_wish(const Wish& wish) {
  if (!term(wish.path, wish.expiry)) return refuse({.reason = Reason::bad_ttl});
  if (defined(wish.path) && wish.vouched && *wish.vouched != definition(wish.path).capacity) {
    return refuse(
        {.reason = Reason::capacity_mismatch, .capacity = definition(wish.path).capacity.units});
  }
  for (const Path& level : upwards(wish.path)) {
    if (defined(level) && known(level)->closed) {
      return refuse({.reason = Reason::closed, .path = level.str()});
    }
  }
  return refuse_conflict(wish);
}

bool Oracle::refuse_conflict(const Wish& wish) {
  const Span span = whole(wish.path, wish.span);
  const std::int64_t capacity = defined(wish.path) ? definition(wish.path).capacity.units
                                : wish.vouched     ? wish.vouched->units
                                                   : 1;
  const std::int64_t most = most_taken(wish.path, span, now_);
  if (most + wish.quantity.units <= capacity) return false;
  Refusal refusal{.reason = Reason::conflict,
                  .capacity = capacity,
                  .available = std::max<std::int64_t>(0, capacity - most)};
  for (const Instant at : interesting(wish.path, span)) {
    if (taken(wish.path, at, now_) != most) continue;
    for (const Claim& claim : claims_) {
      const Span its = whole(wish.path, claim.span);
      const bool there = claim.resource == wish.path && its.from <= at && at < its.until;
      if (there && live(claim)) refusal.blockers.push_back(claim);
    }
    break;
  }
  std::sort(refusal.blockers.begin(), refusal.blockers.end(), by_begin);
  if (refusal.blockers.size() > 16) refusal.blockers.resize(16);
  for (const Claim& claim : claims_) {
    if (!live(claim) || claim.state != ClaimState::held || claim.resource != wish.path) continue;
    if (refusal.retry_at && *refusal.retry_at <= claim.expires_at) continue;
    if (most_taken(wish.path, span, claim.expires_at) + wish.quantity.units <= capacity) {
      refusal.retry_at = claim.expires_at;
    }
  }
  return refuse(std::move(refusal));
}

std::vector<FreePiece> Oracle::availability(const Path& path, Span window, Duration grid,
                                            Quantity quantity, Instant now) const {
  Oracle then = *this;
  then.now_ = now;
  std::vector<FreePiece> pieces;
  if (unknown(path)) return pieces;
  for (const Path& level : upwards(path)) {
    if (defined(level) && known(level)->closed) return pieces;
  }
  for (Instant at = window.from; at < window.until; at = at + grid) {
    const std::int64_t most = then.most_taken(path, whole(path, Span{at, at + grid}), now);
    const std::int64_t free = std::max<std::int64_t>(0, definition(path).capacity.units - most);
    if (free < quantity.units) continue;
    if (!pieces.empty() && pieces.back().free == free && pieces.back().span.until == at) {
      pieces.back().span.until = at + grid;
    } else {
      pieces.push_back({{at, at + grid}, free});
    }
  }
  return pieces;
}

// -- writing

Event& Oracle::write(const Path& path, Happening happening) {
  head_.value += 1;
  Place& here = place(path);
  const bool by_itself = std::holds_alternative<Expired>(happening);
  Event event{head_,     {},   0,
              now_,      path, {},
              here.last, {},   Actor::trusted("system"),
              {},        {},   {},
              {},        {},   std::move(happening)};
  if (!by_itself) {
    const Asker& asker = command_->asker;
    event.actor = asker.actor;
    event.request_id = asker.request_id;
    event.correlation_id = asker.correlation_id;
    event.content = command_->content;
    event.personal = {{}, {}, {}, asker.on_behalf_of, asker.reason, asker.source};
  }
  here.last = head_;
  return outcome_.events.emplace_back(std::move(event));
}

Event& Oracle::write(Claim& claim, Happening happening) {
  const bool visible = !std::holds_alternative<Expired>(happening);
  Event& event = write(claim.resource, std::move(happening));
  event.key = claim.key;
  event.previous_of_claim = claim.last_event;
  event.personal.holder = claim.holder;
  claim.last_event = event.position;
  if (visible) claim.version = event.position;
  return event;
}

void Oracle::write_expired(Claim& claim) {
  write(claim, Expired{claim.expires_at});
  claim.state = ClaimState::expired;
}

void Oracle::write_lapsed(const Wish& wish, const Claim* except) {
  std::vector<Claim*> in_the_way;
  const Span span = whole(wish.path, wish.span);
  for (Claim& claim : claims_) {
    if (&claim == except || claim.resource != wish.path) continue;
    if (claim.state != ClaimState::held || live(claim)) continue;
    const Span its = whole(wish.path, claim.span);
    if (its.from < span.until && span.from < its.until) in_the_way.push_back(&claim);
  }
  std::sort(in_the_way.begin(), in_the_way.end(), [](const Claim* a, const Claim* b) {
    return a->expires_at != b->expires_at ? a->expires_at < b->expires_at : a->key < b->key;
  });
  if (in_the_way.size() > 64) in_the_way.resize(64);
  for (Claim* claim : in_the_way) write_expired(*claim);
}

void Oracle::write_held(const Wish& wish, const Key& key, const Holder& holder,
                        const std::optional<Cart>& cart, const std::optional<Note>& label,
                        const std::optional<Key>& stolen_from) {
  const Term granted = term(wish.path, wish.expiry).value();
  Event& event = write(wish.path, Held{wish.span, wish.quantity, granted.expires_at,
                                       granted.clamped, wish.vouched, stolen_from});
  event.key = key;
  event.personal.holder = holder;
  event.personal.cart = cart;
  event.personal.label = label;
  outcome_.accepted.clamped = granted.clamped;
  claims_.push_back({key,
                     wish.path,
                     wish.span,
                     wish.quantity,
                     wish.quantity,
                     holder,
                     cart,
                     label,
                     wish.vouched,
                     ClaimState::held,
                     now_,
                     granted.expires_at,
                     head_,
                     head_,
                     stolen_from,
                     {}});
}

void Oracle::answer(const Key& key, const std::optional<Quantity>& vouched) {
  const Claim claim = seen(*find(key));
  const auto by_caller = vouched ? vouched : claim.vouched_capacity;
  const std::int64_t capacity = defined(claim.resource) ? definition(claim.resource).capacity.units
                                                        : by_caller.value_or(Quantity{1}).units;
  const std::int64_t most = most_taken(claim.resource, whole(claim.resource, claim.span), now_);
  outcome_.accepted.available = std::max<std::int64_t>(0, capacity - most);
  outcome_.accepted.claim = claim;
  if (!outcome_.events.empty()) outcome_.events.back().available = outcome_.accepted.available;
}

void Oracle::close_transaction() {
  std::vector<Event>& events = outcome_.events;
  if (events.empty()) return;
  for (Event& event : events) {
    event.transaction = events.front().position;
    event.transaction_count = static_cast<std::uint32_t>(events.size());
  }
  outcome_.accepted.first = events.front().position;
  outcome_.accepted.count = static_cast<std::uint32_t>(events.size());
}

}  // namespace holdfast::testing
