#include "ledger/access/access_log.h"

#include <gmock/gmock.h>
#include <thread>

#include "tests/ledger/access/opened.h"

namespace holdfast::access {
namespace {

using AccessLogTest = OpenedLog;
using testing::HasSubstr;

TEST_F(AccessLogTest, HoldsWhatWasRecordedInOrder) {
  const auto log = open();
  log->record(query_of("ann"));
  time_.pass(kSecond);
  log->record({.actor = "bob",
               .source = "10.0.0.7:4711",
               .ledger_position = {12},
               .what = Refused{.command = "hold", .reason = "conflict", .in_the_way = {9}}});
  ASSERT_TRUE(log->flush());
  const auto records = all(*log);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0], (Record{{1}, kNoon, query_of("ann")}));
  EXPECT_EQ(records[1].position, Position{2});
  EXPECT_EQ(records[1].at, kNoon + kSecond);
  EXPECT_EQ(records[1].entry.ledger_position, Position{12});
  EXPECT_EQ(std::get<Refused>(records[1].entry.what).in_the_way, Position{9});
}

TEST_F(AccessLogTest, WritesWithoutBeingAsked) {
  const auto log = open();
  log->record(query_of("ann"));
  while (!log->records().head()) std::this_thread::yield();
  EXPECT_EQ(all(*log).size(), 1u);
}

TEST_F(AccessLogTest, GoesOnAfterAStop) {
  open()->record(query_of("ann"));
  const auto log = open();
  ASSERT_TRUE(log) << error_;
  log->record(query_of("bob"));
  log->stop();
  ASSERT_EQ(all(*log).size(), 2u);
  EXPECT_FALSE(log->failure());
  log->record(query_of("cat"));
  EXPECT_TRUE(log->flush());  // of nothing
  EXPECT_EQ(all(*log).size(), 2u);
}

TEST_F(AccessLogTest, AFlushedRecordOutlivesACrash) {
  auto log = open();
  for (int i = 0; i < 100; ++i) {
    log->record(query_of("ann"));
    ASSERT_TRUE(log->flush());
  }
  log->record(query_of("bob"));
  disk_.crash();
  log.reset();
  log = open();
  ASSERT_TRUE(log) << error_;
  const auto records = all(*log);
  ASSERT_GE(records.size(), 100u);
  ASSERT_LE(records.size(), 101u);
  for (std::size_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i].position.value, i + 1);
}

TEST_F(AccessLogTest, ManyRecordAndFlushAtOnce) {
  const auto log = open({.per_minute = 1'000'000});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&log, thread] {
      for (int i = 0; i < 200; ++i) {
        log->record(query_of("actor-" + std::to_string(thread)));
        ASSERT_TRUE(log->flush());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(all(*log).size(), 800u);
}

TEST_F(AccessLogTest, InstantsNeverGoBack) {
  const auto log = open();
  log->record(query_of("ann"));
  time_.step_wall({-kHour.ms});
  log->record(query_of("ann"));
  ASSERT_TRUE(log->flush());
  EXPECT_GE(all(*log)[1].at, kNoon);
}

TEST_F(AccessLogTest, CountsWhatAFloodHasTooMuch) {
  const auto log = open({.per_minute = 3});
  for (int i = 0; i < 10; ++i) log->record(query_of("ann"));
  time_.pass(kMinute);
  log->record(query_of("bob"));
  ASSERT_TRUE(log->flush());
  const auto records = all(*log);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[3].entry, (Entry{.actor = "ann", .what = Dropped{"query", kNoon, 7}}));
  EXPECT_EQ(records[4].entry, query_of("bob"));
}

TEST_F(AccessLogTest, SaysAtAStopWhatWasDropped) {
  const auto log = open({.per_minute = 1});
  for (int i = 0; i < 3; ++i) log->record(query_of("ann"));
  log->stop();
  const auto records = all(*log);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].entry.what, What(Dropped{"query", kNoon, 2}));
}

TEST_F(AccessLogTest, AMinuteEndsThoughNothingIsRecorded) {
  const auto log = open({.per_minute = 1});
  for (int i = 0; i < 3; ++i) log->record(query_of("ann"));
  time_.pass(kMinute);
  while (log->records().head() < Position{2}) std::this_thread::yield();
  EXPECT_EQ(all(*log)[1].entry.what, What(Dropped{"query", kNoon, 2}));
}

TEST_F(AccessLogTest, AFullQueueDropsAndCounts) {
  // Nothing is written for so long that the queue is full, and nobody waits.
  const auto log = open({.max_queued = 4, .group = std::chrono::hours(1)});
  for (int i = 0; i < 1'000; ++i) log->record(query_of("ann-" + std::to_string(i % 10)));
  log->stop();
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;
  for (const Record& record : all(*log)) {
    const auto* count = std::get_if<Dropped>(&record.entry.what);
    if (count != nullptr) {
      dropped += count->count;
    } else {
      ++written;
    }
  }
  EXPECT_EQ(written + dropped, 1'000u);
  EXPECT_GT(dropped, 0u);
}

TEST_F(AccessLogTest, AFailedWriteIsSaidAndNothingIsKeptAfterwards) {
  const auto log = open();
  disk_.fail_syncs_after(0);
  log->record(query_of("ann"));
  EXPECT_FALSE(log->flush());
  ASSERT_TRUE(log->failure());
  log->record(query_of("ann"));
  EXPECT_FALSE(log->failure()->empty());
  log->stop();
  EXPECT_EQ(failed_, *log->failure());
  EXPECT_FALSE(log->records().head());
}

TEST_F(AccessLogTest, IsNotOpenedBehindItsWatermark) {
  auto log = open();
  log->record(query_of("ann"));
  log.reset();
  const auto fs = disk_.mount();
  ASSERT_TRUE(fs->RenameFile("/data/access/ledger", "/data/away", {}, nullptr).ok());
  EXPECT_FALSE(open());
  EXPECT_THAT(error_, HasSubstr("the access log: "));
  EXPECT_THAT(error_, HasSubstr("--accept-access-loss-from 1"));
  log = open({.accept_loss_from = Position{1}});
  ASSERT_TRUE(log) << error_;
  ASSERT_TRUE(log->records().parent());
}

TEST_F(AccessLogTest, ALogThatWasTakenAwayHasANewId) {
  auto log = open();
  const auto before = log->records().id();
  log->record(query_of("ann"));
  log.reset();
  const auto fs = disk_.mount();
  ASSERT_TRUE(fs->RenameFile("/data/access/ledger", "/data/away", {}, nullptr).ok());
  ASSERT_TRUE(fs->DeleteFile("/data/access/watermark", {}, nullptr).ok());
  log = open();
  ASSERT_TRUE(log) << error_;
  EXPECT_NE(log->records().id(), before);
  EXPECT_FALSE(log->records().head());
}

}  // namespace
}  // namespace holdfast::access
