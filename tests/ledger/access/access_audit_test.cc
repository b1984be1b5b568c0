#include "ledger/access/access_audit.h"

#include <gtest/gtest.h>
#include <functional>

#include "ledger/store/log_db.h"
#include "ledger/store/record_log.h"
#include "ledger/store/sha256.h"
#include "ledger/store/watermark.h"
#include "tests/ledger/access/opened.h"

namespace holdfast::access {
namespace {

using Kind = proof::LogFlaw::Kind;

// A log of ten records, which somebody has rewritten through RocksDB itself.
class Spoilt : public OpenedLog {
 protected:
  Spoilt() {
    const auto log = open();
    for (int i = 0; i < 10; ++i) log->record(query_of("ann-" + std::to_string(i)));
  }

  void spoil(const std::function<void(const store::LogDb&)>& change) {
    const auto db = store::LogDb::open(disk_.mount(), "/data/access");
    ASSERT_TRUE(db) << db.error().what;
    change(**db);
    ASSERT_TRUE((*db)->db().Flush({}).ok());
  }
  static std::string get(const store::LogDb& db, std::uint64_t position) {
    const auto key = store::event_key({position});
    std::string value;
    EXPECT_TRUE(db.db().Get({}, db.events(), {key.data(), key.size()}, &value).ok());
    return value;
  }
  static void put(const store::LogDb& db, std::uint64_t position, const std::string& value) {
    const auto key = store::event_key({position});
    EXPECT_TRUE(db.db().Put({}, db.events(), {key.data(), key.size()}, value).ok());
  }
  static void put_leaf(const store::LogDb& db, std::uint64_t position, const std::string& record) {
    const auto key = store::run_key({position});
    const Digest leaf = store::leaf_digest(record);
    const std::string_view bytes = store::view_of(leaf);
    EXPECT_TRUE(db.db()
                    .Put({}, db.tree(), {key.data(), key.size()},
                         rocksdb::Slice(bytes.data(), bytes.size()))
                    .ok());
  }
  static void remove(const store::LogDb& db, std::uint64_t position) {
    const auto key = store::event_key({position});
    EXPECT_TRUE(db.db().Delete({}, db.events(), {key.data(), key.size()}).ok());
  }
  auto audited() {
    return audit_access_log(disk_.mount(), "/data", [](Position, Position) {});
  }
  void expect_flaw(Kind kind, std::uint64_t position) {
    const auto found = audited();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, kind) << found.error().what;
    EXPECT_EQ(found.error().first.value, position);
  }
};

TEST_F(Spoilt, NotAtAll) {
  const auto found = audited();
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->head, Position{10});
  const auto log = open();
  EXPECT_EQ(found->root, log->records().root());
}

TEST_F(Spoilt, ARecordIsEdited) {
  spoil([](const store::LogDb& db) { put(db, 4, encode({{4}, kNoon, query_of("nobody")})); });
  expect_flaw(Kind::edited, 4);
}

TEST_F(Spoilt, ARecordIsTakenOut) {
  spoil([](const store::LogDb& db) { remove(db, 4); });
  expect_flaw(Kind::missing, 4);
}

TEST_F(Spoilt, TwoRecordsAreSwapped) {
  spoil([](const store::LogDb& db) {
    const std::string third = get(db, 3);
    put(db, 3, get(db, 7));
    put(db, 7, third);
  });
  expect_flaw(Kind::swapped, 3);
}

TEST_F(Spoilt, TheTailIsCutOff) {
  spoil([](const store::LogDb& db) {
    remove(db, 9);
    remove(db, 10);
  });
  expect_flaw(Kind::shortened, 9);
}

TEST_F(Spoilt, ARecordIsAddedBehindItsHead) {
  spoil([](const store::LogDb& db) {
    const std::string record = encode({{11}, kNoon, query_of("nobody")});
    put(db, 11, record);
    put_leaf(db, 11, record);
  });
  expect_flaw(Kind::forked, 11);
}

TEST_F(Spoilt, ARecordIsEditedAndItsLeafMadeToFit) {
  const std::string record = encode({{4}, kNoon, query_of("nobody")});
  spoil([&](const store::LogDb& db) {
    put(db, 4, record);
    for (std::uint64_t at = 1; at <= 10; ++at) put_leaf(db, at, get(db, at));
  });
  expect_flaw(Kind::forked, 1);
  // And its own head: what is left to tell is the watermark.
  spoil([&](const store::LogDb& db) {
    const store::Head head = db.unchecked_survey()->heads.front();
    store::MerkleFrontier tree;
    for (std::uint64_t at = 1; at <= 10; ++at) tree.append(get(db, at));
    const std::string made = store::encode(store::Head{head.group, head.latest, tree});
    EXPECT_TRUE(db.db().Put({}, db.meta(), store::head_key(head.group), made).ok());
  });
  expect_flaw(Kind::forked, 1);
}

TEST_F(Spoilt, WhatWasAppendedIsNoRecordOrOlderThanTheOneBefore) {
  for (const std::string& second :
       {std::string("nothing"), encode({{2}, kNoon - Duration{1}, query_of("ann")})}) {
    disk_ = {};
    {
      const auto log = store::RecordLog::open({.fs = disk_.mount(), .dir = "/data/access"});
      ASSERT_TRUE(log) << log.error().what;
      (*log)->add(encode({{1}, kNoon, query_of("ann")}));
      (*log)->add(second);
      ASSERT_TRUE((*log)->write({.latest = kNoon}));
    }
    expect_flaw(second == "nothing" ? Kind::unreadable : Kind::broken_chain, 2);
  }
}

TEST_F(Spoilt, AnotherLogStandsBesideTheWatermark) {
  const auto fs = disk_.mount();
  ASSERT_TRUE(fs->RenameFile("/data/access/watermark", "/data/mark", {}, nullptr).ok());
  ASSERT_TRUE(fs->RenameFile("/data/access/ledger", "/data/away", {}, nullptr).ok());
  {
    const auto log = open();
    for (int i = 0; i < 10; ++i) log->record(query_of("bob"));
  }
  ASSERT_TRUE(fs->RenameFile("/data/mark", "/data/access/watermark", {}, nullptr).ok());
  expect_flaw(Kind::replaced, 0);
}

}  // namespace
}  // namespace holdfast::access
