#include "projections/rebuild.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <atomic>
#include <thread>

#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Folders folders_of(Bookkeeper& books) { return Folders(books.options().fs, books.options().dir); }

std::vector<std::string> generations(Bookkeeper& books) {
  std::vector<std::string> names;
  const Options options = books.options();
  EXPECT_TRUE(options.fs->GetChildren(options.dir + "/projections", {}, &names, nullptr).ok());
  std::erase_if(names, [](const std::string& name) { return !isdigit(name.front()); });
  return names;
}

// Changes one row of the stored projections, which are not open.
void spoil(Bookkeeper& books, Family family, const std::string& key, const std::string& row) {
  const Folders folders = folders_of(books);
  auto opened = Generation::open(folders.fs(), folders.of(**folders.current()), false);
  ASSERT_TRUE(opened) << opened.error().ToString();
  rocksdb::WriteBatch batch;
  if (row.empty()) {
    batch.Delete((*opened)->family(family), key);
  } else {
    batch.Put((*opened)->family(family), key, row);
  }
  ASSERT_TRUE((*opened)->write(batch).ok());
  ASSERT_TRUE((*opened)->flush(true).ok());
}

TEST(Rebuild, OfWhatIsRightFindsNoDifferenceAndTakesItsPlace) {
  Bookkeeper books(1);
  books.busy(2'000);
  Running running(books);
  const std::vector<std::string> before = generations(books);
  ASSERT_THAT(before, SizeIs(1));
  Position reported;
  EXPECT_EQ(running->progress().rebuilt, std::nullopt);
  const Rebuilt rebuilt = value_of(running->rebuild([&](Position at) {
    reported = at;
    EXPECT_EQ(running->progress().rebuilt, at);
  }));
  EXPECT_EQ(running->progress().rebuilt, std::nullopt);
  EXPECT_THAT(rebuilt.differences, IsEmpty());
  EXPECT_EQ(rebuilt.position, books.log().head());
  EXPECT_GT(reported.value, 0u);
  EXPECT_THAT(generations(books), SizeIs(1));
  EXPECT_NE(generations(books), before);
  EXPECT_EQ(books.log().head().value, books.events().size()) << "the log does not grow";
  // Everything goes on in the new rows, and they are found again.
  running.committed(books.busy(500));
  ASSERT_TRUE(running->wait_for(books.log().head()));
  running.projections.reset();
  Running again(books);
  EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
  EXPECT_EQ(again->opened().checkpoint, books.log().head());
  EXPECT_EQ(difference(books, *again.projections, again.state), "");
}

TEST(Rebuild, NamesWhatDiffersAndPutsItRight) {
  Bookkeeper books(2);
  books.busy(1'000);
  { Running running(books); }
  std::string ended;
  for (const std::string& key : books.keys()) {
    if (is_ended(books.state().find(key)->state)) ended = key;
  }
  spoil(books, Family::ended, ended, "");
  spoil(books, Family::ended, "made-up", "x");
  Claim other = *books.state().claim(books.keys().front());
  other.quantity = {77};
  std::string row;
  append_row(row, other);
  spoil(books, is_ended(other.state) ? Family::ended : Family::live, other.key.str(), row);

  Running running(books);
  const Rebuilt rebuilt = value_of(running->rebuild({}));
  EXPECT_THAT(rebuilt.differences,
              testing::UnorderedElementsAre(
                  HasSubstr("ended \"" + ended + "\" is only in the rebuilt ones"),
                  HasSubstr("ended \"made-up\" is not in the rebuilt ones"),
                  HasSubstr("\"" + other.key.str() + "\" differs")));
  EXPECT_THAT(value_of(running->rebuild({})).differences, IsEmpty());
  const std::string_view asked[] = {ended};
  EXPECT_NE(value_of(running->forgotten(asked)).front(), std::nullopt);
}

TEST(Rebuild, WhileAWriterIsAtWork) {
  Bookkeeper books(3);
  books.busy(20'000);
  Running running(books);
  std::vector<std::vector<Event>> groups;
  std::atomic<bool> enough = false;
  std::thread writer([&] {
    while (!enough) running.committed(books.busy(25));
  });
  for (int round = 0; round < 3; ++round) {
    const Rebuilt rebuilt = value_of(running->rebuild({}));
    EXPECT_THAT(rebuilt.differences, IsEmpty());
  }
  enough = true;
  writer.join();
  ASSERT_TRUE(running->wait_for(books.log().head()));
  running.projections.reset();
  Running again(books);
  EXPECT_EQ(difference(books, *again.projections, again.state), "");
  EXPECT_THAT(value_of(again->rebuild({})).differences, IsEmpty());
}

TEST(Rebuild, ReadersKeepTheRowsTheyBeganWith) {
  Bookkeeper books(4);
  books.busy(1'500);
  Running running(books);
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const auto page = value_of(running->history({.limit = 10'000}, books.log().head()));
      EXPECT_EQ(page.items.size(), books.events().size());
      const auto claims =
          value_of(running->claims({.state = StateFilter::all, .limit = 10'000}, books.now()));
      EXPECT_EQ(claims.items.size(), books.keys().size());
    }
  });
  for (int i = 0; i < 5; ++i) EXPECT_THAT(value_of(running->rebuild({})).differences, IsEmpty());
  done = true;
  reader.join();
  EXPECT_THAT(generations(books), SizeIs(1));
}

TEST(Rebuild, CutOffHalfWayLeavesTheOldRows) {
  Bookkeeper books(5);
  books.busy(40'000);  // several chunks
  {
    Running running(books);
    bool crashed = false;
    const auto rebuilt = running->rebuild([&](Position) {
      if (!crashed) books.disk().crash();
      crashed = true;
    });
    EXPECT_TRUE(crashed);
    EXPECT_FALSE(rebuilt);
    running->abandon();
  }
  books.crash();
  Running again(books);
  EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
  EXPECT_THAT(generations(books), SizeIs(1));
  EXPECT_EQ(difference(books, *again.projections, again.state), "");
  EXPECT_THAT(value_of(again->rebuild({})).differences, IsEmpty());
}

TEST(Rebuild, IsGivenUpWhenTheServerStops) {
  Bookkeeper books(6);
  books.busy(40'000);
  Running running(books);
  std::atomic<bool> begun = false;
  std::thread rebuild([&] {
    EXPECT_FALSE(running->rebuild([&](Position) {
      begun = true;
      while (running->progress().position < books.log().head()) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }));
  });
  while (!begun) std::this_thread::yield();
  running->stop();
  rebuild.join();
  EXPECT_THAT(generations(books), SizeIs(1));
}

// -- with the server stopped

TEST(RebuildStopped, FindsNoDifferenceAfterAKill) {
  Bookkeeper books(7);
  Options options = books.options();
  options.checkpoint_every = 500;
  {
    Running running(books, options);
    for (int group = 0; group < 30; ++group) running.committed(books.busy(70));
    ASSERT_TRUE(running->wait_for(books.log().head()));
    running->abandon();
    books.disk().crash();
  }
  books.crash();
  books.close_log();
  books.open_log(true);
  const Rebuilt rebuilt = value_of(rebuild_stopped(books.options(), books.log(), true, {}));
  EXPECT_EQ(rebuilt.position, books.log().head());
  EXPECT_EQ(rebuilt.not_compared, std::nullopt);
  EXPECT_THAT(rebuilt.differences, IsEmpty());
  EXPECT_THAT(generations(books), SizeIs(1));
  Running again(books);
  EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
  EXPECT_EQ(again->opened().checkpoint, books.log().head());
  EXPECT_EQ(difference(books, *again.projections, again.state), "");
}

TEST(RebuildStopped, NamesWhatDiffers) {
  Bookkeeper books(8);
  books.busy(500);
  { Running running(books); }
  spoil(books, Family::requests, request_key("shop", "made-up"), "x");
  spoil(books, Family::lists, list_name(ListKind::holder, "ann"), "");
  const Rebuilt looked = value_of(rebuild_stopped(books.options(), books.log(), false, {}));
  EXPECT_THAT(looked.differences, testing::ElementsAre(HasSubstr("list of holder \"ann\""),
                                                       HasSubstr("requests \"shop made-up\"")));
  EXPECT_THAT(generations(books), SizeIs(1));
  const Rebuilt installed = value_of(rebuild_stopped(books.options(), books.log(), true, {}));
  EXPECT_THAT(installed.differences, SizeIs(2));
  EXPECT_THAT(value_of(rebuild_stopped(books.options(), books.log(), false, {})).differences,
              IsEmpty());
}

TEST(RebuildStopped, SaysThatThereWasNothingToCompare) {
  Bookkeeper books(9);
  books.busy(500);
  const Rebuilt rebuilt = value_of(rebuild_stopped(books.options(), books.log(), true, {}));
  EXPECT_TRUE(rebuilt.not_compared);
  EXPECT_THAT(rebuilt.differences, IsEmpty());
  Running again(books);
  EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
}

TEST(RebuildStopped, DoesNotTouchARunningServersRows) {
  Bookkeeper books(10);
  books.busy(500);
  Running running(books);
  EXPECT_FALSE(rebuild_stopped(books.options(), books.log(), true, {}));
  EXPECT_THAT(value_of(running->rebuild({})).differences, IsEmpty());
}

}  // namespace
}  // namespace holdfast::projections
