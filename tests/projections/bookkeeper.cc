#include "tests/projections/bookkeeper.h"

#include <cstdlib>
#include <iostream>

namespace holdfast::projections {
namespace {

constexpr const char* kData = "/data";

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << why << std::endl;
  std::abort();
}

}  // namespace

Bookkeeper::Bookkeeper(std::uint32_t seed) : random_(seed) {
  fs_ = disk_.mount();
  fs_->CreateDirIfMissing(kData, rocksdb::IOOptions(), nullptr);
  open_log();
}

const std::vector<std::string>& Bookkeeper::paths() {
  static const std::vector<std::string> kPaths{"hall",     "hall/a", "hall/a/1", "hall/a/2",
                                               "hall/b/3", "room-1", "room-10",  "room-1/desk"};
  return kPaths;
}

const std::vector<std::string>& Bookkeeper::holders() {
  static const std::vector<std::string> kHolders{"ann", "bob", "an", "eve"};
  return kHolders;
}

const std::vector<std::string>& Bookkeeper::actors() {
  static const std::vector<std::string> kActors{"shop", "desk"};
  return kActors;
}

Options Bookkeeper::options() const { return {.fs = fs_, .dir = kData}; }

void Bookkeeper::open_log(bool read_only) {
  auto opened =
      store::Log::open({.fs = fs_, .dir = kData, .read_only = read_only, .accept_loss_from = {}});
  if (!opened) give_up(opened.error().what);
  log_ = std::move(*opened);
}

void Bookkeeper::crash() {
  disk_.crash();
  log_.reset();
  fs_ = disk_.mount();
  open_log();
}

std::vector<Event> Bookkeeper::keep(std::vector<Event> events) {
  if (events.empty()) return events;
  const auto appended = log_->append(events, {.latest = now_, .import = {}});
  if (!appended) give_up(appended.error().what);
  for (const Event& event : events) {
    if (std::holds_alternative<Held>(event.happening)) keys_.push_back(event.key->str());
    events_.push_back(event);
  }
  return events;
}

std::vector<Event> Bookkeeper::run(Action action, std::optional<std::string> request_id) {
  Command command{.asker = {.actor = *Actor::make(any(actors())),
                            .is_operator = true,
                            .on_behalf_of = {},
                            .reason = Note::make("because"),
                            .correlation_id = {},
                            .request_id = {},
                            .source = {}},
                  .action = std::move(action),
                  .content = {}};
  if (request_id) command.asker.request_id = *RequestId::make(*request_id);
  state_.advance(now_);
  const std::vector<Key> fresh_keys(fresh_keys_needed(command.action),
                                    *Key::make("k" + std::to_string(fresh_++)));
  auto judged = judge(state_, command, {.now = now_, .fresh_keys = fresh_keys, .policy = {}});
  if (!judged) return {};
  return keep(std::move(judged->events));
}

std::vector<Event> Bookkeeper::sweep(std::size_t limit) {
  state_.advance(now_);
  std::vector<Event> events = holdfast::sweep(state_, now_, limit);
  for (const Event& event : events) state_.evolve(event);
  return keep(std::move(events));
}

std::uint64_t Bookkeeper::below(std::uint64_t n) {
  return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random_);
}

std::string Bookkeeper::any(const std::vector<std::string>& of) {
  return of.empty() ? "none" : of[below(of.size())];
}

Action Bookkeeper::any_hold() {
  Hold hold{.resource = *Path::make(any(paths())),
            .key = {},
            .span = {},
            .quantity = {static_cast<std::int64_t>(1 + below(3))},
            .holder = Holder::make(any(holders())),
            .cart = {},
            .label = {},
            .expiry = {.ttl = Duration{static_cast<std::int64_t>(1'000 + below(60'000))},
                       .expires_at = {}},
            .capacity = {}};
  if (below(8) != 0) {
    const Instant from = kMinInstant + Duration{static_cast<std::int64_t>(below(1'000) * 1'000)};
    hold.span = Span{from, from + Duration{static_cast<std::int64_t>(1'000 + below(30'000))}};
  }
  if (below(2) == 0) hold.capacity = Quantity{5};
  if (below(3) == 0) hold.cart = Cart::make("cart-" + std::to_string(below(3)));
  if (below(3) == 0) hold.label = Note::make("label");
  return hold;
}

