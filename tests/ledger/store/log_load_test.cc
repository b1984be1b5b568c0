#include "ledger/store/log_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/store/event_codec.h"
#include "ledger/store/memory_file_system.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::store {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kEvents = 300;
constexpr auto kDir = "/loaded";

class LogLoadTest : public ::testing::Test {
 protected:
  LogLoadTest() {
    const auto log = opened({.fs = disk_.mount(), .dir = "/data"});
    append_groups(*log, 3);
    parent_ = {log->id(), log->head(), log->root()};
    latest_ = log->latest();
    for (const Event& event : numbered_holds(1, kEvents)) {
      encode(event, records_.emplace_back());
    }
  }

  tl::expected<LogLoad, StorageError> begin() {
    return LogLoad::begin(disk_.mount(), kDir, parent_);
  }
  // The id of the ledger that the records were loaded into, or why they were not.
  tl::expected<LedgerId, StorageError> load() {
    auto load = begin();
    if (!load) return tl::unexpected(load.error());
    if (load->done()) return *load->done();
    const auto events = numbered_holds(1, kEvents);
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (auto added = load->add(records_[i], events[i].recorded_at); !added) {
        return tl::unexpected(added.error());
      }
    }
    return load->finish();
  }
  std::string refused() {
    const auto loaded = load();
    EXPECT_FALSE(loaded);
    return loaded ? "" : loaded.error().what;
  }
  void expect_loaded(const LedgerId& id) {
    const auto log = opened({.fs = disk_.mount(), .dir = kDir});
    ASSERT_TRUE(log);
    EXPECT_EQ(log->id(), id);
    EXPECT_EQ(log->head(), parent_.position);
    EXPECT_EQ(log->root(), parent_.root);
    EXPECT_EQ(log->latest(), latest_);
    ASSERT_TRUE(log->parent());
    EXPECT_EQ(log->parent()->id, parent_.id);
    EXPECT_EQ(log->parent()->position, parent_.position);
    EXPECT_EQ(log->parent()->root, parent_.root);
    EXPECT_EQ(log->read(Position{kEvents})->position, Position{kEvents});
    EXPECT_FALSE(disk_.mount()->FileExists("/loaded/loading", {}, nullptr).ok());
  }

  MemoryDisk disk_;
  Parent parent_;
  Instant latest_;
  std::vector<std::string> records_;
};

TEST_F(LogLoadTest, MakesALedgerOfItsOwnWithTheSameRoot) {
  const auto id = load();
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_NE(*id, parent_.id);
  expect_loaded(*id);
}

TEST_F(LogLoadTest, ComesToTheSameWhenItIsRunAgain) {
  const auto id = load();
  ASSERT_TRUE(id);
  EXPECT_EQ(*load(), *id);
  expect_loaded(*id);
}

TEST_F(LogLoadTest, TakesTheFolderOfALedgerThatNothingWasWrittenTo) {
  opened({.fs = disk_.mount(), .dir = kDir});
  const auto id = load();
  ASSERT_TRUE(id) << id.error().what;
  expect_loaded(*id);
}

TEST_F(LogLoadTest, LeavesALedgerWithEventsAlone) {
  LedgerId own;
  {
    const auto log = opened({.fs = disk_.mount(), .dir = kDir});
    append_groups(*log, 1);
    own = log->id();
  }
  EXPECT_EQ(refused(),
            "/loaded has a ledger of 100 events: an export is loaded into an empty folder");
  EXPECT_EQ(opened({.fs = disk_.mount(), .dir = kDir})->id(), own);
}

TEST_F(LogLoadTest, LeavesALoadedLedgerAloneThatHasGrown) {
  ASSERT_TRUE(load());
  append_groups(*opened({.fs = disk_.mount(), .dir = kDir}), 1);
  EXPECT_THAT(refused(), HasSubstr("has a ledger of 400 events"));
}

TEST_F(LogLoadTest, LeavesAFolderAloneWhoseLedgerIsGone) {
  append_groups(*opened({.fs = disk_.mount(), .dir = kDir}), 1);
  const auto fs = disk_.mount();
  std::vector<std::string> names;
  ASSERT_TRUE(fs->GetChildren("/loaded/ledger", {}, &names, nullptr).ok());
  for (const auto& name : names) fs->DeleteFile("/loaded/ledger/" + name, {}, nullptr);
  ASSERT_TRUE(fs->DeleteDir("/loaded/ledger", {}, nullptr).ok());
  EXPECT_THAT(refused(), HasSubstr("had a ledger of 100 events, whose watermark is there"));
}

TEST_F(LogLoadTest, LeavesALedgerInUseAlone) {
  const auto fs = disk_.mount();
  const auto running = opened({.fs = fs, .dir = kDir});
  const auto load = LogLoad::begin(fs, kDir, parent_);
  ASSERT_FALSE(load);
  EXPECT_THAT(load.error().what, HasSubstr("already in use"));
}

TEST_F(LogLoadTest, KeepsNothingOfRecordsWithAnotherRoot) {
  records_.back() = records_.front();
  EXPECT_EQ(refused(), "what was loaded is not what it should be; nothing of it was kept");
  records_.pop_back();
  EXPECT_EQ(refused(), "what was loaded is not what it should be; nothing of it was kept");
  EXPECT_FALSE(disk_.mount()->FileExists("/loaded/ledger", {}, nullptr).ok());
  EXPECT_FALSE(disk_.mount()->FileExists("/loaded/loading", {}, nullptr).ok());
}

// The power fails at any moment: what a server finds is a whole ledger, none, or one it refuses;
// run again, the load comes to its end.
TEST_F(LogLoadTest, BrokenOffAnywhereItIsSimplyRunAgain) {
  for (const bool there : {false, true}) {
    bool whole = false;
    std::uint64_t broken_off = 0;
    // One by one where the ledger is put in its place.
    for (std::uint64_t syncs = 0; !whole && syncs < 100; syncs += syncs < 36 ? 4 : 1) {
      MemoryDisk fresh;
      std::swap(disk_, fresh);
      if (there) opened({.fs = disk_.mount(), .dir = kDir});
      SCOPED_TRACE("there " + std::to_string(there) + ", syncs " + std::to_string(syncs));
      disk_.fail_syncs_after(syncs);
      whole = load().has_value();
      disk_.heal();
      disk_.crash();
      if (const auto log = RecordLog::open({.fs = disk_.mount(), .dir = kDir, .read_only = true})) {
        const Position head = (*log)->head();
        EXPECT_TRUE(!head || head == parent_.position) << syncs;
        broken_off += !head ? 1 : 0;
      }
      const auto id = load();
      ASSERT_TRUE(id) << syncs << ": " << id.error().what;
      expect_loaded(*id);
    }
    EXPECT_TRUE(whole);
    EXPECT_EQ(broken_off > 0, there);
  }
}

}  // namespace
}  // namespace holdfast::store
