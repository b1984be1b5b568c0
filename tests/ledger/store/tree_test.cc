#include <gtest/gtest.h>

#include "ledger/store/event_codec.h"
#include "ledger/store/log_db.h"
#include "ledger/store/memory_file_system.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::store {
namespace {

// The tree beside the events, whatever the groups were and however often the log was opened.
class TreeTest : public ::testing::Test {
 protected:
  TreeTest() { reopen(); }

  void reopen(bool read_only = false) {
    log_ = nullptr;
    log_ = opened({.fs = disk_.mount(), .dir = "/data", .read_only = read_only});
  }
  void append(std::uint64_t count) {
    const auto events = numbered_holds(log_->head().value + 1, log_->head().value + count);
    const auto done = log_->append(events, {.latest = events.back().recorded_at, .import = {}});
    ASSERT_TRUE(done) << done.error().what;
    for (const Event& event : events) {
      std::string bytes;
      encode(event, bytes);
      expected_.append(bytes);
      roots_.push_back(expected_.root());
    }
  }
  ReadNode reader() const {
    return [this](MerkleNode node) { return log_->records().node(node); };
  }
  void expect_roots_at(std::initializer_list<std::uint64_t> sizes) const {
    for (const std::uint64_t size : sizes) {
      const auto root = merkle_root(size, reader());
      ASSERT_TRUE(root) << size << ": " << root.error().what;
      EXPECT_EQ(*root, roots_.at(size)) << size;
    }
  }

  MemoryDisk disk_;
  std::unique_ptr<Log> log_;
  MerkleFrontier expected_;
  std::vector<Digest> roots_{MerkleFrontier().root()};
};

TEST_F(TreeTest, GivesTheRootOfEveryEarlierSize) {
  std::uint64_t size = 0;
  for (const std::uint64_t group : {1, 2, 250, 3, 1, 255, 256, 257, 1'000, 1}) {
    append(group);
    size += group;
    expect_roots_at({1, size / 2, size - 1, size});
    if (group == 3 || group == 256) reopen();
  }
  for (std::uint64_t at = 1; at <= size; ++at) expect_roots_at({at});
  reopen(true);
  expect_roots_at({1, 255, 256, 257, 512, 2'000, size});
}

TEST_F(TreeTest, HasTheLeafOfEveryPosition) {
  for (const std::uint64_t group : {5, 600, 1, 50}) append(group);
  std::vector<Position> seen;
  const auto done = log_->records().leaves({4}, {640}, [&](Position position, const Digest& leaf) {
    std::string bytes;
    encode(*log_->read(position), bytes);
    EXPECT_EQ(leaf, leaf_digest(bytes)) << position.value;
    seen.push_back(position);
    return true;
  });
  ASSERT_TRUE(done) << done.error().what;
  ASSERT_EQ(seen.size(), 637u);
  EXPECT_EQ(seen.front(), Position{4});
  EXPECT_EQ(seen.back(), Position{640});
  EXPECT_FALSE(log_->records().leaves({1}, {657}, [](Position, const Digest&) { return true; }));
}

TEST_F(TreeTest, IsMadeForALogThatWasWrittenWithoutOne) {
  for (const std::uint64_t group : {300, 1, 700}) append(group);
  log_ = nullptr;
  {
    const auto db = LogDb::open(disk_.mount(), "/data");
    ASSERT_TRUE(db) << db.error().what;
    ASSERT_TRUE((*db)->db().DropColumnFamily((*db)->tree()).ok());
  }
  reopen(true);
  EXPECT_EQ(log_->root(), roots_.back());
  EXPECT_EQ(merkle_root(1'001, reader()).error().what,
            "the Merkle tree has no node of positions 1 to 512: NotFound: ");
  EXPECT_EQ(reader()({0, 7}).error().what,
            "this log has no Merkle tree yet: start holdfastd on it once");
  reopen();
  append(30);
  expect_roots_at({1, 255, 256, 301, 512, 1'001, 1'030});
}

TEST_F(TreeTest, IsAsDurableAsTheEvents) {
  append(300);
  disk_.crash();
  reopen();
  append(300);
  expect_roots_at({1, 300, 301, 512, 600});
}

}  // namespace
}  // namespace holdfast::store
