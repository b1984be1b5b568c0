// Answers and what they wait for.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "tests/ledger/running_ledger.h"

namespace holdfast {
namespace {

std::vector<Submission> one(Command command) {
  std::vector<Submission> commands;
  commands.emplace_back(std::move(command));
  return commands;
}

TEST(GroupCommit, AcceptedAndRefusedInOrderWithTheirPositions) {
  RunningLedger running;
  std::vector<Submission> commands;
  commands.emplace_back(hold("a", "h1"));
  commands.emplace_back(hold("a", "h2"));
  commands.emplace_back(hold("b", "h3"));
  commands.emplace_back(tl::unexpected(Refusal{.reason = Reason::bad_path}));
  std::promise<Position> answered;
  std::vector<std::string> texts;
  running.ledger().submit(std::move(commands), [&](std::vector<Outcome> outcomes, Position at) {
    for (const Outcome& outcome : outcomes) texts.push_back(text_of(outcome));
    answered.set_value(at);
  });
  EXPECT_EQ(answered.get_future().get(), Position{2});
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[0].substr(0, 7), "ok #1+1");
  EXPECT_EQ(texts[1].substr(0, 8), "conflict");
  EXPECT_EQ(texts[2].substr(0, 7), "ok #2+1");
  EXPECT_EQ(texts[3], "bad_path");
}

TEST(GroupCommit, WhatWasAnsweredIsThereAfterACrash) {
  RunningLedger running;
  for (int i = 1; i <= 20; ++i) {
    const std::string key = "h" + std::to_string(i);
    ASSERT_TRUE(running.submit(hold("p/" + key, key)));
    running.crash();
    EXPECT_EQ(running.log().head(), Position{static_cast<std::uint64_t>(i)});
    EXPECT_EQ(running.show(key).substr(0, key.size() + 5), key + " held");
  }
}

TEST(GroupCommit, EveryAnswerWaitsForTheGroupsBeforeIt) {
  RunningLedger running;
  running.maps().hold_back(true);
  std::mutex mutex;
  std::vector<std::string> order;
  const auto say = [&](std::string what) {
    const std::lock_guard lock(mutex);
    order.push_back(std::move(what));
  };
  running.ledger().submit(one(hold("a", "h1")), [&](auto, Position) { say("accepted"); });
  running.maps().wait_until_held_back();
  running.ledger().submit(one(hold("a", "h2")), [&](auto, Position) { say("refused"); });
  running.ledger().read([&](const State&, Instant) -> Ledger::Deliver {
    return [&](Position at) { say("read at " + std::to_string(at.value)); };
  });
  running.ledger().submit(one(testing::command_of("release h1 holder=app")),
                          [&](auto, Position) { say("released"); });
  std::promise<void> decided;
  running.ledger().read([&](const State&, Instant) -> Ledger::Deliver {
    decided.set_value();
    return [](Position) {};
  });
  decided.get_future().wait();
  {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(order.empty()) << "decided, but what they saw is not answered for yet";
  }
  running.maps().hold_back(false);
  running.now();
  EXPECT_EQ(order, (std::vector<std::string>{"accepted", "refused", "read at 1", "released"}));
}

TEST(GroupCommit, ReadsSeeWhatWasSubmittedBefore) {
  RunningLedger running;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "h" + std::to_string(i);
    running.ledger().submit(one(hold(key, key)), [](auto, Position) {});
    EXPECT_NE(running.show(key), "none");
  }
}

TEST(GroupCommit, AReadNeedsNoWrite) {
  RunningLedger running;
  running.submit(hold("a", "h1"));
  running.disk().fail_syncs_after(0);
  EXPECT_NE(running.show("h1"), "none");
  EXPECT_EQ(text_of(running.submit(hold("a", "h2"))).substr(0, 8), "conflict");
  running.disk().heal();
}

TEST(GroupCommit, AFullQueueIsOverloadedAtOnce) {
  LedgerOptions options = RunningLedger::quiet();
  options.max_queued_commands = 4;
  RunningLedger running(options);
  std::promise<void> go_on;
  std::promise<void> reading;
  running.ledger().read([&](const State&, Instant) -> Ledger::Deliver {
    reading.set_value();
    go_on.get_future().wait();
    return [](Position) {};
  });
  reading.get_future().wait();
  std::atomic<int> accepted = 0;
  for (int i = 0; i < 4; ++i) {
    const std::string key = "h" + std::to_string(i);
    running.ledger().submit(one(hold(key, key)), [&](std::vector<Outcome> outcomes, Position) {
      accepted += outcomes.front().has_value() ? 1 : 0;
    });
  }
  std::vector<std::string> said;
  running.ledger().submit(one(hold("x", "x")), [&](std::vector<Outcome> outcomes, Position) {
    said.push_back(text_of(outcomes.front()));
  });
  EXPECT_EQ(said, std::vector<std::string>{"overloaded"}) << "from the calling thread";
  go_on.set_value();
  running.now();
  EXPECT_EQ(accepted, 4);
  EXPECT_TRUE(running.submit(hold("x", "x"))) << "there is room again";
}

