#include "ledger/store/watermark.h"

#include <gtest/gtest.h>

#include "ledger/store/memory_file_system.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::store {
namespace {

Mark mark_at(std::uint64_t position) {
  Mark mark;
  mark.ledger[3] = std::byte{7};
  mark.group = position / 10;
  mark.position = {position};
  mark.root[0] = static_cast<std::byte>(position);
  mark.latest = {static_cast<std::int64_t>(1000 + position)};
  return mark;
}

class WatermarkTest : public ::testing::Test {
 protected:
  WatermarkTest() {
    std::filesystem::create_directory(temporary_.data());
    auto made = Watermark::create(*fs_, temporary_.data(), mark_at(10));
    EXPECT_TRUE(made) << made.error().what;
    if (made) watermark_.emplace(std::move(*made));
  }

  std::string path() const { return temporary_.data() + "/watermark"; }
  void write(std::uint64_t position) { ASSERT_TRUE(watermark_->write(mark_at(position))); }
  auto read() const { return Watermark::read(*fs_, temporary_.data()); }
  void damage(std::size_t offset) const {
    std::string bytes = content_of(path());
    bytes[offset] ^= 1;
    write_content(path(), bytes);
  }

  TemporaryData temporary_;
  std::shared_ptr<rocksdb::FileSystem> fs_ = rocksdb::FileSystem::Default();
  std::optional<Watermark> watermark_;
};

TEST_F(WatermarkTest, GivesWhatWasWrittenLast) {
  EXPECT_EQ(**read(), mark_at(10));
  for (std::uint64_t position = 20; position < 100; position += 10) {
    write(position);
    EXPECT_EQ(**read(), mark_at(position));
  }
  EXPECT_EQ(content_of(path()).size(), 8192u);
}

TEST_F(WatermarkTest, GoesOnAfterReopening) {
  write(20);
  watermark_.emplace(*Watermark::open(*fs_, temporary_.data()));
  write(30);
  damage(0);  // the slot of 20 or of 30: one of them must be left
  const auto left = read();
  ASSERT_TRUE(left) << left.error().what;
  EXPECT_TRUE((*left)->position == Position{20} || (*left)->position == Position{30});
}

TEST_F(WatermarkTest, ATornSlotLeavesTheOneBefore) {
  write(20);  // in the second slot
  write(30);  // in the first
  const std::string whole = content_of(path());
  for (const std::size_t offset : {0, 8, 16, 40, 60, 90, 100, 119}) {
    write_content(path(), whole);
    damage(offset);
    EXPECT_EQ(**read(), mark_at(20)) << "byte " << offset;
    write_content(path(), whole);
    damage(4096 + offset);
    EXPECT_EQ(**read(), mark_at(30)) << "byte " << offset;
  }
}

TEST_F(WatermarkTest, TwoTornSlotsAreAnError) {
  write(20);
  damage(20);
  damage(4096 + 20);
  const auto error = read();
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().what, path() + " is damaged: neither of its two slots is whole");
  write_content(path(), "");
  EXPECT_FALSE(read());
}

TEST_F(WatermarkTest, NoFileIsNoMark) {
  std::filesystem::remove(path());
  const auto none = read();
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
}

TEST(WatermarkInMemory, IsDurableWhenWritten) {
  MemoryDisk disk;
  auto fs = disk.mount();
  ASSERT_TRUE(fs->CreateDir("/data", {}, nullptr).ok());
  auto watermark = Watermark::create(*fs, "/data", mark_at(10));
  ASSERT_TRUE(watermark) << watermark.error().what;
  ASSERT_TRUE(watermark->write(mark_at(20)));
  disk.fail_syncs_after(0);
  EXPECT_FALSE(watermark->write(mark_at(30)));
  disk.crash();
  EXPECT_EQ(**Watermark::read(*disk.mount(), "/data"), mark_at(20));
}

}  // namespace
}  // namespace holdfast::store
