#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <chrono>
#include <thread>

#include "projections/folders.h"
#include "projections/generation.h"
#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

using testing::HasSubstr;

TEST(Open, OfAnEmptyLedgerIsAnEmptyState) {
  Bookkeeper books;
  Running running(books);
  EXPECT_EQ(running.state.head(), Position{});
  EXPECT_EQ(running->projected(), Position{});
  EXPECT_TRUE(value_of(running->claims({}, books.now())).items.empty());
  EXPECT_TRUE(value_of(running->history({}, {})).items.empty());
}

TEST(Open, WithoutRowsBuildsThemFromTheLog) {
  Bookkeeper books(2);
  books.busy(3'000);
  Running running(books);
  EXPECT_THAT(running->opened().rebuilt_because.value_or(""), HasSubstr("no stored"));
  EXPECT_EQ(difference(books, *running.projections, running.state), "");
}

TEST(Open, AfterACleanStopReadsNothingOfTheLog) {
  Bookkeeper books(3);
  {
    Running running(books);
    running.committed(books.busy(3'000));
    running->stop();
    EXPECT_TRUE(running->wait_for(books.log().head()));
    EXPECT_FALSE(running->wait_for(books.log().head() + 1)) << "nobody will ever apply that";
  }
  Running again(books);
  EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
  EXPECT_EQ(again->opened().checkpoint, books.log().head());
  EXPECT_EQ(difference(books, *again.projections, again.state), "");
}

TEST(Open, AfterACrashGoesOnFromTheCheckpoint) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    Bookkeeper books(seed);
    Options options = books.options();
    options.checkpoint_every = 300;
    {
      Running running(books, options);
      for (int group = 0; group < 40; ++group) {
        running.committed(books.busy(1 + seed * group % 97));
        if (group % 3 == 0) {
          ASSERT_TRUE(running->wait_for(books.log().head()));
        }
      }
      if (seed % 2 == 0) {
        ASSERT_TRUE(running->wait_for(books.log().head()));
      }
      running->abandon();
      books.disk().crash();
    }
    books.crash();
    Running again(books);
    EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
    EXPECT_LE(again->opened().checkpoint, books.log().head());
    EXPECT_EQ(difference(books, *again.projections, again.state), "") << "seed " << seed;
    const Rebuilt rebuilt = value_of(again->rebuild({}));
    EXPECT_THAT(rebuilt.differences, testing::IsEmpty()) << "seed " << seed;
  }
}

TEST(Open, CheckpointsAreMadeWhileItRuns) {
  Bookkeeper books(4);
  Options options = books.options();
  options.checkpoint_every = 100;
  {
    Running running(books, options);
    for (int group = 0; group < 30; ++group) {
      running.committed(books.busy(50));
      ASSERT_TRUE(running->wait_for(books.log().head()));
    }
    // A checkpoint that was begun becomes durable in a moment, of which nobody tells.
    for (int i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    running->abandon();
    books.disk().crash();
  }
  books.crash();
  Running again(books);
  EXPECT_GE(again->opened().checkpoint.value, books.log().head().value - 200);
}

TEST(Open, GoesOnFoldingWhereRowsLeftOff) {
  Bookkeeper books(6);
  for (int round = 0; round < 5; ++round) {
    Running running(books);
    for (int group = 0; group < 10; ++group) running.committed(books.busy(60));
    ASSERT_TRUE(running->wait_for(books.log().head()));
    if (round % 2 == 0) {
      running->stop();
    } else {
      running->abandon();
    }
  }
  Running running(books);
  EXPECT_EQ(difference(books, *running.projections, running.state), "");
  EXPECT_THAT(value_of(running->rebuild({})).differences, testing::IsEmpty());
}

TEST(Open, RowsOfAnotherLedgerAreRebuilt) {
  Bookkeeper books(8);
  books.busy(300);
  { Running running(books); }
  Bookkeeper other(9);
  other.busy(500);
  Options options = books.options();  // the rows of `books`, the log of `other`
  State state;
  auto opened = Projections::open(options, other.log(), state);
  ASSERT_TRUE(opened);
  EXPECT_THAT((*opened)->opened().rebuilt_because.value_or(""), HasSubstr("another ledger"));
  EXPECT_EQ(difference(other, **opened, state), "");
}

class DamagedRows : public testing::Test {
 protected:
  DamagedRows() {
    books_.busy(400);
    { Running running(books_); }
    fs_ = books_.options().fs;
    folders_.emplace(fs_, books_.options().dir);
    current_ = folders_->of(**folders_->current());
  }

  std::string opened_because() {
    Running running(books_);
    EXPECT_EQ(difference(books_, *running.projections, running.state), "");
    return running->opened().rebuilt_because.value_or("");
  }

  void change_rows(const std::function<void(Generation&, rocksdb::WriteBatch&)>& change) {
    auto opened = Generation::open(fs_, current_, false);
    ASSERT_TRUE(opened) << opened.error().ToString();
    rocksdb::WriteBatch batch;
    change(**opened, batch);
    ASSERT_TRUE((*opened)->write(batch).ok());
    ASSERT_TRUE((*opened)->flush(true).ok());
  }

  Bookkeeper books_{10};
  std::shared_ptr<rocksdb::FileSystem> fs_;
  std::optional<Folders> folders_;
  std::string current_;
};

TEST_F(DamagedRows, OfAnotherFormatAreRebuilt) {
  change_rows([](Generation& rows, rocksdb::WriteBatch& batch) {
    batch.Put(rows.family(Family::meta), slice(kFormatKey), "\x7f");
  });
  EXPECT_THAT(opened_because(), HasSubstr("format"));
}

TEST_F(DamagedRows, BeyondTheLogAreRebuilt) {
  change_rows([](Generation& rows, rocksdb::WriteBatch& batch) {
    std::string row;
    append_row(row, Checkpoint{{100'000}, {0}});
    batch.Put(rows.family(Family::meta), slice(kCheckpointKey), row);
  });
  EXPECT_THAT(opened_because(), HasSubstr("log ends at"));
}

TEST_F(DamagedRows, ThatCannotBeReadAreRebuilt) {
  change_rows([](Generation& rows, rocksdb::WriteBatch& batch) {
    batch.Put(rows.family(Family::live), "key", "\xff");
  });
  EXPECT_THAT(opened_because(), HasSubstr("cannot be read"));
}

TEST_F(DamagedRows, WithoutTheirManifestAreRebuilt) {
  std::vector<std::string> files;
  ASSERT_TRUE(fs_->GetChildren(current_, {}, &files, nullptr).ok());
  for (const std::string& file : files) {
    if (file.starts_with("MANIFEST")) {
      ASSERT_TRUE(fs_->DeleteFile(current_ + "/" + file, {}, nullptr).ok());
    }
  }
  EXPECT_THAT(opened_because(), HasSubstr("cannot be read"));
}

TEST_F(DamagedRows, ThatWereDeletedAreRebuilt) {
  ASSERT_TRUE(remove_folder(*fs_, current_).ok());
  EXPECT_NE(opened_because(), "");
}

TEST_F(DamagedRows, LeftoversOfARebuildAreDeleted) {
  ASSERT_TRUE(fs_->CreateDir(folders_->of(77), {}, nullptr).ok());
  EXPECT_EQ(opened_because(), "");
  EXPECT_FALSE(fs_->FileExists(folders_->of(77), {}, nullptr).ok());
}

void expect_recalled(const Bookkeeper& books, const Running& running) {
  std::vector<std::string_view> keys(books.keys().begin(), books.keys().end());
  keys.push_back("unheard-of");
  const auto claims = value_of(running->forgotten(keys));
  ASSERT_EQ(claims.size(), keys.size());
  std::size_t ended = 0;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    const StandingClaim* claim = books.state().find(keys[i]);
    ASSERT_EQ(claims[i].has_value(), is_ended(claim->state)) << keys[i];
    if (!claims[i]) continue;
    EXPECT_EQ(*claims[i], State::snapshot(*claim));
    ++ended;
  }
  EXPECT_GT(ended, 100u);
  EXPECT_EQ(claims.back(), std::nullopt);
  const std::string_view paths[] = {"room-1", "room", "hall"};
  const auto last = value_of(running->last_events(paths));
  EXPECT_EQ(last[0], books.state().last_event("room-1"));
  EXPECT_EQ(last[1], Position{});
  EXPECT_EQ(last[2], books.state().last_event("hall"));
}

TEST(Recall, KnowsWhatEndedAndWhatNeverWas) {
  Bookkeeper books(12);
  books.busy(2'000);
  Running running(books);
  expect_recalled(books, running);
}

// Before, while and after it has learnt which rows there are.
TEST(Recall, KnowsTheSameAfterARestart) {
  Bookkeeper books(13);
  {
    Running running(books);
    running.committed(books.busy(2'000));
    running->stop();
  }
  Running again(books);
  EXPECT_EQ(again->opened().rebuilt_because, std::nullopt);
  for (int i = 0; i < 50; ++i) {
    expect_recalled(books, again);
    again.committed(books.busy(20));
    ASSERT_TRUE(again->wait_for(books.log().head()));
  }
}

}  // namespace
}  // namespace holdfast::projections
