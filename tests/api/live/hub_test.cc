#include "api/live/hub.h"

#include <gtest/gtest.h>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>

#include "api/framing.h"
#include "ledger/store/memory_file_system.h"
#include "tests/api/live/listener.h"
#include "tests/ledger/store/sample_events.h"

namespace holdfast::api {
namespace {

using Mark = wire::Mark;

// What the projector would get.
class Counter final : public CommittedSink {
 public:
  void committed(CommittedEvents events) override { events_ += events->size(); }
  std::uint64_t events() const { return events_; }

 private:
  std::atomic<std::uint64_t> events_{0};
};

// A log over a disk in memory with a hub in front; the test commits.
class LiveLog {
 public:
  explicit LiveLog(HubOptions options = {}) {
    store::OpenOptions log_options;
    log_options.fs = disk_.mount();
    log_options.dir = "/data";
    auto opened = store::Log::open(log_options);
    EXPECT_TRUE(opened) << opened.error().what;
    log_ = std::move(*opened);
    hub_ = std::make_unique<Hub>(*log_, counter_, time_, options);
  }

  // A group of holds.
  void commit(std::uint64_t count) {
    const std::uint64_t head = log_->head().value;
    commit(store::numbered_holds(head + 1, head + count));
  }
  void commit(std::vector<Event> events) {
    const auto done = log_->append(events, {.latest = events.back().recorded_at, .import = {}});
    ASSERT_TRUE(done) << done.error().what;
    hub_->committed(std::make_shared<const std::vector<Event>>(std::move(events)));
  }

  tl::expected<void, Refusal> subscribe(Listener& listener, std::optional<std::uint64_t> from = {},
                                        EventFilter filter = {}) {
    Subscribe subscribe{std::move(filter), std::nullopt};
    if (from) subscribe.from = Position{*from};
    return hub_->subscribe(subscribe, listener.outlet());
  }

  std::function<void()> wake() {
    return [this] { hub_->wake(); };
  }
  store::MemoryDisk& disk() { return disk_; }
  store::Log& log() { return *log_; }
  Hub& hub() { return *hub_; }
  const Counter& counter() const { return counter_; }
  std::uint64_t head() const { return log_->head().value; }