Action Bookkeeper::any_action() {
  const Path path = *Path::make(any(paths()));
  const std::string recent =
      keys_.empty() ? "none"
                    : keys_[keys_.size() - 1 - below(std::min<std::size_t>(keys_.size(), 40))];
  const Key key = *Key::make(recent);
  const StandingClaim* claim = state_.find(recent);
  const Holder holder = claim == nullptr ? *Holder::make("ann") : claim->holder->holder;
  const std::optional<Quantity> part = below(3) == 0 ? std::optional(Quantity{1}) : std::nullopt;
  const Expiry expiry{.ttl = Duration{static_cast<std::int64_t>(1'000 + below(90'000))},
                      .expires_at = {}};
  switch (below(20)) {
    case 0:
      return Define{path,
                    {.capacity = {static_cast<std::int64_t>(1 + below(6))},
                     .turnaround = {static_cast<std::int64_t>(below(2) * 1'000)},
                     .max_ttl = {},
                     .default_ttl = {}}};
    case 1:
      return Change{path,
                    {.capacity = Quantity{static_cast<std::int64_t>(1 + below(6))},
                     .turnaround = {},
                     .max_ttl = Duration{60'000},
                     .default_ttl = {}}};
    case 2:
      return Close{path};
    case 3:
      return Open{path};
    case 4:
      return Retire{path, below(8) == 0};
    case 5:
    case 6:
      return Extend{
          .key = key, .holder = holder, .version = {}, .expiry = expiry, .shorten = below(2) == 0};
    case 7:
    case 8:
      return Release{.key = key, .holder = holder, .version = {}, .quantity = part};
    case 9:
    case 10:
      return Commit{.key = key, .holder = holder, .version = {}, .quantity = part, .label = {}};
    case 11:
      return Cancel{.key = key, .holder = holder, .version = {}, .quantity = part};
    case 12:
    case 13:
      return Steal{.key = key,
                   .from_holder = holder,
                   .new_key = {},
                   .holder = Holder::make(any(holders())),
                   .version = {},
                   .cart = {},
                   .label = {},
                   .expiry = expiry,
                   .capacity = {}};
    default:
      return any_hold();
  }
}

std::vector<Event> Bookkeeper::busy(std::size_t events) {
  std::vector<Event> written;
  while (written.size() < events) {
    if (below(3) == 0) pass(Duration{static_cast<std::int64_t>(below(3'000))});
    std::optional<std::string> request;
    if (below(4) == 0) request = "request-" + std::to_string(fresh_);
    std::vector<Event> more = below(15) == 0 ? sweep(5) : run(any_action(), std::move(request));
    written.insert(written.end(), more.begin(), more.end());
  }
  return written;
}

State state_at(const std::vector<Event>& events, Position position) {
  State state;
  for (const Event& event : events) {
    if (event.position <= position) state.evolve(event);
  }
  return state;
}

std::string difference(const Bookkeeper& books, const Projections& projections, State& restored) {
  restored.advance(books.now());
  const State& whole = books.state();
  if (restored.head() != whole.head()) return "head";
  std::size_t standing = 0;
  for (const std::string& key : books.keys()) {
    const std::optional<Claim> expected = whole.claim(key);
    std::optional<Claim> got = restored.claim(key);
    if (whole.find(key) != nullptr && !is_ended(whole.find(key)->state)) {
      ++standing;
    } else {
      if (got) return "an ended claim was restored: " + key;
      const std::string_view asked[] = {key};
      const auto recalled = projections.ended(asked);
      if (!recalled) return recalled.error().what;
      got = recalled->front();
    }
    if (!got) return "claim not found: " + key;
    if (*got != *expected) return "claim: " + key;
  }
  if (restored.live_claims() + restored.lapsed_claims() != standing) return "number of claims";
  for (const std::string& path : Bookkeeper::paths()) {
    const Resource* a = whole.definition(path);
    const Resource* b = restored.definition(path);
    if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b))
      return "definition: " + path;
    if (whole.is_retired(path) != restored.is_retired(path)) return "retired: " + path;
    const std::string_view asked[] = {path};
    const auto last = projections.last_events(asked);
    if (!last) return last.error().what;
    if (last->front() != whole.last_event(path)) return "last event: " + path;
  }
  return {};
}

}  // namespace holdfast::projections
