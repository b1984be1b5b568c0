#include "tests/model/aftermath.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "ledger/store/log.h"
#include "ledger/store/memory_file_system.h"
#include "projections/projections.h"
#include "tests/model/story.h"

namespace holdfast::testing {

namespace {

using projections::AsOf;
using projections::HistoryQuery;
using projections::Projections;
using projections::StateFilter;

constexpr const char* kData = "/data";

// A fault ends the story, by its name.
template <class T>
T must(tl::expected<T, store::StorageError> answer) {
  if (!answer) throw std::runtime_error(answer.error().what);
  return std::move(*answer);
}

constexpr Span kWindow{kT0, kT0 + Duration{(kCells + 4) * kGrid.ms}};

State folded(const std::vector<Event>& events, Position until, Instant now) {
  State state;
  for (const Event& event : events) {
    if (event.position <= until) state.evolve(event);
  }
  state.advance(now);
  return state;
}

std::vector<Key> live_in_cart(const State& state, std::string_view cart) {
  std::vector<Key> keys;
  if (const CartNode* node = state.cart(cart)) {
    for (const auto& [key, claim] : node->holds) keys.push_back(claim->key);
  }
  return keys;
}

std::vector<Key> live_below(const State& state, std::string_view path) {
  std::vector<Key> keys;
  state.visit_subtree(path, [&](const StandingClaim& claim) {
    keys.push_back(claim.key);
    return true;
  });
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<Key> live_of(const State& state, std::string_view holder) {
  std::vector<Key> keys;
  state.visit_holder(holder, [&](const StandingClaim& claim) {
    keys.push_back(claim.key);
    return true;
  });
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Everything that a state answers, but for claims that have ended.
std::optional<std::string> different(const State& got, const State& expected,
                                     const std::vector<Claim>& claims, const Policy& policy) {
  if (got.head() != expected.head()) return "head";
  if (got.live_claims() != expected.live_claims()) return "live claims";
  if (got.lapsed_claims() != expected.lapsed_claims()) return "lapsed claims";
  if (got.next_due() != expected.next_due()) return "next due";
  for (const Claim& claim : claims) {
    const StandingClaim* standing = expected.find(claim.key.view());
    if (is_ended(standing->state)) continue;
    if (got.claim(claim.key.view()) != claim) return "claim " + claim.key.str();
  }
  for (const Path& path : story_paths()) {
    const Resource* a = got.definition(path.view());
    const Resource* b = expected.definition(path.view());
    if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b)) return "definition";
    if (got.is_retired(path.view()) != expected.is_retired(path.view())) return "retired";
    if (live_below(got, path.view()) != live_below(expected, path.view())) return "live below";
    for (const std::int64_t quantity : {1, 2}) {
      const AvailabilityQuery query{path, kWindow, {quantity}, {}};
      if (availability(got, query, policy) != availability(expected, query, policy)) {
        return "availability of " + path.str();
      }
    }
  }
  for (const char* cart : {"cart-1", "cart-2"}) {
    if (live_in_cart(got, cart) != live_in_cart(expected, cart)) return "cart";
  }
  for (const char* holder : {"ann", "bob", "cid", "app"}) {
    if (live_of(got, holder) != live_of(expected, holder))
      return "claims of " + std::string(holder);
  }
  return std::nullopt;
}

// A log on a disk in memory, and rows made of it.
class Disk {
 public:
  explicit Disk(const std::vector<Event>& events) {
    fs_ = disk_.mount();
    fs_->CreateDirIfMissing(kData, rocksdb::IOOptions(), nullptr);
    auto opened =
        store::Log::open({.fs = fs_, .dir = kData, .read_only = false, .accept_loss_from = {}});
    log_ = std::move(opened.value());
    const auto appended = log_->append(events, {.latest = events.back().recorded_at, .import = {}});
    if (!appended) throw std::runtime_error(appended.error().what);
  }

