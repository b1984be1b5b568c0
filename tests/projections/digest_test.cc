#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "projections/rebuild.h"
#include "tests/projections/running.h"

// What a statement says of the projections.
namespace holdfast::projections {
namespace {

using proof::RowsDigest;
using testing::SizeIs;

constexpr auto kNoProgress = [](Position) {};

std::vector<RowsDigest> rebuilt(Bookkeeper& books, Position until) {
  return value_of(digest_stopped(books.options(), books.log(), until, kNoProgress));
}

// Of the stored projections, which are not open.
std::shared_ptr<Generation> stored(Bookkeeper& books) {
  const Folders folders(books.options().fs, books.options().dir);
  auto found = find_generation(folders, books.log());
  EXPECT_TRUE(found) << found.error().what;
  EXPECT_TRUE(found->rows) << found->not_good_because;
  return found->rows;
}

TEST(Digest, IsOfTheEventsHoweverTheyWereFolded) {
  Bookkeeper books(21);
  Options often = books.options();
  often.checkpoint_every = 100;
  {
    Running running(books, often);
    for (int group = 0; group < 40; ++group) running.committed(books.busy(50));
    ASSERT_TRUE(running->wait_for(books.log().head()));
    running->stop();
  }
  const std::vector<RowsDigest> anew = rebuilt(books, books.log().head());
  const auto rows = stored(books);
  EXPECT_EQ(value_of(digest(Moment(*rows))), anew);
  for (const Family family : derived_families()) {
    ASSERT_TRUE(rows->db().CompactRange({}, rows->family(family), nullptr, nullptr).ok());
  }
  EXPECT_EQ(value_of(digest(Moment(*rows))), anew) << "files that were merged have the same rows";
  for (const RowsDigest& projection : anew) EXPECT_GT(projection.rows, 0u) << projection.name;
}

TEST(Digest, HasEveryProjectionAndChangesWithEachOfItsRows) {
  Bookkeeper books(22);
  books.busy(500);
  { Running running(books); }
  const auto rows = stored(books);
  const std::vector<RowsDigest> before = value_of(digest(Moment(*rows)));
  ASSERT_THAT(before, SizeIs(kFamilies - 1));
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Family family = derived_families()[i];
    EXPECT_EQ(before[i].name, family_name(family));
    const auto row = rows->iterate(family, {});
    row->SeekToLast();
    ASSERT_TRUE(row->Valid()) << before[i].name;
    const std::string key = row->key().ToString();
    const std::string value = row->value().ToString();
    const auto with = [&](const std::string& put) {
      rocksdb::WriteBatch batch;
      batch.Put(rows->family(family), key, put);
      EXPECT_TRUE(rows->write(batch).ok());
      return value_of(digest(Moment(*rows)));
    };
    std::vector<RowsDigest> changed = with(value + "x");
    EXPECT_NE(changed[i], before[i]) << before[i].name;
    changed[i] = before[i];
    EXPECT_EQ(changed, before) << "only that of " << before[i].name;
    EXPECT_EQ(with(value), before);
  }
}

TEST(Digest, OfAnEarlierPositionIsWhatItWas) {
  Bookkeeper books(23);
  books.busy(700);
  const Position then = books.log().head();
  const std::vector<RowsDigest> before = rebuilt(books, then);
  books.busy(700);
  EXPECT_EQ(rebuilt(books, then), before);
  EXPECT_NE(rebuilt(books, books.log().head()), before);
}

TEST(Digest, LeavesTheStoredProjectionsAlone) {
  Bookkeeper books(24);
  books.busy(300);
  { Running running(books); }
  const Folders folders(books.options().fs, books.options().dir);
  const auto current = value_of(folders.current());
  rebuilt(books, books.log().head());
  EXPECT_EQ(value_of(folders.current()), current);
  std::vector<std::string> names;
  ASSERT_TRUE(books.options()
                  .fs->GetChildren(books.options().dir + "/projections", {}, &names, nullptr)
                  .ok());
  EXPECT_EQ(std::ranges::count_if(names, [](const auto& name) { return isdigit(name.front()); }),
            1);
}

TEST(Digest, IsNotMadeBesideARunningServer) {
  Bookkeeper books(25);
  books.busy(300);
  Running running(books);
  EXPECT_FALSE(digest_stopped(books.options(), books.log(), books.log().head(), kNoProgress));
}

}  // namespace
}  // namespace holdfast::projections
