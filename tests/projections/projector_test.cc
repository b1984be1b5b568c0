#include "projections/projector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <atomic>
#include <thread>

#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

using testing::HasSubstr;

// An event that was committed and does not follow from what is before it.
std::vector<Event> wrong(Bookkeeper& books) {
  std::vector<Event> events = books.busy(1);
  events.erase(events.begin() + 1, events.end());
  events.front().key = Key::make("unheard-of");
  events.front().previous_of_claim = {1};
  events.front().happening = Expired{};
  return events;
}

TEST(Projector, AppliesInTheOrderOfTheGroups) {
  Bookkeeper books(1);
  Running running(books);
  for (int group = 0; group < 50; ++group) running.committed(books.busy(20));
  ASSERT_TRUE(running->wait_for(books.log().head()));
  EXPECT_EQ(running->projected(), books.log().head());
  EXPECT_EQ(running->progress().at, books.events().back().recorded_at);
  EXPECT_EQ(running->progress().stopped, std::nullopt);
  State state = state_at(books.events(), books.log().head());
  for (const std::string& key : books.keys()) {
    const auto claim = value_of(
        running->claim_as_of(key, {books.log().head(), books.events().back().recorded_at}));
    EXPECT_EQ(claim, state.claim(key));
  }
}

TEST(Projector, StopsAtWhatItCannotApplyAndStillAnswers) {
  Bookkeeper books(2);
  Running running(books);
  running.committed(books.busy(200));
  ASSERT_TRUE(running->wait_for(books.log().head()));
  const Position good = books.log().head();
  running.committed(wrong(books));
  EXPECT_FALSE(running->wait_for(good + 1));
  const Progress progress = running->progress();
  EXPECT_EQ(progress.position, good);
  ASSERT_TRUE(progress.stopped);
  EXPECT_THAT(*progress.stopped, HasSubstr("event " + std::to_string(good.value + 1)));
  EXPECT_THAT(*progress.stopped, HasSubstr("expired"));
  // What comes after is never applied, and never waited for.
  for (int i = 0; i < 100; ++i) running.committed(books.busy(50));
  EXPECT_EQ(running->projected(), good);
  EXPECT_EQ(value_of(running->history({.limit = 1'000}, good)).items.size(), good.value);
  EXPECT_FALSE(running->rebuild({}));
}

TEST(Projector, HoldsTheWriterBackWhenItIsFarBehind) {
  Bookkeeper books(3);
  Options options = books.options();
  options.max_queued_events = 100;
  Running running(books, options);
  std::vector<std::vector<Event>> groups;
  for (int i = 0; i < 100; ++i) groups.push_back(books.busy(40));
  std::size_t worst = 0;
  Position sent;
  for (const std::vector<Event>& group : groups) {
    running.committed(group);
    sent = group.back().position;
    worst = std::max<std::size_t>(worst, sent.value - running->projected().value);
  }
  // The queue, the group that filled it, and the chunk that is being applied.
  EXPECT_LE(worst, 2 * (100 + 50) + 50u);
  ASSERT_TRUE(running->wait_for(sent));
}

TEST(Projector, LetsAWaitingWriterGoWhenItStops) {
  Bookkeeper books(4);
  Options options = books.options();
  options.max_queued_events = 1;
  Running running(books, options);
  running.committed(books.busy(10));
  ASSERT_TRUE(running->wait_for(books.log().head()));
  std::vector<Event> bad = wrong(books);
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) running.committed(bad);
  });
  writer.join();
  EXPECT_TRUE(running->progress().stopped);
}

// So many that the projector holds back what it has folded.
void flood(Running& running, Bookkeeper& books) {
  for (int group = 0; group < 10; ++group) running.committed(books.busy(2'000));
}

TEST(Projector, WritesWhatItHeldBackWhenNoMoreComes) {
  Bookkeeper books(6);
  Running running(books);
  flood(running, books);
  while (running->projected() != books.log().head() && !running->progress().stopped) {
    std::this_thread::yield();
  }
  EXPECT_EQ(running->progress().stopped, std::nullopt);
}

TEST(Projector, WritesWhatItHeldBackForWhoeverWaitsPausesOrStops) {
  Bookkeeper books(7);
  {
    Running running(books);
    flood(running, books);
    ASSERT_TRUE(running->wait_for(books.log().head()));
    EXPECT_EQ(running->projected(), books.log().head());
    flood(running, books);
    EXPECT_THAT(value_of(running->rebuild({})).differences, testing::IsEmpty());
    flood(running, books);
    running->stop();
    EXPECT_EQ(running->projected(), books.log().head());
  }
  Running again(books);
  EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
  EXPECT_EQ(again->opened().checkpoint, books.log().head());
}

TEST(Projector, ReadersAndTheFoldDoNotMeet) {
  Bookkeeper books(5);
  books.busy(200);
  Running running(books);
  std::vector<std::vector<Event>> groups;
  for (int i = 0; i < 200; ++i) groups.push_back(books.busy(15));
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const Position at = running->projected();
      const auto history = value_of(running->history({.resource = "hall", .limit = 10'000}, at));
      std::size_t expected = 0;
      for (const Event& event : books.events()) {
        if (event.position <= at && is_at_or_below(event, "hall")) ++expected;
      }
      EXPECT_EQ(history.items.size(), expected);
      const auto claims =
          value_of(running->claims({.state = StateFilter::all, .limit = 100'000}, books.now()));
      std::size_t held = 0;
      for (const Event& event : books.events()) {
        if (event.position <= claims.at && std::holds_alternative<Held>(event.happening)) ++held;
      }
      EXPECT_EQ(claims.items.size(), held);
    }
  });
  for (std::vector<Event>& group : groups) running.committed(std::move(group));
  EXPECT_TRUE(running->wait_for(books.log().head()));
  done = true;
  reader.join();
}

}  // namespace
}  // namespace holdfast::projections
