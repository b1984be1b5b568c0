#include <gtest/gtest.h>
#include <array>

#include "ledger/store/memory_file_system.h"

namespace holdfast::store {
namespace {

class MemoryDiskTest : public ::testing::Test {
 protected:
  MemoryDiskTest() { EXPECT_TRUE(fs_->CreateDir("/d", {}, nullptr).ok()); }

  std::unique_ptr<rocksdb::FSWritableFile> create(const std::string& path) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(fs_->NewWritableFile(path, {}, &file, nullptr).ok());
    return file;
  }
  void sync_directory() {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    ASSERT_TRUE(fs_->NewDirectory("/d", {}, &directory, nullptr).ok());
    ASSERT_TRUE(directory->Fsync({}, nullptr).ok());
  }
  void crash() {
    disk_.crash();
    fs_ = disk_.mount();
  }
  // Content, or "-" where there is no such file.
  std::string content(const std::string& path) {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    if (!fs_->NewRandomAccessFile(path, {}, &file, nullptr).ok()) return "-";
    std::array<char, 100> scratch;
    rocksdb::Slice bytes;
    EXPECT_TRUE(file->Read(0, scratch.size(), {}, &bytes, scratch.data(), nullptr).ok());
    return bytes.ToString();
  }

  MemoryDisk disk_;
  std::shared_ptr<rocksdb::FileSystem> fs_ = disk_.mount();
};

TEST_F(MemoryDiskTest, ACrashKeepsWhatWasSyncedAndNoMore) {
  auto file = create("/d/f");
  sync_directory();
  ASSERT_TRUE(file->Append("synced", {}, nullptr).ok());
  ASSERT_TRUE(file->Sync({}, nullptr).ok());
  ASSERT_TRUE(file->Append(" not", {}, nullptr).ok());
  EXPECT_EQ(content("/d/f"), "synced not");
  crash();
  EXPECT_EQ(content("/d/f"), "synced");
}

TEST_F(MemoryDiskTest, ANameIsLostUnlessItsDirectoryWasSynced) {
  ASSERT_TRUE(create("/d/f")->Sync({}, nullptr).ok());
  crash();
  EXPECT_EQ(content("/d/f"), "-");
}

TEST_F(MemoryDiskTest, ARenameAndARemovalAreUndoneUnlessTheDirectoryWasSynced) {
  create("/d/a");
  create("/d/b");
  sync_directory();
  ASSERT_TRUE(fs_->RenameFile("/d/a", "/d/c", {}, nullptr).ok());
  ASSERT_TRUE(fs_->DeleteFile("/d/b", {}, nullptr).ok());
  EXPECT_EQ(content("/d/a"), "-");
  crash();
  EXPECT_EQ(content("/d/a"), "");
  EXPECT_EQ(content("/d/b"), "");
  EXPECT_EQ(content("/d/c"), "-");
}

TEST_F(MemoryDiskTest, OverwrittenBytesComeBackUnlessSynced) {
  {
    auto file = create("/d/f");
    ASSERT_TRUE(file->Append("0123456789", {}, nullptr).ok());
    ASSERT_TRUE(file->Sync({}, nullptr).ok());
  }
  sync_directory();
  std::unique_ptr<rocksdb::FSRandomRWFile> file;
  ASSERT_TRUE(fs_->NewRandomRWFile("/d/f", {}, &file, nullptr).ok());
  ASSERT_TRUE(file->Write(2, "ab", {}, nullptr).ok());
  ASSERT_TRUE(file->Sync({}, nullptr).ok());
  ASSERT_TRUE(file->Write(3, "XY", {}, nullptr).ok());
  ASSERT_TRUE(file->Write(4, "ZZZZZZZZZZ", {}, nullptr).ok());
  EXPECT_EQ(content("/d/f"), "01aXZZZZZZZZZZ");
  crash();
  EXPECT_EQ(content("/d/f"), "01ab456789");
}

TEST_F(MemoryDiskTest, HandlesAndLocksDieWithTheCrash) {
  auto file = create("/d/f");
  rocksdb::FileLock* lock = nullptr;
  rocksdb::FileLock* second = nullptr;
  ASSERT_TRUE(fs_->LockFile("/d/LOCK", {}, &lock, nullptr).ok());
  EXPECT_FALSE(fs_->LockFile("/d/LOCK", {}, &second, nullptr).ok());
  auto dead = fs_;
  crash();
  EXPECT_FALSE(file->Append("x", {}, nullptr).ok());
  EXPECT_FALSE(dead->CreateDir("/e", {}, nullptr).ok());
  EXPECT_TRUE(fs_->LockFile("/d/LOCK", {}, &second, nullptr).ok());
  EXPECT_FALSE(dead->UnlockFile(lock, {}, nullptr).ok());
  EXPECT_TRUE(fs_->UnlockFile(second, {}, nullptr).ok());
}

TEST_F(MemoryDiskTest, FailuresComeWhenAskedForAndGoWhenHealed) {
  auto file = create("/d/f");
  disk_.fail_appends_after(1);
  EXPECT_TRUE(file->Append("a", {}, nullptr).ok());
  EXPECT_FALSE(file->Append("b", {}, nullptr).ok());
  EXPECT_TRUE(file->Sync({}, nullptr).ok());
  disk_.heal();
  disk_.fail_syncs_after(0);
  EXPECT_TRUE(file->Append("c", {}, nullptr).ok());
  EXPECT_FALSE(file->Sync({}, nullptr).ok());
  EXPECT_EQ(content("/d/f"), "ac");
}

}  // namespace
}  // namespace holdfast::store
