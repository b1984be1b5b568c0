#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/store/log_db.h"
#include "ledger/store/log_verify.h"
#include "ledger/store/memory_file_system.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::store {
namespace {

using ::testing::HasSubstr;

class VerifyTest : public ::testing::Test {
 protected:
  void write(const std::vector<Event>& events) {
    const auto log = opened({.fs = disk_.mount(), .dir = "/data"});
    const auto done = log->append(events, {});
    ASSERT_TRUE(done) << done.error().what;
  }
  std::string verify() {
    const auto log = opened({.fs = disk_.mount(), .dir = "/data"});
    const auto done = log->verify([](Position) {});
    return done ? "" : done.error().what;
  }

  MemoryDisk disk_;
};

TEST_F(VerifyTest, AWholeLogIsWhole) {
  write(numbered_holds(1, 100));
  EXPECT_EQ(verify(), "");
}

TEST_F(VerifyTest, AStoredEventThatWasChangedIsFound) {
  write(numbered_holds(1, 100));
  {
    // Into RocksDB directly: its own checksums are right.
    const auto db = LogDb::open(disk_.mount(), "/data");
    ASSERT_TRUE(db) << db.error().what;
    const auto key = event_key({50});
    std::string value;
    ASSERT_TRUE((*db)->db().Get({}, (*db)->events(), {key.data(), key.size()}, &value).ok());
    value[value.find("seat-12")] = 'S';
    ASSERT_TRUE((*db)->db().Put({}, (*db)->events(), {key.data(), key.size()}, value).ok());
  }
  EXPECT_NE(verify(), "");
}

TEST_F(VerifyTest, AMissingEventIsFound) {
  write(numbered_holds(1, 100));
  {
    const auto db = LogDb::open(disk_.mount(), "/data");
    ASSERT_TRUE(db) << db.error().what;
    const auto key = event_key({50});
    ASSERT_TRUE((*db)->db().Delete({}, (*db)->events(), {key.data(), key.size()}).ok());
  }
  EXPECT_EQ(verify(), "position 50 is missing");
}

TEST_F(VerifyTest, AChangedEventThatStillFitsItsChainsIsFoundByTheRoot) {
  auto events = numbered_holds(1, 3);
  write(events);
  {
    const auto db = LogDb::open(disk_.mount(), "/data");
    ASSERT_TRUE(db) << db.error().what;
    const auto key = event_key({2});
    std::string value;
    ASSERT_TRUE((*db)->db().Get({}, (*db)->events(), {key.data(), key.size()}, &value).ok());
    value[value.find("by telephone")] = 'B';
    ASSERT_TRUE((*db)->db().Put({}, (*db)->events(), {key.data(), key.size()}, value).ok());
  }
  EXPECT_THAT(verify(), HasSubstr("do not give the Merkle root"));
}

TEST_F(VerifyTest, ALinkLeftOutOfAChainIsFound) {
  auto events = numbered_holds(1, 3);
  events[2].previous_on_resource = {1};
  write(events);
  EXPECT_EQ(verify(),
            "position 3 (held): it names position 1 as the one before it of "
            "hall/section-a/seat-12 instead of 2");
}

TEST_F(VerifyTest, ATransactionThatIsNotWholeIsFound) {
  auto events = numbered_holds(1, 3);
  events[0].transaction_count = 2;
  write(events);
  EXPECT_EQ(verify(), "position 2 (held): it names transaction 2 amid transaction 1");
}

TEST_F(VerifyTest, TimeThatGoesBackIsFound) {
  auto events = numbered_holds(1, 3);
  events[2].recorded_at = events[1].recorded_at - Duration{1};
  write(events);
  EXPECT_THAT(verify(), HasSubstr("position 3 (held): it was recorded before"));
}

}  // namespace
}  // namespace holdfast::store