  std::unique_ptr<Projections> open(State& state) {
    return must(Projections::open({.fs = fs_, .dir = kData}, *log_, state));
  }

 private:
  store::MemoryDisk disk_;
  std::shared_ptr<rocksdb::FileSystem> fs_;
  std::unique_ptr<store::Log> log_;
};

bool concerns(const Event& event, const Path& path) {
  const Path* second = second_resource(event);
  return at_or_below(event.resource.view(), path.view()) ||
         (second != nullptr && at_or_below(second->view(), path.view()));
}

std::optional<std::string> history_differs(const Projections& rows,
                                           const std::vector<Event>& events, Position at) {
  for (const Path& path : story_paths()) {
    std::vector<Event> expected;
    for (const Event& event : events) {
      if (event.position <= at && concerns(event, path)) expected.push_back(event);
    }
    const HistoryQuery query{.resource = path.str(), .limit = 1'000'000};
    if (must(rows.history(query, at)).items != expected) return "history of " + path.str();
  }
  return std::nullopt;
}

std::optional<std::string> claims_differ(std::vector<Claim> got, std::vector<Claim> expected) {
  std::sort(expected.begin(), expected.end(),
            [](const Claim& a, const Claim& b) { return a.key < b.key; });
  if (got == expected) return std::nullopt;
  std::string text = "claims\n";
  for (std::size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
    const bool both = i < got.size() && i < expected.size();
    if (both && got[i] == expected[i]) continue;
    if (i < got.size()) text += "  got:      " + text_of(got[i]) + "\n";
    if (i < expected.size()) text += "  expected: " + text_of(expected[i]) + "\n";
  }
  return text;
}

const projections::ClaimsQuery kEveryClaim{.resource = {},
                                           .holder = {},
                                           .cart = {},
                                           .state = StateFilter::all,
                                           .after_key = {},
                                           .limit = 1'000'000};

std::optional<std::string> past_differs(const Projections& rows, const std::vector<Event>& events,
                                        const Policy& policy, const Moment& then) {
  const AsOf as_of{then.oracle.head(), then.now};
  auto claims = must(rows.claims_as_of(kEveryClaim, as_of));
  if (auto broken = claims_differ(std::move(claims.items), then.oracle.claims(then.now))) {
    return broken;
  }
  for (const Path& path : story_paths()) {
    const State state = must(rows.resource_as_of(path, as_of));
    for (const std::int64_t quantity : {1, 2}) {
      if (availability(state, {path, kWindow, {quantity}, {}}, policy) !=
          then.oracle.availability(path, kWindow, kGrid, {quantity}, then.now)) {
        return "availability of " + path.str();
      }
    }
  }
  return history_differs(rows, events, as_of.position);
}

}  // namespace

std::optional<std::string> aftermath(const World& world, const Oracle& oracle,
                                     const std::vector<Moment>& moments) {
  if (world.log.empty()) return std::nullopt;
  const Position head = world.log.back().position;
  const std::vector<Claim> claims = oracle.claims(world.now);
  const State anew = folded(world.log, head, world.now);
  if (auto what = different(world.state, anew, claims, world.policy)) {
    return "left over from what was undone: " + *what;
  }
  Disk disk(world.log);
  for (const char* way : {"made from the log", "found again"}) {
    State restored;
    const auto rows = disk.open(restored);
    restored.advance(world.now);
    if (auto what = different(restored, anew, claims, world.policy)) {
      return std::string("restored from rows ") + way + ": " + *what;
    }
    auto found = must(rows->claims(kEveryClaim, world.now));
    if (auto what = claims_differ(std::move(found.items), claims)) return "rows: " + *what;
    for (const Moment& then : moments) {
      if (auto what = past_differs(*rows, world.log, world.policy, then)) {
        return "as of " + std::to_string(then.oracle.head().value) + ": " + *what;
      }
    }
    if (!must(rows->rebuild({})).differences.empty()) return "rebuilt rows differ";
  }
  return std::nullopt;
}

}  // namespace holdfast::testing
