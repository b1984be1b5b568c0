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

Span or_always(const std::optional<Span>& span) {
  return span.value_or(Span{{-1}, {kMaxInstant.ms * 2}});
}

Span longer(Span span, Duration by) { return {span.from, span.until + by}; }

bool meet(Span a, Span b) { return a.from < b.until && b.from < a.until; }

}  // namespace

// -- facts

Oracle::Place& Oracle::place(const Path& path) {
  for (Place& place : facts_.places) {
    if (place.path == path) return place;
  }
  return facts_.places.emplace_back(Place{.path = path});
}

const Oracle::Place* Oracle::known(const Path& path) const {
  for (const Place& place : facts_.places) {
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

std::optional<Resource> Oracle::resource(const Path& path) const {
  if (!defined(path)) return std::nullopt;
  const Place& here = *known(path);
  return Resource{*here.definition, here.closed, Windows(here.hours), Windows(here.blocked),
                  here.rules_since};
}

Position Oracle::last_event(const Path& path) const {
  const Place* here = known(path);
  return here == nullptr ? Position{} : here->last;
}

Claim* Oracle::find(const Key& key) {
  for (Claim& claim : facts_.claims) {
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
  for (const Claim& claim : facts_.claims) all.push_back(then.seen(claim));
  return all;
}

std::optional<Claim> Oracle::claim(const Key& key, Instant now) const {
  for (const Claim& claim : claims(now)) {
    if (claim.key == key) return claim;
  }
  return std::nullopt;
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

bool Oracle::refuse_over(const Claim& claim) {
  if (live(claim)) return false;
  const ClaimState state = seen(claim).state;
  if (state == ClaimState::expired) {
    return refuse({.reason = Reason::expired, .expires_at = claim.expires_at, .now = now_});
  }
  return refuse({.reason = Reason::terminal, .state = state});
}

bool Oracle::refuse_not_held(const Claim& claim) {
  if (claim.state == ClaimState::committed) {
    return refuse({.reason = Reason::already_committed, .claim = claim});
  }
  return refuse_over(claim);
}

bool Oracle::refuse_in_use(const Path& path, bool below) {
  std::vector<Claim> blockers;
  for (const Claim& claim : facts_.claims) {
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

std::optional<Oracle::Term> Oracle::term(const Path& path, const Expiry& expiry,
                                         Instant held_at) const {
  std::optional<Duration> longest;
  std::optional<Duration> nearest;
  std::optional<Duration> in_all;
  for (const Path& level : upwards(path)) {
    const Definition its = definition(level);
    if (its.max_ttl && (!longest || *its.max_ttl < *longest)) longest = its.max_ttl;
    if (!nearest) nearest = its.default_ttl;
    if (!in_all) in_all = its.max_hold_time;
  }
  Instant latest = now_ + longest.value_or(policy_.max_ttl);
  if (in_all) latest = std::max(now_, std::min(latest, held_at + *in_all));
  if (expiry.expires_at && *expiry.expires_at <= now_) return std::nullopt;
  const Instant wanted = expiry.expires_at ? *expiry.expires_at
                         : expiry.ttl      ? now_ + *expiry.ttl
                                           : now_ + nearest.value_or(policy_.default_ttl);
  const bool asked = expiry.expires_at || expiry.ttl;
  return Term{std::min(wanted, latest), asked && wanted > latest};
}

bool Oracle::refuse_term(const Path& path, const Expiry& expiry, Instant held_at) {
  return !term(path, expiry, held_at) && refuse({.reason = Reason::bad_ttl});
}

std::int64_t Oracle::capacity(const Path& path, const std::optional<Quantity>& vouched) const {
  return defined(path) ? definition(path).capacity.units : vouched.value_or(Quantity{1}).units;
}

const Path* Oracle::closed_at(const Path& path) const {
  for (const Path& level : upwards(path)) {
    if (defined(level) && known(level)->closed) return &known(level)->path;
  }
  return nullptr;
}

bool Oracle::outside_hours(const Path& path, const std::optional<Span>& span) const {
  for (const Path& level : upwards(path)) {
    if (!defined(level) || known(level)->hours.empty()) continue;
    if (!span) return true;
    // What is open from the beginning on without a break reaches the end, or does not.
    Instant open_until = span->from;
    for (std::size_t round = 0; round < known(level)->hours.size(); ++round) {
      for (const Span& open : known(level)->hours) {
        const bool goes_on = open.from <= open_until && open_until < open.until;
        if (goes_on) open_until = open.until;
      }
    }
    return open_until < span->until;
  }
  return false;
}

const Path* Oracle::blocked_at(const Path& path, const std::optional<Span>& span) const {
  for (const Path& level : upwards(path)) {
    if (!defined(level)) continue;
    for (const Span& block : known(level)->blocked) {
      if (meet(block, or_always(span))) return &known(level)->path;
    }
  }
  return nullptr;
}

bool Oracle::refuse_holder_limit(const Wish& wish) {
  for (const Path& level : upwards(wish.path)) {
    const std::optional<Quantity> limit = definition(level).holder_limit;
    if (!limit) continue;
    std::int64_t units = now_ < or_always(wish.span).until ? wish.quantity.units : 0;
    for (const Claim& claim : facts_.claims) {
      if (!live(claim) || claim.holder != wish.holder || claim.key == wish.besides) continue;
      const bool counts = is_part_of(claim.resource, level) && now_ < or_always(claim.span).until;
      if (counts) units += claim.quantity.units;
    }
    if (units <= limit->units) continue;
    return refuse({.reason = Reason::holder_limit, .path = level.str(), .allowed = limit->units});
  }
  return false;
}

bool Oracle::refuse_wish(const Wish& wish) {
  const std::int64_t has = capacity(wish.path, wish.vouched);
  if (wish.vouched && wish.vouched->units != has) {
    return refuse({.reason = Reason::capacity_mismatch, .capacity = has});
  }
  if (refuse_holder_limit(wish)) return true;
  if (const Path* closed = closed_at(wish.path)) {
    return refuse({.reason = Reason::closed, .path = closed->str()});
  }
  if (outside_hours(wish.path, wish.span)) return refuse({.reason = Reason::outside_hours});
  if (const Path* blocked = blocked_at(wish.path, wish.span)) {
    return refuse({.reason = Reason::blocked, .path = blocked->str()});
  }
  return refuse_conflict(wish);
}

// Turnaround after either of the two: the resource's own, or the larger of a whole's and a part's.
std::optional<Oracle::Taken> Oracle::taken(const Wish& wish, const Claim& claim) const {
  const Duration ours = definition(wish.path).turnaround;
  const Duration theirs = definition(claim.resource).turnaround;
  const bool same = claim.resource == wish.path;
  const bool above = is_part_of(wish.path, claim.resource) && definition(claim.resource).parts;
  const bool below = is_part_of(claim.resource, wish.path) && definition(wish.path).parts;
  if (!same && !above && !below) return std::nullopt;
  const Duration between = std::max(ours, theirs);
  const Span wanted = or_always(wish.span);
  const Span its = or_always(claim.span);
  if (!meet(longer(wanted, between), longer(its, between))) return std::nullopt;
  const Span units = {std::max(wanted.from, its.from),
                      std::min(wanted.until + between, its.until + between)};
  // The instants of the wish at which it cannot be: too near before, within, too near behind.
  const Span apart = {std::max(wanted.from, its.from - between),
                      std::min(wanted.until, its.until + between)};
  return Taken{&claim, same ? units : apart, !same};
}

Oracle::Tightest Oracle::tightest(const Wish& wish, Instant later) const {
  std::vector<Taken> all;
  std::vector<Instant> instants = {or_always(wish.span).from};
  for (const Claim& claim : facts_.claims) {
    if (!live(claim) || claim.key == wish.besides) continue;
    if (claim.state == ClaimState::held && claim.expires_at <= later) continue;
    if (const auto its = taken(wish, claim)) {
      all.push_back(*its);
      instants.push_back(its->when.from);
    }
  }
  std::sort(instants.begin(), instants.end());
  // The first of the fullest instants, or the first at which a whole or a part is in the way: then
  // nothing is free, and what comes first of the two names the blockers.
  std::optional<Tightest> fullest;
  std::optional<Tightest> first_excluded;
  Instant full_at;
  Instant excluded_at;
  for (const Instant at : instants) {
    Tightest here{capacity(wish.path, wish.vouched), {}};
    bool excluded = false;
    for (const Taken& its : all) {
      if (at < its.when.from || its.when.until <= at) continue;
      if (!its.whole) here.free -= its.claim->quantity.units;
      here.blockers.push_back(*its.claim);
      excluded = excluded || its.whole;
    }
    if (!fullest || here.free < fullest->free) {
      fullest = here;
      full_at = at;
    }
    if (excluded && !first_excluded) {
      first_excluded = here;
      excluded_at = at;
    }
  }
  fullest->free = std::max<std::int64_t>(fullest->free, 0);
  if (!first_excluded) return *fullest;
  first_excluded->free = 0;
  const bool full_first = fullest->free == 0 && full_at < excluded_at;
  return full_first ? *fullest : *first_excluded;
}

bool Oracle::refuse_conflict(const Wish& wish) {
  const Tightest tight = tightest(wish, now_);
  if (tight.free >= wish.quantity.units) return false;
  Refusal refusal{.reason = Reason::conflict,
                  .capacity = capacity(wish.path, wish.vouched),
                  .available = tight.free,
                  .blockers = tight.blockers};
  std::sort(refusal.blockers.begin(), refusal.blockers.end(), by_begin);
  if (refusal.blockers.size() > 16) refusal.blockers.resize(16);
  for (const Claim& claim : facts_.claims) {
    if (!live(claim) || claim.state != ClaimState::held || !taken(wish, claim)) continue;
    if (refusal.retry_at && *refusal.retry_at <= claim.expires_at) continue;
    if (tightest(wish, claim.expires_at).free >= wish.quantity.units) {
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
  if (unknown(path) || closed_at(path) != nullptr) return pieces;
  for (Instant at = window.from; at < window.until; at = at + grid) {
    const Span cell{at, at + grid};
    if (outside_hours(path, cell) || blocked_at(path, cell) != nullptr) continue;
    const std::int64_t free = then.tightest({path, cell, quantity, Holder::trusted("-")}, now).free;
    if (free < quantity.units) continue;
    if (!pieces.empty() && pieces.back().free == free && pieces.back().span.until == at) {
      pieces.back().span.until = at + grid;
    } else {
      pieces.push_back({cell, free});
    }
  }
  return pieces;
}

// -- writing

Event& Oracle::write(const Path& path, Happening happening) {
  facts_.head.value += 1;
  Place& here = place(path);
  Event event{.position = facts_.head,
              .transaction = {},
              .transaction_count = 0,
              .recorded_at = now_,
              .resource = path,
              .key = {},
              .previous_on_resource = here.last,
              .previous_of_claim = {},
              .actor = command_->asker.actor,
              .request_id = command_->asker.request_id,
              .correlation_id = command_->asker.correlation_id,
              .content = command_->content,
              .available = {},
              .personal = {{},
                           {},
                           {},
                           command_->asker.on_behalf_of,
                           command_->asker.reason,
                           command_->asker.source},
              .happening = std::move(happening)};
  here.last = facts_.head;
  return outcome_.events.emplace_back(std::move(event));
}

Event& Oracle::write(Claim& claim, Happening happening) {
  Event& event = write(claim.resource, std::move(happening));
  event.key = claim.key;
  event.previous_of_claim = claim.last_event;
  event.personal.holder = claim.holder;
  claim.last_event = claim.version = event.position;
  return event;
}

// The ledger's own: of the end of a hold whose time or connection is over.
void Oracle::write_by_itself(Claim& claim, Happening happening) {
  static const Command kNobodys{
      {Actor::trusted("system"), {}, {}, {}, {}, {}, {}, 0}, Close{Path::trusted("-")}, {}};
  const Position version = claim.version;
  const bool expired = std::holds_alternative<Expired>(happening);
  const Command* said = std::exchange(command_, &kNobodys);
  write(claim, std::move(happening));
  command_ = said;
  claim.state = expired ? ClaimState::expired : ClaimState::released;
  if (expired) claim.version = version;
}

void Oracle::write_lapsed(const Wish& wish) {
  std::vector<Claim*> in_the_way;
  for (Claim& claim : facts_.claims) {
    if (claim.key == wish.besides || claim.state != ClaimState::held || live(claim)) continue;
    if (taken(wish, claim)) in_the_way.push_back(&claim);
  }
  std::sort(in_the_way.begin(), in_the_way.end(), [](const Claim* a, const Claim* b) {
    return a->expires_at != b->expires_at ? a->expires_at < b->expires_at : a->key < b->key;
  });
  if (in_the_way.size() > 64) in_the_way.resize(64);
  for (Claim* claim : in_the_way) write_by_itself(*claim, Expired{claim->expires_at});
}

Claim& Oracle::write_held(const Wish& wish, const Key& key, Term granted) {
  Event& event =
      write(wish.path,
            Held{wish.span, wish.quantity, granted.expires_at, granted.clamped, wish.vouched, {}});
  event.key = key;
  event.personal.holder = wish.holder;
  outcome_.accepted.clamped = granted.clamped;
  Claim claim{.key = key,
              .resource = wish.path,
              .span = wish.span,
              .quantity = wish.quantity,
              .original_quantity = wish.quantity,
              .holder = wish.holder,
              .cart = {},
              .label = {},
              .vouched_capacity = wish.vouched,
              .held_at = now_,
              .expires_at = granted.expires_at,
              .version = facts_.head,
              .last_event = facts_.head,
              .placed = facts_.head,
              .original = {},
              .stolen_from = {},
              .stolen_by = {}};
  return facts_.claims.emplace_back(std::move(claim));
}

void Oracle::answer(const Key& key, const std::optional<Quantity>& vouched) {
  const Claim claim = seen(*find(key));
  const Wish room{claim.resource, claim.span, claim.quantity, claim.holder,
                  vouched ? vouched : claim.vouched_capacity};
  outcome_.accepted.available = tightest(room, now_).free;
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

Key Oracle::fresh_key(const std::optional<Key>& given) {
  if (given) return *given;
  const Key next = fresh_.front();
  fresh_.erase(fresh_.begin());
  return next;
}

}  // namespace holdfast::testing
