#include "projections/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "projections/list_cursor.h"
#include "projections/queries.h"
#include "projections/rebuild.h"
#include "tests/projections/bookkeeper.h"

namespace holdfast::projections {
namespace {

using testing::HasSubstr;

struct Rows {
  store::MemoryDisk disk;
  std::shared_ptr<Generation> generation;
  std::unique_ptr<Fold> fold;

  Rows() {
    auto opened = Generation::open(disk.mount(), "/rows", true);
    EXPECT_TRUE(opened) << opened.error().ToString();
    generation = std::move(*opened);
    fold = *Fold::open(generation);
  }

  tl::expected<void, StorageError> apply(const std::vector<Event>& events) {
    const std::span<const Event> group(events);
    auto applied = fold->apply({&group, 1});
    EXPECT_TRUE(fold->write());
    return applied;
  }

  std::optional<Claim> claim(const std::string& key) const {
    const auto found = Moment(*generation).claim(key);
    EXPECT_TRUE(found) << found.error().what;
    return found.value_or(std::nullopt);
  }

  std::vector<Position> list(ListKind kind, std::string_view of) const {
    const Moment moment(*generation);
    MergedLists lists(moment, {list_name(kind, of)}, {{1}, {~std::uint64_t{0}}});
    std::vector<Position> found;
    EXPECT_TRUE(lists.take(1'000'000, found));
    return found;
  }
};

void apply_in_chunks(Rows& rows, const std::vector<Event>& events, std::size_t size) {
  for (std::size_t i = 0; i < events.size(); i += size) {
    const auto end =
        events.begin() + static_cast<std::ptrdiff_t>(std::min(i + size, events.size()));
    const auto applied = rows.apply({events.begin() + static_cast<std::ptrdiff_t>(i), end});
    ASSERT_TRUE(applied) << applied.error().what;
  }
}

TEST(Fold, EveryTypeOfEventBecomesWhatTheStateMakesOfIt) {
  Bookkeeper books(7);
  books.busy(6'000);
  std::set<std::string_view> types;
  for (const Event& event : books.events()) types.insert(type_name(event.happening));
  EXPECT_EQ(types.size(), std::variant_size_v<Happening>) << "the workload has every type";

  for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{10'000}}) {
    Rows rows;
    apply_in_chunks(rows, books.events(), chunk);
    for (const std::string& key : books.keys()) {
      const auto claim = rows.claim(key);
      ASSERT_TRUE(claim) << key;
      std::optional<Claim> expected = books.state().claim(key);
      // The rows keep a lapsed hold as held until its end is recorded.
      if (books.state().find(key)->lapsed) expected->state = ClaimState::held;
      EXPECT_EQ(*claim, *expected) << key;
    }
  }
}

TEST(Fold, RowsDoNotDependOnTheChunks) {
  Bookkeeper books(11);
  books.busy(3'000);
  Rows one;
  Rows other;
  apply_in_chunks(one, books.events(), 1);
  apply_in_chunks(other, books.events(), 500);
  const auto differences = compare(Moment(*one.generation), Moment(*other.generation));
  ASSERT_TRUE(differences);
  EXPECT_THAT(*differences, testing::IsEmpty());
}

TEST(Fold, ListsHoldTheEventsThatConcernThem) {
  Bookkeeper books(3);
  books.busy(2'000);
  Rows rows;
  apply_in_chunks(rows, books.events(), 64);
  const auto where = [&](const auto& condition) {
    std::vector<Position> found;
    for (const Event& event : books.events()) {
      if (condition(event)) found.push_back(event.position);
    }
    return found;
  };
  for (const std::string& path : Bookkeeper::paths()) {
    EXPECT_EQ(rows.list(ListKind::own, path),
              where([&](const Event& e) { return is_of(e, path); }));
    const auto below = [&](std::string_view resource) {
      return resource != path && at_or_below(resource, path);
    };
    EXPECT_EQ(rows.list(ListKind::below, path), where([&](const Event& e) {
                const Path* second = second_resource(e);
                return below(e.resource.view()) || (second != nullptr && below(second->view()));
              }));
  }
  for (const std::string& holder : Bookkeeper::holders()) {
    EXPECT_EQ(rows.list(ListKind::holder, holder), where([&](const Event& e) {
                return e.personal.holder && e.personal.holder->view() == holder;
              }));
  }
  for (const char* actor : {"shop", "desk", "system"}) {
    EXPECT_EQ(rows.list(ListKind::actor, actor),
              where([&](const Event& e) { return e.actor.view() == actor; }));
  }
}

TEST(Fold, AStolenClaimMovesOnFromExpired) {
  Bookkeeper books;
  books.run(Hold{.resource = *Path::make("room"),
                 .key = Key::make("h1"),
                 .span = {},
                 .quantity = {1},
                 .holder = Holder::make("ann"),
                 .cart = {},
                 .label = {},
                 .expiry = {.ttl = kMinute, .expires_at = {}},
                 .capacity = {}});
  books.pass(kMinute);
  books.sweep();
  Rows rows;
  apply_in_chunks(rows, books.events(), 10);
  ASSERT_TRUE(rows.claim("h1"));
  EXPECT_EQ(rows.claim("h1")->state, ClaimState::expired);
  EXPECT_EQ(rows.claim("h1")->version.value, 1u);
  EXPECT_EQ(rows.claim("h1")->last_event.value, 2u);

  const auto more = books.run(Steal{.key = *Key::make("h1"),
                                    .from_holder = *Holder::make("ann"),
                                    .new_key = Key::make("h2"),
                                    .holder = Holder::make("bob"),
                                    .version = {},
                                    .cart = {},
                                    .label = {},
                                    .expiry = {.ttl = kMinute, .expires_at = {}},
                                    .capacity = {}});
  ASSERT_EQ(more.size(), 2u);
  rows.fold = *Fold::open(rows.generation);  // an empty cache: the row is read from `ended`
  ASSERT_TRUE(rows.apply(more));
  EXPECT_EQ(rows.claim("h1")->state, ClaimState::stolen);
  EXPECT_EQ(rows.claim("h1")->stolen_by, Key::make("h2"));
  EXPECT_EQ(rows.claim("h2")->stolen_from, Key::make("h1"));
}

TEST(Fold, RequestsLeadToTheirTransaction) {
  Bookkeeper books(5);
  books.busy(2'000);
  Rows rows;
  apply_in_chunks(rows, books.events(), 100);
  std::size_t asked = 0;
  for (const Event& event : books.events()) {
    if (!event.request_id) continue;
    ++asked;
    const auto first = find_request(*rows.generation, event.actor.view(), event.request_id->view());
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, event.transaction);
    EXPECT_EQ(*find_request(*rows.generation, "nobody", event.request_id->view()), std::nullopt);
  }
  EXPECT_GT(asked, 100u);
}

TEST(Fold, WhatManyEventsMakeIsDurableWithAllThatWasBefore) {
  Bookkeeper books(6);
  books.busy(300 + Fold::kWorthFiles);
  const std::span<const Event> events(books.events());
  Rows rows;
  const std::span<const Event> few = events.first(300);
  const std::span<const Event> many = events.subspan(300);
  ASSERT_TRUE(rows.fold->apply({&few, 1}));
  ASSERT_TRUE(rows.fold->write());  // into the memtables
  ASSERT_TRUE(rows.fold->apply({&many, 1}));
  EXPECT_EQ(rows.fold->unwritten_events(), many.size());
  EXPECT_EQ(Moment(*rows.generation).checkpoint()->position.value, 300u);
  ASSERT_TRUE(rows.fold->write());
  EXPECT_EQ(rows.fold->unwritten_events(), 0u);
  rows.disk.crash();
  rows.fold.reset();
  rows.generation.reset();
  auto again = Generation::open(rows.disk.mount(), "/rows", false);
  ASSERT_TRUE(again) << again.error().ToString();
  rows.generation = std::move(*again);
  EXPECT_EQ(Moment(*rows.generation).checkpoint()->position, events.back().position);
  const State state = state_at(books.events(), books.log().head());
  for (const std::string& key : books.keys()) EXPECT_EQ(rows.claim(key), state.claim(key)) << key;
  std::size_t below = 0;
  for (const Event& event : events)
    below += any_path(
        event, [](std::string_view path) { return path != "hall" && at_or_below(path, "hall"); });
  EXPECT_EQ(rows.list(ListKind::below, "hall").size(), below);
}

// -- what cannot follow is named, and changes nothing

struct Wrong {
  const char* name;
  std::function<void(Event&)> spoil;
};

class FoldOfWrongEvents : public testing::TestWithParam<Wrong> {};

TEST_P(FoldOfWrongEvents, StopsThereAndNamesIt) {
  Bookkeeper books;
  const auto hold = [&](const char* key) {
    books.run(Hold{.resource = *Path::make("room"),
                   .key = Key::make(key),
                   .span = {},
                   .quantity = {2},
                   .holder = Holder::make("ann"),
                   .cart = {},
                   .label = {},
                   .expiry = {.ttl = kMinute, .expires_at = {}},
                   .capacity = Quantity{9}});
  };
  hold("h1");
  hold("h2");
  books.run(Extend{.which = *Key::make("h1"),
                   .holder = Holder::make("ann"),
                   .version = {},
                   .expiry = {.ttl = Duration{2 * kMinute.ms}, .expires_at = {}},
                   .shorten = false});
  ASSERT_EQ(books.events().size(), 3u);
  std::vector<Event> events = books.events();
  GetParam().spoil(events[2]);
  Rows rows;
  const auto applied = rows.apply(events);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().what, HasSubstr("event " + std::to_string(events[2].position.value)));
  EXPECT_THAT(applied.error().what, HasSubstr(std::string(type_name(events[2].happening))));
  EXPECT_EQ(rows.fold->at().position.value, 2u);
  EXPECT_EQ(Moment(*rows.generation).checkpoint()->position.value, 2u);
  EXPECT_EQ(rows.claim("h1")->last_event.value, 1u);
  EXPECT_EQ(rows.list(ListKind::own, "room").size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Fold, FoldOfWrongEvents,
    testing::Values(Wrong{"gap", [](Event& e) { e.position = {4}; }},
                    Wrong{"earlier", [](Event& e) { e.recorded_at = {1}; }},
                    Wrong{"resource_chain", [](Event& e) { e.previous_on_resource = {1}; }},
                    Wrong{"claim_chain", [](Event& e) { e.previous_of_claim = {2}; }},
                    Wrong{"unknown_claim", [](Event& e) { e.key = Key::make("h9"); }},
                    Wrong{"no_claim",
                          [](Event& e) {
                            e.key.reset();
                            e.happening = Closed{};
                          }},
                    Wrong{"held_again",
                          [](Event& e) {
                            e.happening = Held{{}, {1}, {9'999'999'999'999}, false, {}, {}};
                          }},
                    Wrong{"not_committed",
                          [](Event& e) {
                            e.happening = Cancelled{{2}, {0}};
                          }},
                    Wrong{"too_much",
                          [](Event& e) {
                            e.happening = Committed{{3}, {0}};
                          }},
                    Wrong{"more_left",
                          [](Event& e) {
                            e.happening = Released{{1}, {2}};
                          }},
                    Wrong{"lapsed", [](Event& e) { e.recorded_at = e.recorded_at + kHour; }},
                    Wrong{"of_resource", [](Event& e) { e.happening = Opened{}; }},
                    Wrong{"change_undefined",
                          [](Event& e) {
                            e.key.reset();
                            e.happening = Changed{};
                          }}),
    [](const auto& wrong) { return wrong.param.name; });

TEST(Fold, TheCacheIsBounded) {
  Rows rows;
  std::vector<Event> events;
  const std::uint64_t count = 3 * Fold::kCachedRows;
  for (std::uint64_t p = 1; p <= count; ++p) {
    const std::string name = "r" + std::to_string(p);
    events.push_back(Event{.position = {p},
                           .transaction = {p},
                           .transaction_count = 1,
                           .recorded_at = {1'000},
                           .resource = *Path::make(name),
                           .key = Key::make(name),
                           .previous_on_resource = {},
                           .previous_of_claim = {},
                           .actor = *Actor::make("shop"),
                           .request_id = {},
                           .correlation_id = {},
                           .content = {},
                           .available = {},
                           .personal = {.holder = Holder::make(name),
                                        .cart = {},
                                        .label = {},
                                        .on_behalf_of = {},
                                        .reason = {},
                                        .source = {}},
                           .happening = Held{{}, {1}, {2'000}, false, {}, {}}});
  }
  apply_in_chunks(rows, events, 4'096);
  // Three kinds of rows, and what a chunk may add before the next ageing.
  EXPECT_LE(rows.fold->cached_rows(), 3 * (Fold::kCachedRows + 3 * 4'096));
  EXPECT_GT(rows.fold->cached_rows(), Fold::kCachedRows / 2);
  // What has left the cache is found in the rows again.
  Event again = events.front();
  again.position = {count + 1};
  again.previous_on_resource = again.previous_of_claim = {1};
  again.happening = Released{{1}, {0}};
  ASSERT_TRUE(rows.apply({again}));
  EXPECT_EQ(rows.claim("r1")->state, ClaimState::released);
  EXPECT_EQ(rows.list(ListKind::holder, "r1").size(), 2u);
}

}  // namespace
}  // namespace holdfast::projections
