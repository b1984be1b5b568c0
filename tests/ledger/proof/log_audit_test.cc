#include "ledger/proof/log_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/proof/path_proof.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/log_db.h"
#include "ledger/store/memory_file_system.h"
#include "ledger/store/record_log.h"
#include "ledger/store/sha256.h"
#include "ledger/store/watermark.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::proof {
namespace {

using store::event_key;
using store::LogDb;
using store::numbered_hold;
using store::numbered_holds;
using testing::HasSubstr;

std::string flaw_of(const tl::expected<Audited, LogFlaw>& audited) {
  if (audited) return "";
  return std::string(name_of(audited.error().kind)) + " " +
         std::to_string(audited.error().first.value);
}

// A ledger of 1,000 events, closed, and somebody who can write to its RocksDB: all of RocksDB's own
// checksums are right.
class LogAuditTest : public ::testing::Test {
 protected:
  LogAuditTest() {
    const auto log = open();
    for (int group = 0; group < 100; ++group) {
      const std::uint64_t head = log->head().value;
      write(*log, numbered_holds(head + 1, head + 10));
      if (group % 10 == 9) published_.push_back(head_of(*log));
    }
  }

  std::unique_ptr<store::Log> open() {
    return store::opened({.fs = disk_.mount(), .dir = "/data"});
  }
  static void write(store::Log& log, const std::vector<Event>& events) {
    const auto done = log.append(events, {.latest = events.back().recorded_at, .import = {}});
    ASSERT_TRUE(done) << done.error().what;
  }
  static Head head_of(const store::Log& log) {
    return {log.id(), log.head().value, log.root(), log.latest(), {}};
  }
  tl::expected<Audited, LogFlaw> audit(bool with_heads = false) {
    return audit_log(
        {.fs = disk_.mount(),
         .dir = "/data",
         .published = with_heads ? std::span<const Head>(published_) : std::span<const Head>()},
        [](Position, Position) {});
  }

  void tamper(const std::function<void(const LogDb&)>& with) {
    const auto db = LogDb::open(disk_.mount(), "/data");
    ASSERT_TRUE(db) << db.error().what;
    with(**db);
  }
  static std::string stored(const LogDb& db, Position position) {
    const auto key = event_key(position);
    std::string value;
    EXPECT_TRUE(db.db().Get({}, db.events(), {key.data(), key.size()}, &value).ok());
    return value;
  }
  static void store_at(const LogDb& db, Position position, const std::string& value) {
    const auto key = event_key(position);
    EXPECT_TRUE(db.db().Put({}, db.events(), {key.data(), key.size()}, value).ok());
  }
  static void erase(const LogDb& db, Position from, Position until) {
    for (Position at = from; at <= until; at = at + 1) {
      const auto key = event_key(at);
      EXPECT_TRUE(db.db().Delete({}, db.events(), {key.data(), key.size()}).ok());
    }
  }
  static void edit(const LogDb& db, Position position) {
    std::string value = stored(db, position);
    value.at(value.find("by telephone")) = 'B';
    store_at(db, position, value);
  }
  // The whole of the log, honestly made by another hand: `events` in place of what was there.
  // With `keep_id` under the same ledger id.
  void replace_with(const std::vector<Event>& events, bool keep_id) {
    store::LedgerId id{};
    tamper([&](const LogDb& db) { id = db.survey()->identity.id; });
    disk_ = {};
    store::Mark mark{id, 1, {}, {}, {}};
    {
      const auto log = open();
      write(*log, events);
      mark.position = log->head();
      mark.root = log->root();
    }
    if (!keep_id) return;
    // Even the watermark is written anew.
    tamper([&](const LogDb& db) {
      EXPECT_TRUE(
          db.db()
              .Put({}, db.meta(), store::kIdentityKey, store::encode(store::Identity{id, {}}))
              .ok());
    });
    ASSERT_TRUE(store::Watermark::create(*disk_.mount(), "/data", mark));
  }

