#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/store/memory_file_system.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::store {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AcceptLoss : public ::testing::Test {
 protected:
  AcceptLoss() {
    log_ = opened({.dir = temporary_.data()});
    for (int group = 1; group <= 10; ++group) {
      append_groups(*log_, 1);
      if (group == 9) root_at_900_ = log_->root();
    }
    copy_ = temporary_.copy();
  }

  void lose_last_group() {
    const auto wal = wal_of(copy_);
    std::filesystem::resize_file(wal, std::filesystem::file_size(wal) - 1);
  }
  std::string refused(std::uint64_t from) {
    const Files before = files_of(copy_);
    const std::string error = refusal({.dir = copy_, .accept_loss_from = Position{from}});
    EXPECT_TRUE(files_of(copy_) == before) << error;
    return error;
  }

  TemporaryData temporary_;
  std::unique_ptr<Log> log_;
  Digest root_at_900_{};
  std::string copy_;
};

TEST_F(AcceptLoss, GoesOnUnderANewIdThatNamesItsParent) {
  lose_last_group();
  LedgerId id;
  {
    const auto log = opened({.dir = copy_, .accept_loss_from = Position{901}});
    ASSERT_TRUE(log);
    id = log->id();
    EXPECT_NE(id, log_->id());
    EXPECT_EQ(log->head(), Position{900});
    append_groups(*log, 2);
  }
  const auto log = opened({.dir = copy_});
  ASSERT_TRUE(log);
  EXPECT_EQ(log->head(), Position{1100});
  EXPECT_EQ(log->id(), id);
  ASSERT_TRUE(log->parent());
  EXPECT_EQ(log->parent()->id, log_->id());
  EXPECT_EQ(log->parent()->position, Position{900});
  EXPECT_EQ(log->parent()->root, root_at_900_);
  EXPECT_EQ(merkle_root(1100, [&](MerkleNode node) { return log->records().node(node); }),
            log->root());
}

TEST_F(AcceptLoss, OnlyExactlyWhereTheLossBegins) {
  lose_last_group();
  for (const std::uint64_t wrong : {0, 1, 900, 902, 1001}) {
    const std::string error = refused(wrong);
    EXPECT_THAT(error, StartsWith("--accept-loss-from " + std::to_string(wrong) +
                                  " is not where the loss begins: the log ends at position 900"));
    EXPECT_THAT(error, HasSubstr("--accept-loss-from 901"));
  }
}

TEST_F(AcceptLoss, NothingIsAcceptedWhereNothingIsLost) {
  for (const std::uint64_t from : {501, 1001}) {
    EXPECT_EQ(refused(from),
              "nothing is lost: the log ends at position 1000 and holds all that was "
              "acknowledged. Start without --accept-loss-from");
  }
  EXPECT_EQ(opened({.dir = copy_})->id(), log_->id());
}

TEST_F(AcceptLoss, AMissingOrDamagedWatermarkIsMadeAnew) {
  for (const bool missing : {true, false}) {
    copy_ = temporary_.copy(missing ? "missing" : "damaged");
    if (missing) std::filesystem::remove(copy_ + "/watermark");
    if (!missing) write_content(copy_ + "/watermark", "damaged");
    {
      const auto log = opened({.dir = copy_, .accept_loss_from = Position{1001}});
      ASSERT_TRUE(log);
      EXPECT_NE(log->id(), log_->id());
      EXPECT_EQ(log->parent()->position, Position{1000});
    }
    EXPECT_TRUE(opened({.dir = copy_}));
  }
}

TEST_F(AcceptLoss, OfTheWholeLog) {
  std::filesystem::remove_all(copy_ + "/ledger");
  const auto log = opened({.dir = copy_, .accept_loss_from = Position{1}});
  ASSERT_TRUE(log);
  EXPECT_EQ(log->head(), Position{});
  ASSERT_TRUE(log->parent());
  EXPECT_EQ(log->parent()->id, log_->id());
  EXPECT_GE(log->latest(), log_->latest());
}

// The power fails at any moment of an acceptance: the loss is either still refused, or accepted
// under a new id; never served under the old one.
TEST(AcceptLossInMemory, BrokenOffAnywhere) {
  bool whole = false;
  for (std::uint64_t syncs = 0; !whole && syncs < 50; ++syncs) {
    MemoryDisk disk;
    LedgerId old_id;
    {
      const auto log = opened({.fs = disk.mount(), .dir = "/data"});
      old_id = log->id();
      append_groups(*log, 3);
    }
    auto fs = disk.mount();
    std::vector<std::string> names;
    ASSERT_TRUE(fs->GetChildren("/data/ledger", {}, &names, nullptr).ok());
    for (const auto& name : names) {
      if (name.ends_with(".log")) fs->DeleteFile("/data/ledger/" + name, {}, nullptr);
    }
    disk.fail_syncs_after(syncs);
    whole = Log::open({.fs = disk.mount(), .dir = "/data", .accept_loss_from = Position{1}})
                .has_value();
    disk.heal();
    disk.crash();
    auto log = Log::open({.fs = disk.mount(), .dir = "/data"});
    if (log && (*log)->head() == Position{}) {
      EXPECT_NE((*log)->id(), old_id) << syncs;
      ASSERT_TRUE((*log)->parent()) << syncs;
      EXPECT_EQ((*log)->parent()->id, old_id) << syncs;
    }
  }
  EXPECT_TRUE(whole);
}

}  // namespace
}  // namespace holdfast::store
