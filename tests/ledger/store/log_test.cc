#include "ledger/store/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/store/memory_file_system.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::store {
namespace {

using ::testing::HasSubstr;

class LogTest : public ::testing::Test {
 protected:
  LogTest() { reopen(); }

  void reopen() {
    log_.reset();
    log_ = opened({.fs = disk_.mount(), .dir = "/data"});
  }
  void crash() {
    disk_.crash();
    reopen();
  }
  std::vector<Event> scanned(std::uint64_t from, std::uint64_t until) const {
    std::vector<Event> events;
    const auto done = log_->scan({from}, {until}, [&](Event&& event) {
      events.push_back(std::move(event));
      return true;
    });
    EXPECT_TRUE(done) << done.error().what;
    return events;
  }

  MemoryDisk disk_;
  std::unique_ptr<Log> log_;
};

TEST_F(LogTest, ANewLedgerIsEmptyAndKeepsItsId) {
  EXPECT_EQ(log_->head(), Position{});
  EXPECT_EQ(log_->root(), MerkleFrontier().root());
  EXPECT_FALSE(log_->parent());
  EXPECT_FALSE(log_->import());
  const LedgerId id = log_->id();
  EXPECT_NE(id, LedgerId{});
  reopen();
  EXPECT_EQ(log_->id(), id);
}

TEST_F(LogTest, WhatWasAppendedIsReadBeforeAndAfterReopening) {
  append_groups(*log_, 10);
  const Digest root = log_->root();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(log_->head(), Position{1000});
    EXPECT_EQ(log_->root(), root);
    EXPECT_TRUE(scanned(1, 1000) == numbered_holds(1, 1000));
    EXPECT_TRUE(scanned(250, 251) == numbered_holds(250, 251));
    EXPECT_TRUE(*log_->read(Position{777}) == numbered_hold(777));
    reopen();
  }
}

TEST_F(LogTest, ManyPositionsAreReadInTheOrderAskedFor) {
  append_groups(*log_, 10);
  std::vector<Position> positions;
  for (std::uint64_t i = 0; i < 900; ++i) positions.push_back({1 + i * 7 % 1000});
  const auto events = log_->read(positions);
  ASSERT_TRUE(events) << events.error().what;
  ASSERT_EQ(events->size(), positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    ASSERT_EQ((*events)[i].position, positions[i]);
  }
}

TEST_F(LogTest, BeyondTheHeadIsAnError) {
  append_groups(*log_, 1);
  EXPECT_EQ(log_->read(Position{101}).error().what,
            "there is no position 101: the log ends at position 100");
  EXPECT_FALSE(log_->read(Position{0}));
  EXPECT_FALSE(log_->scan({100}, {101}, [](Event&&) { return true; }));
  EXPECT_TRUE(log_->scan({101}, {100}, [](Event&&) { return true; }));
}

TEST_F(LogTest, AScanStopsWhenToldTo) {
  append_groups(*log_, 1);
  int seen = 0;
  ASSERT_TRUE(log_->scan({1}, {100}, [&](Event&&) { return ++seen < 7; }));
  EXPECT_EQ(seen, 7);
}

TEST_F(LogTest, PositionsThatAreNotDenseStopTheProcess) {
  const auto events = numbered_holds(2, 2);
  EXPECT_DEATH((void)log_->append(events, {}), "positions are dense");
}

TEST_F(LogTest, EveryGroupThatReturnedOutlivesACrash) {
  for (int round = 1; round <= 12; ++round) {
    append_groups(*log_, 3);
    crash();
    ASSERT_TRUE(log_);
    ASSERT_EQ(log_->head(), Position{300u * static_cast<unsigned>(round)});
  }
  EXPECT_TRUE(scanned(1, 3600) == numbered_holds(1, 3600));
  EXPECT_EQ(merkle_root(3600, [&](MerkleNode node) { return log_->records().node(node); }),
            log_->root());
}

TEST_F(LogTest, TheLatestInstantOutlivesACrashAndNeverGoesBack) {
  ASSERT_TRUE(log_->append({}, {.latest = {5000}, .import = {}}));
  ASSERT_TRUE(log_->refresh({7000}));
  ASSERT_TRUE(log_->append({}, {.latest = {6000}, .import = {}}));
  EXPECT_EQ(log_->latest(), Instant{7000});
  crash();
  EXPECT_EQ(log_->latest(), Instant{7000});
}

