#include "projections/position_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <algorithm>
#include <map>

#include "ledger/store/memory_file_system.h"
#include "projections/list_cursor.h"

namespace holdfast::projections {
namespace {

class Lists {
 public:
  Lists() {
    auto opened = Generation::open(disk_.mount(), "/rows", true);
    EXPECT_TRUE(opened) << opened.error().ToString();
    rows_ = std::move(*opened);
  }

  void append(const std::string& name, Position position) {
    rocksdb::WriteBatch batch;
    PositionList& list = lists_[name];
    if (const auto full = list.append(position)) {
      batch.Put(rows_->family(Family::lists), block_key(name, full->first), full->row);
    }
    std::string row;
    list.append_row(row);
    // What is written is what is read back.
    const auto read = PositionList::read(row);
    ASSERT_TRUE(read);
    list = *read;
    batch.Put(rows_->family(Family::lists), name, row);
    ASSERT_TRUE(rows_->write(batch).ok());
  }

  std::vector<Position> read(std::vector<std::string> names, Stretch stretch) const {
    const Moment moment(*rows_);
    MergedLists merged(moment, std::move(names), stretch);
    std::vector<Position> found;
    EXPECT_TRUE(merged.take(1'000'000, found));
    return found;
  }

 private:
  store::MemoryDisk disk_;
  std::unique_ptr<Generation> rows_;
  std::map<std::string, PositionList> lists_;
};

std::vector<Position> naive(std::vector<Position> all, Stretch stretch) {
  std::erase_if(all, [&](Position p) { return p < stretch.from || p > stretch.until; });
  std::sort(all.begin(), all.end());
  if (stretch.newest_first) std::reverse(all.begin(), all.end());
  return all;
}

TEST(PositionList, SpillsWhenItIsFull) {
  PositionList list;
  for (std::uint64_t p = 1; p <= kBlockPositions; ++p) EXPECT_FALSE(list.append({p * 3}));
  const auto full = list.append({1'000});
  ASSERT_TRUE(full);
  EXPECT_EQ(full->first.value, 3u);
  std::vector<Position> positions;
  ASSERT_TRUE(read_block(full->first, full->row, positions));
  EXPECT_EQ(positions.size(), kBlockPositions);
  EXPECT_EQ(positions.back().value, kBlockPositions * 3);
  positions.clear();
  ASSERT_TRUE(list.positions(positions));
  EXPECT_EQ(positions, std::vector<Position>{{1'000}});
}

TEST(PositionList, ADamagedRowIsNotRead) {
  PositionList list;
  for (std::uint64_t p = 1; p <= 10; ++p) list.append({p * 1'000});
  std::string row;
  list.append_row(row);
  EXPECT_EQ(last_of_tail(row).value, 10'000u);
  const auto cut = PositionList::read(std::string_view(row).substr(0, row.size() - 1));
  std::vector<Position> positions;
  EXPECT_FALSE(cut && cut->positions(positions));
  EXPECT_FALSE(PositionList::read(""));
}

TEST(PositionList, NamesThatAreLongerAreOtherLists) {
  Lists lists;
  for (std::uint64_t p = 1; p <= 200; ++p) lists.append(p % 2 ? "ra" : "ra b", {p});
  lists.append("ra/b", {201});
  lists.append("r", {202});
  EXPECT_EQ(lists.read({"ra"}, {{1}, {1'000}}).size(), 100u);
  EXPECT_EQ(lists.read({"ra"}, {{1}, {1'000}, true}).size(), 100u);
  EXPECT_EQ(lists.read({"r"}, {{1}, {1'000}, true}), std::vector<Position>{{202}});
  EXPECT_TRUE(lists.read({"rb"}, {{1}, {1'000}}).empty());
}

RC_GTEST_PROP(PositionList, ReadsLikeAVector, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 500);
  const auto widest = *rc::gen::element<std::uint64_t>(2, 200, 1'000'000);
  Lists lists;
  std::vector<Position> one;
  std::vector<Position> both;
  Position last;
  for (std::size_t i = 0; i < count; ++i) {
    last = last + *rc::gen::inRange<std::uint64_t>(1, widest);
    const bool first = *rc::gen::arbitrary<bool>();
    lists.append(first ? "rx" : "bx", last);
    if (first) one.push_back(last);
    both.push_back(last);
  }
  for (int i = 0; i < 20; ++i) {
    const Stretch stretch{{*rc::gen::inRange<std::uint64_t>(0, last.value + 2)},
                          {*rc::gen::inRange<std::uint64_t>(0, last.value + 2)},
                          *rc::gen::arbitrary<bool>()};
    RC_ASSERT(lists.read({"rx"}, stretch) == naive(one, stretch));
    RC_ASSERT(lists.read({"rx", "bx"}, stretch) == naive(both, stretch));
  }
}

}  // namespace
}  // namespace holdfast::projections
