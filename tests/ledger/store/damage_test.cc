#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ledger/store/temporary_data.h"

// What happens to files between two starts. RocksDB by itself opens most of these without a word.
namespace holdfast::store {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Damage : public ::testing::Test {
 protected:
  // 1,000 acknowledged events in 10 groups, and the files as a kill leaves them.
  Damage() {
    log_ = opened({.dir = temporary_.data()});
    append_groups(*log_, 10);
    copy_ = temporary_.copy();
  }

  // Refuses to open, twice, and leaves every byte as it was.
  std::string refused() {
    const Files before = files_of(copy_);
    const std::string error = refusal({.dir = copy_});
    EXPECT_TRUE(files_of(copy_) == before) << error;
    EXPECT_EQ(refusal({.dir = copy_}), error);
    return error;
  }
  void flip(const std::filesystem::path& path, double where) {
    std::string bytes = content_of(path);
    bytes[static_cast<std::size_t>(where * static_cast<double>(bytes.size()))] ^= 1;
    write_content(path, bytes);
  }

  TemporaryData temporary_;
  std::unique_ptr<Log> log_;
  std::string copy_;
};

TEST_F(Damage, AKillAloneLosesNothing) {
  const auto log = opened({.dir = copy_});
  ASSERT_TRUE(log);
  EXPECT_EQ(log->head(), Position{1000});
  EXPECT_EQ(log->root(), log_->root());
  EXPECT_EQ(log->id(), log_->id());
}

TEST_F(Damage, OneFlippedByteInTheWal) {
  flip(wal_of(copy_), 0.55);
  EXPECT_EQ(refused(),
            "the log ends at position 500, but positions 501 to 1000 were acknowledged and are "
            "gone. Nothing was changed. Restore " +
                copy_ +
                " from a backup, or go on without what is gone, under a new ledger id, with "
                "--accept-loss-from 501");
}

TEST_F(Damage, AFlippedByteAnywhereInTheWalIsNoticed) {
  const auto wal = wal_of(copy_);
  const std::string whole = content_of(wal);
  for (double where = 0.001; where < 1; where += 0.0499) {
    flip(wal, where);
    EXPECT_THAT(refusal({.dir = copy_}), HasSubstr("to 1000 were acknowledged")) << where;
    write_content(wal, whole);
  }
  EXPECT_TRUE(opened({.dir = copy_}));
}

TEST_F(Damage, TheWalDeleted) {
  std::filesystem::remove(wal_of(copy_));
  EXPECT_THAT(refused(),
              StartsWith("the log is empty, but positions 1 to 1000 were acknowledged and are "
                         "gone. Nothing was changed."));
}

TEST_F(Damage, TheWalTruncated) {
  const auto wal = wal_of(copy_);
  std::filesystem::resize_file(wal, std::filesystem::file_size(wal) - 1);
  EXPECT_THAT(refused(), StartsWith("the log ends at position 900, but positions 901 to 1000 "));
  std::filesystem::resize_file(wal, std::filesystem::file_size(wal) * 35 / 100);
  EXPECT_THAT(refused(), StartsWith("the log ends at position 300, but positions 301 to 1000 "));
  std::filesystem::resize_file(wal, 0);
  EXPECT_THAT(refused(), StartsWith("the log is empty, but positions 1 to 1000 "));
}

TEST_F(Damage, TheWatermarkMissing) {
  std::filesystem::remove(copy_ + "/watermark");
  EXPECT_THAT(refused(), StartsWith("the watermark is missing; the log ends at position 1000, "
                                    "and whether more was acknowledged cannot be known"));
}

TEST_F(Damage, TheWatermarkDamaged) {
  const std::string path = copy_ + "/watermark";
  write_content(path, std::string(8192, 'x'));
  EXPECT_THAT(refused(),
              StartsWith(path + " is damaged: neither of its two slots is whole; the log ends at "
                                "position 1000"));
}

TEST_F(Damage, OneTornSlotOfTheWatermarkIsNothing) {
  // The newer slot: as if the power had failed while it was written. The log is a group ahead.
  const std::string path = copy_ + "/watermark";
  const std::string whole = content_of(path);
  for (const std::size_t offset : {0, 4096}) {
    std::string torn = whole;
    torn.replace(offset, 64, std::string(64, '\0'));
    write_content(path, torn);
    const auto log = opened({.dir = copy_});
    ASSERT_TRUE(log) << offset;
    EXPECT_EQ(log->head(), Position{1000});
  }
}

TEST_F(Damage, AnOldWatermark) {
  append_groups(*log_, 9);
  const std::string later = temporary_.copy("later");
  std::filesystem::copy_file(copy_ + "/watermark", later + "/watermark",
                             std::filesystem::copy_options::overwrite_existing);
  copy_ = later;
  EXPECT_THAT(refused(), StartsWith("the watermark is an old one, of position 1000; the log ends "
                                    "at position 1900"));
}

TEST_F(Damage, TheWatermarkOfAnotherLedger) {
  TemporaryData other;
  const auto log = opened({.dir = other.data()});
  append_groups(*log, 10);
  std::filesystem::copy_file(other.data() + "/watermark", copy_ + "/watermark",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(refused(), StartsWith("the watermark is of another ledger"));
}

TEST_F(Damage, TheLogGone) {
  std::filesystem::remove_all(copy_ + "/ledger");
  EXPECT_THAT(refused(), StartsWith(copy_ + "/ledger is missing, but positions 1 to 1000 were "
                                            "acknowledged. Nothing was changed."));
}

TEST_F(Damage, AFileThatRocksDbNeeds) {
  std::filesystem::remove(copy_ + "/ledger/CURRENT");
  const std::string error = refused();
  EXPECT_THAT(error, StartsWith("RocksDB cannot open " + copy_ + "/ledger: "));
  EXPECT_THAT(error, HasSubstr("positions 1 to 1000 were acknowledged. Nothing was changed. "
                               "Restore "));
}

TEST_F(Damage, ATableDeletedOrDamaged) {
  log_.reset();
  { const auto log = opened({.dir = temporary_.data()}); }  // recovery writes the WAL to a table
  for (const auto& entry : std::filesystem::directory_iterator(temporary_.data() + "/ledger")) {
    if (entry.path().extension() != ".sst" || entry.file_size() < 10'000) continue;
    copy_ = temporary_.copy("without-table");
    std::filesystem::remove(copy_ + "/ledger/" + entry.path().filename().string());
    EXPECT_THAT(refused(), HasSubstr("positions 1 to 1000 were acknowledged"));
    return;
  }
  FAIL() << "no table with the events";
}

TEST_F(Damage, ALostGroupWithoutEventsIsNoticed) {
  ASSERT_TRUE(log_->append({}, {.latest = {}, .import = ImportProgress{}}));
  const std::string later = temporary_.copy("later");
  const auto wal = wal_of(later);
  std::filesystem::resize_file(wal, std::filesystem::file_size(wal) - 1);
  copy_ = later;
  EXPECT_THAT(refused(), StartsWith("the log ends at position 1000, as it should, but what was "
                                    "acknowledged after that without an event is gone"));
}

}  // namespace
}  // namespace holdfast::store