  store::MemoryDisk disk_;
  std::vector<Head> published_;
};

TEST_F(LogAuditTest, AWholeLogIsWhole) {
  const auto audited = audit(true);
  ASSERT_TRUE(audited) << audited.error().what;
  EXPECT_EQ(audited->head, Position{1'000});
  EXPECT_EQ(audited->root, published_.back().root);
}

TEST_F(LogAuditTest, AnEditedEventIsNamed) {
  tamper([](const LogDb& db) {
    edit(db, {507});
    edit(db, {700});
  });
  EXPECT_EQ(flaw_of(audit()), "edited 507");
}

TEST_F(LogAuditTest, AnEventThatIsNoneAnyMoreIsNamed) {
  tamper([](const LogDb& db) { store_at(db, {999}, "nothing"); });
  EXPECT_EQ(flaw_of(audit()), "edited 999");
}

TEST_F(LogAuditTest, ADeletedEventIsNamed) {
  tamper([](const LogDb& db) { erase(db, {50}, {50}); });
  EXPECT_EQ(flaw_of(audit()), "missing 50");
}

TEST_F(LogAuditTest, SwappedEventsAreNamed) {
  tamper([](const LogDb& db) {
    const std::string earlier = stored(db, {20});
    store_at(db, {20}, stored(db, {900}));
    store_at(db, {900}, earlier);
  });
  EXPECT_EQ(flaw_of(audit()), "swapped 20");
}

TEST_F(LogAuditTest, AnEventCopiedOverAnotherIsEdited) {
  tamper([](const LogDb& db) { store_at(db, {20}, stored(db, {900})); });
  EXPECT_EQ(flaw_of(audit()), "edited 20");
}

TEST_F(LogAuditTest, ACutTailIsNamed) {
  tamper([](const LogDb& db) { erase(db, {951}, {1'000}); });
  const auto audited = audit();
  EXPECT_EQ(flaw_of(audited), "shortened 951");
  EXPECT_THAT(audited.error().what, HasSubstr("positions 951 to 1000 are gone"));
}

TEST_F(LogAuditTest, ACutTailWithAHeadToFitIsToldByTheWatermark) {
  tamper([](const LogDb& db) {
    store::MerkleFrontier tree;
    for (Position at{1}; at <= Position{950}; at = at + 1) tree.append(stored(db, at));
    erase(db, {951}, {1'000});
    for (std::uint64_t group = 93; group <= 100; ++group) {
      EXPECT_TRUE(db.db()
                      .Put({}, db.meta(), store::head_key(group),
                           store::encode(store::Head{group, {0}, tree}))
                      .ok());
    }
  });
  EXPECT_EQ(flaw_of(audit()), "shortened 951");
}

TEST_F(LogAuditTest, AForgedTreeIsToldByTheWatermarkAndNarrowedByPublishedHeads) {
  tamper([&](const LogDb& db) {
    edit(db, {507});
    // Every leaf, node and head made anew to fit.
    store::MerkleFrontier tree;
    for (Position at{1}; at <= Position{1'000}; at = at + 1) {
      const Digest leaf = store::leaf_digest(stored(db, at));
      const auto key = store::run_key(at);
      tree.append(leaf, [](store::MerkleNode, const Digest&) {});
      const std::string_view bytes = store::view_of(leaf);
      EXPECT_TRUE(db.db()
                      .Put({}, db.tree(), {key.data(), key.size()},
                           rocksdb::Slice(bytes.data(), bytes.size()))
                      .ok());
    }
    EXPECT_TRUE(
        db.db()
            .Put({}, db.meta(), store::head_key(100), store::encode(store::Head{100, {0}, tree}))
            .ok());
  });
  EXPECT_EQ(flaw_of(audit()), "forked 1");
  const auto audited = audit(true);
  EXPECT_EQ(flaw_of(audited), "forked 501");
  EXPECT_THAT(audited.error().what, HasSubstr("positions 501 to 600 are not those which the "
                                              "published head of size 600 was made of"));
}

TEST_F(LogAuditTest, AShorterHonestLogInItsPlaceIsTold) {
  replace_with(numbered_holds(1, 300), false);
  EXPECT_EQ(flaw_of(audit()), "");  // it is whole, for all that it says itself
  EXPECT_EQ(flaw_of(audit(true)), "replaced 0");
}

TEST_F(LogAuditTest, AnEarlierStateOfTheSameLogIsShortened) {
  replace_with(numbered_holds(1, 300), true);
  EXPECT_EQ(flaw_of(audit()), "");
  EXPECT_EQ(flaw_of(audit(true)), "shortened 301");
}

TEST_F(LogAuditTest, AnotherHistoryUnderTheSameIdIsForked) {
  auto events = numbered_holds(1, 1'200);
  events[449].actor = Actor::trusted("somebody else");
  replace_with(events, true);
  EXPECT_EQ(flaw_of(audit()), "");
  EXPECT_EQ(flaw_of(audit(true)), "forked 401");
}

TEST_F(LogAuditTest, APathsRootThatTheEventsDoNotGiveIsTold) {
  // All samples are on one path, whose last event of the first 1,000 is the last.
  const auto paths_with = [](Position last) {
    return prove_paths(
               [&](const auto& visit) -> tl::expected<void, store::StorageError> {
                 visit(numbered_hold(1).resource.str(), last);
                 return {};
               },
               {})
        ->root;
  };
  published_.back().paths = paths_with({1'000});
  EXPECT_EQ(flaw_of(audit(true)), "");
  published_.back().paths = paths_with({999});
  EXPECT_EQ(flaw_of(audit(true)), "bad_paths 1000");
}

TEST_F(LogAuditTest, AWatermarkOfAnotherLedgerIsTold) {
  const store::Mark mark{store::LedgerId{std::byte{9}}, 100, {1'000}, published_.back().root, {}};
  ASSERT_TRUE(store::Watermark::create(*disk_.mount(), "/data", mark));
  EXPECT_EQ(flaw_of(audit()), "replaced 0");
}

TEST_F(LogAuditTest, AnEventBeyondTheLogsOwnHeadIsTold) {
  tamper([](const LogDb& db) {
    std::string record;
    store::encode(numbered_hold(1'001), record);
    store_at(db, {1'001}, record);
    const auto key = store::run_key({1'001});
    const Digest leaf = store::leaf_digest(record);
    const std::string_view bytes = store::view_of(leaf);
    EXPECT_TRUE(db.db()
                    .Put({}, db.tree(), {key.data(), key.size()},
                         rocksdb::Slice(bytes.data(), bytes.size()))
                    .ok());
  });
  EXPECT_EQ(flaw_of(audit()), "forked 1001");
}

TEST_F(LogAuditTest, WhatIsNoEventThoughItWasAppendedIsNamed) {
  disk_ = {};
  {
    const auto log = store::RecordLog::open({.fs = disk_.mount(), .dir = "/data"});
    ASSERT_TRUE(log);
    std::string record;
    store::encode(numbered_hold(1), record);
    (*log)->add(record);
    (*log)->add("nothing");
    ASSERT_TRUE((*log)->write({.latest = {1'000}}));
  }
  EXPECT_EQ(flaw_of(audit()), "unreadable 2");
}

TEST_F(LogAuditTest, LeavesThatAreGoneAreTold) {
  tamper([](const LogDb& db) {
    const auto from = store::run_key({1});
    const auto until = store::run_key({1'001});
    EXPECT_TRUE(
        db.db()
            .DeleteRange({}, db.tree(), {from.data(), from.size()}, {until.data(), until.size()})
            .ok());
  });
  EXPECT_EQ(flaw_of(audit()), "edited 1");
}

TEST_F(LogAuditTest, ALedgerFromBeforeTheTreeIsJudgedByItsHeads) {
  const auto drop_tree = [](const LogDb& db) {
    EXPECT_TRUE(db.db().DropColumnFamily(db.tree()).ok());
  };
  tamper(drop_tree);
  EXPECT_EQ(flaw_of(audit(true)), "");
  tamper([](const LogDb& db) { edit(db, {507}); });
  tamper(drop_tree);
  EXPECT_EQ(flaw_of(audit(true)), "forked 501");
}

// -- what only the events themselves tell

class ChainsTest : public LogAuditTest {
 protected:
  std::string audit_of(const std::vector<Event>& events) {
    replace_with(events, false);
    const auto audited = audit();
    return audited ? "" : flaw_of(audited) + ": " + audited.error().what;
  }
};

TEST_F(ChainsTest, ALinkLeftOutIsFound) {
  auto events = numbered_holds(1, 3);
  events[2].previous_on_resource = {1};
  EXPECT_EQ(audit_of(events),
            "broken_chain 3: position 3 (held): it names position 1 as the one before it of "
            "hall/section-a/seat-12 instead of 2");
}

TEST_F(ChainsTest, AClaimsLinkWithoutAClaimIsFound) {
  auto events = numbered_holds(1, 3);
  events[2].happening = Closed{};
  events[2].key.reset();
  events[2].previous_of_claim = {1};
  EXPECT_THAT(audit_of(events), HasSubstr("broken_chain 3: position 3 (closed): it has no key"));
}

TEST_F(ChainsTest, ATransactionThatIsNotWholeIsFound) {
  auto events = numbered_holds(1, 3);
  events[0].transaction_count = 2;
  EXPECT_EQ(audit_of(events),
            "broken_chain 2: position 2 (held): it names transaction 2 amid transaction 1");
}

TEST_F(ChainsTest, TimeThatGoesBackIsFound) {
  auto events = numbered_holds(1, 3);
  events[2].recorded_at = events[1].recorded_at - Duration{1};
  EXPECT_THAT(audit_of(events),
              HasSubstr("broken_chain 3: position 3 (held): it was recorded before"));
}

}  // namespace
}  // namespace holdfast::proof
