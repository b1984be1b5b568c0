#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "ledger/store/log_db.h"
#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

using testing::HasSubstr;

// Overwrites one stored event of the log with bytes that are none.
void spoil_event(Bookkeeper& books, Position position) {
  books.close_log();
  {
    const auto db = store::LogDb::open(books.options().fs, books.options().dir);
    ASSERT_TRUE(db) << db.error().what;
    const auto key = store::event_key(position);
    rocksdb::WriteOptions synced;
    synced.sync = true;
    const rocksdb::Slice at(key.data(), key.size());
    EXPECT_TRUE((*db)->db().Put(synced, (*db)->events(), at, "not an event").ok());
  }
  books.open_log();
}

TEST(Unreadable, IsAnErrorAtOpenThatNamesIt) {
  Bookkeeper books(1);
  books.busy(300);
  spoil_event(books, {120});
  State state;
  const auto opened = Projections::open(books.options(), books.log(), state);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().what, HasSubstr("120"));
}

TEST(Unreadable, BehindTheCheckpointIsAnErrorToo) {
  Bookkeeper books(2);
  books.busy(300);
  { Running running(books); }
  const Position checkpoint = books.log().head();
  books.busy(300);
  spoil_event(books, checkpoint + 100);
  for (int i = 0; i < 2; ++i) {  // and stays one
    State state;
    const auto opened = Projections::open(books.options(), books.log(), state);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().what, HasSubstr(std::to_string(checkpoint.value + 100)));
  }
}

TEST(Unreadable, ARebuildStopsThereAndTheOldViewIsServed) {
  Bookkeeper books(3);
  books.busy(600);
  { Running running(books); }
  spoil_event(books, {250});
  Running running(books);
  for (int i = 0; i < 2; ++i) {
    const auto rebuilt = running->rebuild({});
    ASSERT_FALSE(rebuilt);
    EXPECT_THAT(rebuilt.error().what, HasSubstr("250"));
  }
  EXPECT_EQ(difference(books, *running.projections, running.state), "");
  EXPECT_EQ(value_of(running->claims({.state = StateFilter::all, .limit = 10'000}, books.now()))
                .items.size(),
            books.keys().size());
  running.committed(books.busy(50));
  EXPECT_TRUE(running->wait_for(books.log().head()));
  // The folder that was begun is gone.
  std::vector<std::string> names;
  const Options options = books.options();
  ASSERT_TRUE(options.fs->GetChildren(options.dir + "/projections", {}, &names, nullptr).ok());
  std::erase_if(names, [](const std::string& name) { return !isdigit(name.front()); });
  EXPECT_THAT(names, testing::SizeIs(1));
}

TEST(Unreadable, IsNamedWithTheServerStopped) {
  Bookkeeper books(4);
  books.busy(300);
  { Running running(books); }
  spoil_event(books, {77});
  const auto rebuilt = rebuild_stopped(books.options(), books.log(), true, {});
  ASSERT_FALSE(rebuilt);
  EXPECT_THAT(rebuilt.error().what, HasSubstr("77"));
  Running running(books);
  EXPECT_EQ(running->opened().rebuilt_because, std::nullopt) << "the old ones are still there";
}

}  // namespace
}  // namespace holdfast::projections
