#include "ledger/access/listing.h"

#include <gtest/gtest.h>

#include "tests/ledger/access/opened.h"

namespace holdfast::access {
namespace {

// Records 1 to 1,200, one a second: of ann and bob in turn, every tenth a refusal.
class Listings : public OpenedLog {
 protected:
  static constexpr std::uint64_t kCount = 1'200;

  Listings() {
    log_ = open({.per_minute = 1'000'000});
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      Entry entry = query_of(i % 2 == 0 ? "ann" : "bob", "query.history");
      if (i % 10 == 0) entry.what = Refused{};
      log_->record(std::move(entry));
      time_.pass(kSecond);
    }
    EXPECT_TRUE(log_->flush());
  }

  // Of all pages.
  std::vector<std::uint64_t> positions(Listing asked) {
    std::vector<std::uint64_t> found;
    do {
      const auto listed = list(log_->records(), asked);
      EXPECT_TRUE(listed) << listed.error().what;
      if (!listed) break;
      EXPECT_LE(listed->records.size(), asked.limit);
      for (const Record& record : listed->records) found.push_back(record.position.value);
      asked.behind = listed->behind;
    } while (asked.behind);
    return found;
  }

  template <class Wanted>
  std::vector<std::uint64_t> expected(Wanted wanted, bool oldest_first) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      const std::uint64_t position = oldest_first ? i : kCount + 1 - i;
      if (wanted(position)) found.push_back(position);
    }
    return found;
  }

  std::unique_ptr<AccessLog> log_;
};

TEST_F(Listings, NewestFirstAndOldestFirstInPagesOfAnySize) {
  for (const std::size_t limit : {1u, 7u, 512u, 600u, 1'199u, 1'200u, 5'000u}) {
    for (const bool oldest_first : {false, true}) {
      EXPECT_EQ(positions({.oldest_first = oldest_first, .limit = limit}),
                expected([](auto) { return true; }, oldest_first))
          << limit;
    }
  }
}

TEST_F(Listings, ByActorAndType) {
  for (const bool oldest_first : {false, true}) {
    EXPECT_EQ(positions({.actor = "ann", .oldest_first = oldest_first, .limit = 50}),
              expected([](std::uint64_t i) { return i % 2 == 0; }, oldest_first));
    EXPECT_EQ(positions({.type = "refused", .oldest_first = oldest_first, .limit = 50}),
              expected([](std::uint64_t i) { return i % 10 == 0; }, oldest_first));
    EXPECT_EQ(positions({.actor = "bob", .type = "refused", .limit = 50}).size(), 0u);
  }
  EXPECT_EQ(positions({.type = "query", .limit = 500}).size(), 1'080u);
  EXPECT_EQ(positions({.type = "query.claim", .limit = 500}).size(), 0u);
}

TEST_F(Listings, ByInstant) {
  const auto at = [](std::uint64_t position) {
    return kNoon + Duration{static_cast<std::int64_t>(position - 1) * 1'000};
  };
  for (const bool oldest_first : {false, true}) {
    EXPECT_EQ(
        positions({.from = at(100), .until = at(1'000), .oldest_first = oldest_first, .limit = 64}),
        expected([](std::uint64_t i) { return i >= 100 && i < 1'000; }, oldest_first));
  }
  EXPECT_EQ(positions({.from = at(kCount + 1), .limit = 10}).size(), 0u);
  EXPECT_EQ(positions({.until = at(1), .limit = 10}).size(), 0u);
  EXPECT_EQ(positions({.from = at(kCount), .limit = 10}).size(), 1u);
}

TEST_F(Listings, OfAnEmptyLog) {
  store::MemoryDisk disk;
  const auto log = AccessLog::open({.fs = disk.mount(), .dir = "/data"}, time_, [](auto&) {});
  ASSERT_TRUE(log);
  const auto listed = list((*log)->records(), {.limit = 10});
  ASSERT_TRUE(listed);
  EXPECT_TRUE(listed->records.empty());
  EXPECT_FALSE(listed->behind);
}

}  // namespace
}  // namespace holdfast::access
