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

const std::vector<std::string>& Bookkeeper::carts() {
  static const std::vector<std::string> kCarts{"cart-0", "cart-1", "cart-2"};
  return kCarts;
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

Command Bookkeeper::command(Action action, std::optional<std::string> request_id) {
  Command command{.asker = {.actor = *Actor::make(any(actors())),
                            .on_behalf_of = {},
                            .reason = Note::make("because"),
                            .correlation_id = {},
                            .request_id = {},
                            .source = {}},
                  .action = std::move(action),
                  .content = {}};
  if (request_id) command.asker.request_id = *RequestId::make(*request_id);
  return command;
}

std::vector<Event> Bookkeeper::run(Action action, std::optional<std::string> request_id) {
  const Command asked = command(std::move(action), std::move(request_id));
  state_.advance(now_);
  std::vector<Key> fresh_keys;
  for (std::size_t needed = fresh_keys_needed(asked.action); needed > 0; --needed) {
    fresh_keys.push_back(*Key::make("k" + std::to_string(fresh_++)));
  }
  auto judged = judge(state_, asked, {.now = now_, .fresh_keys = fresh_keys, .policy = {}});
  if (!judged) return {};
  return keep(std::move(judged->events));
}

std::vector<Event> Bookkeeper::sweep(std::size_t limit) {
  state_.advance(now_);
  std::vector<Event> events = holdfast::sweep(state_, now_, limit);
  for (const Event& event : events) state_.evolve(event);
  return keep(std::move(events));
}

std::vector<Event> Bookkeeper::busy(std::size_t events) {
  std::vector<Event> written;
  while (written.size() < events) {
    if (below(3) == 0) pass(Duration{static_cast<std::int64_t>(below(3'000))});
    std::optional<std::string> request;
    if (below(4) == 0) request = "request-" + std::to_string(requests_++);
    std::vector<Event> more = below(15) == 0 ? sweep(5) : run(any_action(), std::move(request));
    written.insert(written.end(), more.begin(), more.end());
  }
  return written;
}

bool is_of(const Event& event, std::string_view path) {
  const Path* second = second_resource(event);
  return event.resource.view() == path || (second != nullptr && second->view() == path);
}

bool is_at_or_below(const Event& event, std::string_view path) {
  const Path* second = second_resource(event);
  return at_or_below(event.resource.view(), path) ||
         (second != nullptr && at_or_below(second->view(), path));
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
      const auto recalled = projections.forgotten(asked);
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