TEST_F(LogTest, ImportProgressIsDurable) {
  const ImportProgress progress{
      .file = {}, .line = 42, .clock = {99}, .stage = ImportStage::awaiting};
  ASSERT_TRUE(log_->append(numbered_holds(1, 2), {.latest = {}, .import = progress}));
  crash();
  ASSERT_TRUE(log_->append(numbered_holds(3, 3), {}));
  ASSERT_TRUE(log_->import());
  EXPECT_EQ(log_->import()->line, 42u);
  EXPECT_EQ(log_->import()->clock, Instant{99});
  EXPECT_EQ(log_->import()->stage, ImportStage::awaiting);
  ImportProgress over = progress;
  over.stage = ImportStage::ended;
  ASSERT_TRUE(log_->append({}, {.latest = {}, .import = over}));
  crash();
  ASSERT_TRUE(log_->import());
  EXPECT_EQ(log_->import()->stage, ImportStage::ended);
}

class Failing : public LogTest, public ::testing::WithParamInterface<int> {};

// Whichever write or sync of a group fails: no answer, none after it, and a restart has every
// group that was answered.
TEST_P(Failing, AFailureIsForGood) {
  append_groups(*log_, 2);
  const int which = GetParam();
  if (which < 2) disk_.fail_appends_after(static_cast<std::uint64_t>(which));
  if (which >= 2) disk_.fail_syncs_after(static_cast<std::uint64_t>(which - 2));
  const auto failed = log_->append(numbered_holds(201, 300), {});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("injected failure"));
  EXPECT_EQ(log_->head(), Position{200});
  disk_.heal();
  EXPECT_FALSE(log_->append(numbered_holds(201, 300), {}));
  EXPECT_FALSE(log_->refresh({}));
  EXPECT_FALSE(log_->read(Position{1}));
  EXPECT_FALSE(log_->scan({1}, {1}, [](Event&&) { return true; }));
  crash();
  ASSERT_TRUE(log_);
  const Position head = log_->head();
  EXPECT_TRUE(head == Position{200} || head == Position{300}) << head.value;
  EXPECT_TRUE(scanned(1, head.value) == numbered_holds(1, head.value));
  append_groups(*log_, 1);
}

// 0, 1: the append to the WAL, the watermark's write; 2, 3: their syncs.
INSTANTIATE_TEST_SUITE_P(EveryStep, Failing, ::testing::Values(0, 1, 2, 3));

TEST_F(LogTest, ACreationBrokenOffAnywhereIsSimplyMadeAgain) {
  bool whole = false;
  for (std::uint64_t syncs = 0; !whole && syncs < 100; ++syncs) {
    MemoryDisk disk;
    disk.fail_syncs_after(syncs);
    whole = Log::open({.fs = disk.mount(), .dir = "/data"}).has_value();
    disk.heal();
    disk.crash();
    const auto log = opened({.fs = disk.mount(), .dir = "/data"});
    ASSERT_TRUE(log) << "after " << syncs << " syncs";
    ASSERT_EQ(log->head(), Position{});
    append_groups(*log, 1);
  }
  EXPECT_TRUE(whole);
}

TEST_F(LogTest, ReadOnlyReadsAndChangesNothing) {
  TemporaryData temporary;
  {
    const auto log = opened({.dir = temporary.data()});
    append_groups(*log, 2);
  }
  const Files before = files_of(temporary.data());
  {
    const auto log = opened({.dir = temporary.data(), .read_only = true});
    ASSERT_TRUE(log);
    EXPECT_EQ(log->head(), Position{200});
    EXPECT_TRUE(*log->read(Position{200}) == numbered_hold(200));
  }
  EXPECT_TRUE(files_of(temporary.data()) == before);
}

TEST_F(LogTest, ReadOnlyMakesNoLedger) {
  TemporaryData temporary;
  const std::string error = refusal({.dir = temporary.data(), .read_only = true});
  EXPECT_EQ(error, "there is no ledger in " + temporary.data());
  EXPECT_FALSE(std::filesystem::exists(temporary.data()));
}

TEST_F(LogTest, ASecondServerOnTheSameDataIsTurnedAway) {
  EXPECT_THAT(refusal({.fs = disk_.mount(), .dir = "/data"}),
              HasSubstr("/data is already in use by another holdfastd"));
  TemporaryData temporary;
  const auto first = opened({.dir = temporary.data()});
  EXPECT_THAT(refusal({.dir = temporary.data()}), HasSubstr("already in use"));
}

}  // namespace
}  // namespace holdfast::store