TEST(GroupCommit, OneSubmissionLargerThanAllBounds) {
  LedgerOptions options = RunningLedger::quiet();
  options.max_queued_commands = 8;
  options.max_group_commands = 4;
  RunningLedger running(options);
  std::vector<Submission> commands;
  for (int i = 0; i < 100; ++i) {
    commands.emplace_back(hold("p" + std::to_string(i), "k" + std::to_string(i)));
  }
  const auto outcomes = running.submit(std::move(commands));
  EXPECT_EQ(outcomes.size(), 100u);
  EXPECT_EQ(running.log().head(), Position{100});
}

TEST(GroupCommit, StopAnswersWhatWasSubmitted) {
  RunningLedger running;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string key = "h" + std::to_string(i);
    running.ledger().submit(one(hold(key, key)), [&](auto, Position) { ++answered; });
  }
  running.ledger().stop();
  EXPECT_EQ(answered, 300);
  EXPECT_EQ(running.log().head(), Position{300});
  running.ledger().stop();
}

TEST(GroupCommit, KeysLeftOutAreFreshAndInOrderOfTime) {
  RunningLedger running;
  std::string last;
  for (int i = 0; i < 20; ++i) {
    Command command = hold("p" + std::to_string(i), "x");
    std::get<Hold>(command.action).key.reset();
    const auto outcome = running.submit(std::move(command));
    ASSERT_TRUE(outcome);
    const std::string key = outcome->claim->key.str();
    EXPECT_EQ(key.size(), 36u);
    EXPECT_EQ(key[14], '7');
    EXPECT_NE(std::string("89ab").find(key[19]), std::string::npos);
    EXPECT_GT(key, last);
    last = key;
    running.time.pass({1});
  }
}

// Faults of storage.

TEST(Fatal, AFailedSyncIsToldOnceAndNothingIsAnsweredAfter) {
  RunningLedger running;
  running.submit(hold("a", "h1"));
  std::atomic<int> told = 0;
  std::promise<void> failed;
  running.ledger().on_fatal([&](const store::StorageError&) {
    ++told;
    failed.set_value();
  });
  running.disk().fail_syncs_after(0);
  std::atomic<int> answered = 0;
  running.ledger().submit(one(hold("b", "h2")), [&](auto, Position) { ++answered; });
  failed.get_future().wait();
  running.disk().heal();
  running.ledger().submit(one(hold("c", "h3")), [&](auto, Position) { ++answered; });
  running.ledger().read(
      [&](const State&, Instant) -> Ledger::Deliver { return [&](Position) { ++answered; }; });
  running.ledger().stop();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(answered, 0);
  running.crash();
  EXPECT_NE(running.show("h1"), "none");
  EXPECT_TRUE(running.submit(hold("d", "h4"))) << "a restart recovers";
}

TEST(Fatal, WhatCannotBeRecalledCannotBeDecided) {
  RunningLedger running;
  std::promise<std::string> failed;
  running.ledger().on_fatal(
      [&](const store::StorageError& error) { failed.set_value(error.what); });
  running.maps().fail();
  std::atomic<int> answered = 0;
  running.ledger().submit(one(hold("b", "h2")), [&](auto, Position) { ++answered; });
  EXPECT_EQ(failed.get_future().get(), "the maps are torn");
  running.ledger().stop();
  EXPECT_EQ(answered, 0);
}

// The latest instant.

TEST(LatestInstant, IsKeptOverACleanStop) {
  RunningLedger running;
  running.time.pass(kMinute);
  const Instant used = running.now();
  running.time.step_wall({-40'000});
  running.restart();
  EXPECT_EQ(running.now(), used) << "the clock starts again where it was";
}

TEST(LatestInstant, OfWhatWasWrittenIsKeptOverACrash) {
  RunningLedger running;
  running.time.pass(kMinute);
  running.submit(hold("a", "h1"));
  running.time.step_wall({-40'000});
  running.crash();
  EXPECT_EQ(running.now(), testing::kT0 + kMinute);
}

TEST(LatestInstant, OfReadsIsKeptWithinASecond) {
  RunningLedger running;
  running.time.pass(kMinute);
  running.now();
  running.time.pass({1'000});
  running.now();
  running.now();  // what was done after the answers of the one before is done now
  running.time.step_wall({-40'000});
  running.crash();
  EXPECT_GE(running.now(), testing::kT0 + kMinute);
}

TEST(ClockUnsafe, CommandsStopUntilAnOperatorConfirms) {
  RunningLedger running;
  running.submit(hold("a", "h1"));
  running.time.step_wall({2 * kHour.ms});
  EXPECT_EQ(running.run("hold b key=h2"), "clock_unsafe");
  EXPECT_TRUE(running.ledger().status().clock_unsafe);
  EXPECT_EQ(running.show("h1").substr(0, 7), "h1 held") << "queries go on, by the steady clock";
  std::promise<void> confirmed;
  running.ledger().confirm_clock([&] { confirmed.set_value(); });
  confirmed.get_future().wait();
  EXPECT_FALSE(running.ledger().status().clock_unsafe);
  EXPECT_EQ(running.now(), testing::kT0 + Duration{2 * kHour.ms});
  EXPECT_EQ(running.run("hold b key=h2").substr(0, 2), "ok");
}

}  // namespace
}  // namespace holdfast