 private:
  store::MemoryDisk disk_;
  MachineTime time_;
  Counter counter_;
  std::unique_ptr<store::Log> log_;
  std::unique_ptr<Hub> hub_;
};

std::vector<std::uint64_t> positions(std::uint64_t from, std::uint64_t until) {
  std::vector<std::uint64_t> all(until + 1 - from);
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST(Hub, CatchesUpAndGoesOnLiveWithoutAGapOrARepeat) {
  LiveLog live;
  for (int i = 0; i < 50; ++i) live.commit(100);
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) live.commit(25);
  });
  std::vector<std::unique_ptr<Listener>> listeners;
  const std::vector<std::uint64_t> from = {1, 2, 2'048, 2'049, 4'999, 5'000};
  for (const std::uint64_t first : from) {
    listeners.push_back(std::make_unique<Listener>(live.wake()));
    ASSERT_TRUE(live.subscribe(*listeners.back(), first));
  }
  writer.join();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Listener& listener = *listeners[i];
    ASSERT_TRUE(listener.wait_for_position(10'000));
    EXPECT_EQ(listener.events(), positions(from[i], 10'000));
    EXPECT_EQ(listener.messages().front().mark, Mark::BEGUN);
    EXPECT_EQ(listener.messages().front().position, from[i] - 1);
    EXPECT_TRUE(listener.wait_for(Mark::CAUGHT_UP));
    EXPECT_EQ(listener.count(Mark::CAUGHT_UP), 1u);
  }
  EXPECT_EQ(live.counter().events(), 10'000u);
}

TEST(Hub, WhatHadHappenedWhenItSubscribedComesBeforeTheMark) {
  LiveLog live;
  for (int i = 0; i < 300; ++i) {
    live.commit(3);
    Listener listener(live.wake());
    const std::uint64_t head = live.head();
    ASSERT_TRUE(live.subscribe(listener, head));
    ASSERT_TRUE(listener.wait_for(Mark::CAUGHT_UP));
    EXPECT_EQ(listener.events(), std::vector<std::uint64_t>{head});
    listener.outlet()->close();
  }
}

TEST(Hub, FromNowOnSeesOnlyWhatComes) {
  LiveLog live;
  live.commit(10);
  Listener listener(live.wake());
  ASSERT_TRUE(live.subscribe(listener));
  live.commit(5);
  ASSERT_TRUE(listener.wait_for_position(15));
  EXPECT_EQ(listener.events(), positions(11, 15));
}

TEST(Hub, BeyondTheNextEventIsRefused) {
  LiveLog live;
  live.commit(10);
  Listener listener(live.wake());
  for (const std::uint64_t from : {12ull, 1'000ull, ~0ull >> 1}) {
    const auto refused = live.subscribe(listener, from);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Reason::bad_time);
  }
  ASSERT_TRUE(live.subscribe(listener, 11));
  live.commit(1);
  ASSERT_TRUE(listener.wait_for_position(11));
  EXPECT_EQ(listener.events(), positions(11, 11));
}

TEST(Hub, WhatItCannotQueueItReadsFromTheLog) {
  LiveLog live({.heartbeat = kHour, .max_queued_events = 10});
  Listener listener(live.wake());
  ASSERT_TRUE(live.subscribe(listener));
  for (std::uint64_t i = 0; i < 100; ++i) live.commit(i % 20 + 1);
  ASSERT_TRUE(listener.wait_for_position(live.head()));
  EXPECT_EQ(listener.events(), positions(1, live.head()));
  EXPECT_EQ(listener.count(Mark::CAUGHT_UP), 1u);
}

TEST(Hub, WhoDoesNotKeepUpIsCutOffWithThePositionToGoOnFrom) {
  LiveLog live({.max_unsent_bytes = 100'000});
  Listener slow(live.wake(), false);
  Listener other(live.wake());
  ASSERT_TRUE(live.subscribe(slow));
  ASSERT_TRUE(live.subscribe(other));
  ASSERT_TRUE(slow.wait_for(Mark::CAUGHT_UP));
  for (int i = 0; i < 200; ++i) live.commit(20);
  ASSERT_TRUE(slow.wait_for(Mark::ENDED));
  const auto last = slow.messages().back();
  EXPECT_EQ(last.end, wire::SubscriptionEnd::SLOW);
  EXPECT_LT(last.position, live.head());
  EXPECT_EQ(slow.events(), positions(1, last.position));
  // The limit, and the message that reached it.
  EXPECT_LT(slow.most_waiting_bytes(), 500'000u);
  ASSERT_TRUE(other.wait_for_position(live.head()));

  Listener again(live.wake());
  ASSERT_TRUE(live.subscribe(again, last.position + 1));
  ASSERT_TRUE(again.wait_for_position(live.head()));
  EXPECT_EQ(again.events(), positions(last.position + 1, live.head()));
}

TEST(Hub, CatchingUpWaitsForItsReader) {
  constexpr std::size_t kLimit = 200'000;
  LiveLog live({.max_unsent_bytes = kLimit});
  for (int i = 0; i < 100; ++i) live.commit(200);
  Listener slow(live.wake(), false);
  Listener quick(live.wake());
  ASSERT_TRUE(live.subscribe(slow, 1));
  ASSERT_TRUE(live.subscribe(quick, 1));
  ASSERT_TRUE(quick.wait_for_position(20'000));
  EXPECT_EQ(slow.count(Mark::ENDED), 0u);
  EXPECT_LT(slow.events().size(), 10'000u);
  // Half the limit, and what is read of the log at once.
  EXPECT_LT(slow.most_waiting_bytes(), kLimit / 2 + (3u << 20));
  slow.read();
  ASSERT_TRUE(slow.wait_for_position(20'000));
  EXPECT_EQ(slow.events(), positions(1, 20'000));
}

TEST(Hub, WithoutMemoryForMoreALiveOneIsCutOff) {
  LiveLog live;
  Listener listener(live.wake(), false, 1'000);
  ASSERT_TRUE(live.subscribe(listener));
  ASSERT_TRUE(listener.wait_for(Mark::CAUGHT_UP));
  live.commit(10);
  ASSERT_TRUE(listener.wait_for_position(10));  // more than the memory there is
  live.commit(10);
  ASSERT_TRUE(listener.wait_for(Mark::ENDED));
  EXPECT_EQ(listener.messages().back().end, wire::SubscriptionEnd::SLOW);
  EXPECT_EQ(listener.events(), positions(1, 10));
}

TEST(Hub, NoMessageIsLargerThanAMessageMayBe) {
  LiveLog live;
  auto events = store::numbered_holds(1, 300);
  for (Event& event : events) {
    Defined defined;
    for (int i = 0; i < 32; ++i) {
      defined.definition.attributes.emplace(AttributeName::trusted("a" + std::to_string(i)),
                                            Note::trusted(std::string(4'096, 'x')));
    }
    event.key.reset();
    event.happening = std::move(defined);
  }
  Listener live_one(live.wake());
  ASSERT_TRUE(live.subscribe(live_one));
  ASSERT_TRUE(live_one.wait_for(Mark::CAUGHT_UP));
  live.commit(std::move(events));
  Listener catching_up(live.wake());
  ASSERT_TRUE(live.subscribe(catching_up, 1));
  for (Listener* listener : {&live_one, &catching_up}) {
    ASSERT_TRUE(listener->wait_for_position(300));
    EXPECT_LT(listener->largest_bytes(), kMaxMessageBytes / 2);
  }
}

TEST(Hub, AHeartbeatTellsAQuietWatcherHowFarItIs) {
  LiveLog live({.heartbeat = Duration{20}});
  live.commit(100);
  Listener listener(live.wake());
  ASSERT_TRUE(live.subscribe(listener, 1, {.resource = "nothing/happens/here"}));
  ASSERT_TRUE(listener.wait_for(Mark::CAUGHT_UP));
  live.commit(50);
  ASSERT_TRUE(listener.wait_until([](const Listener::Message& message) {
    return message.mark == Mark::HEARTBEAT && message.position == 150;
  }));
  EXPECT_TRUE(listener.events().empty());
}

TEST(Hub, AskedToEndItSaysSoLast) {
  LiveLog live;
  Listener listener(live.wake());
  ASSERT_TRUE(live.subscribe(listener));
  live.commit(10);
  ASSERT_TRUE(listener.wait_for_position(10));
  listener.outlet()->end(wire::SubscriptionEnd::UNSUBSCRIBED);
  ASSERT_TRUE(listener.wait_for(Mark::ENDED));
  live.commit(10);
  Listener later(live.wake());
  ASSERT_TRUE(live.subscribe(later, 20));
  ASSERT_TRUE(later.wait_for_position(20));
  EXPECT_EQ(listener.messages().back().end, wire::SubscriptionEnd::UNSUBSCRIBED);
  EXPECT_EQ(listener.messages().back().position, 10u);
  EXPECT_EQ(listener.events(), positions(1, 10));
}

TEST(Hub, ALogThatCannotBeReadEndsWhoNeedsIt) {
  LiveLog live;
  live.commit(10);
  live.disk().fail_appends_after(0);
  const auto events = store::numbered_holds(11, 12);
  ASSERT_FALSE(live.log().append(events, {.latest = events.back().recorded_at, .import = {}}));
  Listener listener(live.wake());
  ASSERT_TRUE(live.subscribe(listener, 1));
  ASSERT_TRUE(listener.wait_for(Mark::ENDED));
  EXPECT_EQ(listener.messages().back().end, wire::SubscriptionEnd::UNAVAILABLE);
  EXPECT_EQ(listener.messages().back().position, 0u);
}

}  // namespace
}  // namespace holdfast::api
