#include "ledger/proof/bundle.h"

#include <gtest/gtest.h>
#include <map>

#include "ledger/store/event_codec.h"
#include "ledger/store/memory_file_system.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::proof {
namespace {

// A log, and bundles made of it as a server would.
class BundleTest : public ::testing::Test {
 protected:
  BundleTest() {
    log_ = store::opened({.fs = disk_.mount(), .dir = "/data"});
    put("hall", Closed{}, {});
    put("hall/a/1", Held{}, "k1");
    put("hall/a/2", Held{}, "k2");
    put("hall/a/1", Extended{}, "k1");
    move("hall/a/2", "hall/a/1", "k2");
    put("hall", Opened{}, {});
    put("hall/a/1", Released{}, "k2");
    for (int i = 0; i < 600; ++i) put("car/" + std::to_string(i % 50), Held{}, "");
    put("hall/a/2", Held{}, "k3");
  }

  void put(const std::string& path, Happening happening, std::string key) {
    Event event = store::numbered_hold(log_->head().value + 1);
    event.resource = Path::trusted(path);
    event.key.reset();
    if (event_has_key(happening)) {
      event.key = Key::trusted(key.empty() ? "car" + std::to_string(event.position.value) : key);
    }
    event.happening = std::move(happening);
    event.previous_on_resource = std::exchange(last_[path], event.position);
    append(event);
  }
  static bool event_has_key(const Happening& happening) {
    return !std::holds_alternative<Closed>(happening) && !std::holds_alternative<Opened>(happening);
  }
  void move(const std::string& from, const std::string& to, const std::string& key) {
    Event event = store::numbered_hold(log_->head().value + 1);
    event.resource = Path::trusted(from);
    event.key = Key::trusted(key);
    event.previous_on_resource = std::exchange(last_[from], event.position);
    event.happening = Moved{Path::trusted(to), {}, std::exchange(last_[to], event.position)};
    append(event);
  }
  void append(const Event& event) {
    const auto done = log_->append({&event, 1}, {.latest = event.recorded_at, .import = {}});
    ASSERT_TRUE(done) << done.error().what;
  }

  ProvedRecord proved(Position position) const {
    ProvedRecord proved{position, {}, {}};
    const auto read = log_->records().read(
        {&position, 1},
        [&](Position, std::string_view record) -> tl::expected<bool, store::StorageError> {
          proved.record = record;
          return true;
        });
    EXPECT_TRUE(read);
    proved.path =
        store::inclusion_path(position.value - 1, log_->head().value, [&](store::MerkleNode node) {
          return log_->records().node(node);
        }).value();
    return proved;
  }
  PathProofs path_proofs(const std::string& resource) const {
    return prove_paths(
               [&](const auto& visit) -> tl::expected<void, store::StorageError> {
                 for (const auto& [path, last] : last_) visit(path, last);
                 return {};
               },
               paths_of(resource))
        .value();
  }
  Head head() const {
    Head head{log_->id(), log_->head().value, log_->root(), {5}, {}};
    head.paths = path_proofs("hall").root;
    return head;
  }
  Bundle bundle(const std::string& resource, std::initializer_list<std::uint64_t> positions) const {
    Bundle bundle{sign_head(head(), key_), resource, {}, path_proofs(resource).proofs};
    for (const std::uint64_t position : positions) bundle.records.push_back(proved({position}));
    return bundle;
  }
  VerifierKey verifier() const { return {log_->id(), key_.public_key()}; }
  void expect_flaw(const Bundle& bundle, Flaw::Kind kind, std::uint64_t position) const {
    const auto verified = verify(bundle, verifier());
    ASSERT_FALSE(verified);
    EXPECT_EQ(name_of(verified.error().kind), name_of(kind)) << verified.error().what;
    EXPECT_EQ(verified.error().position.value, position) << verified.error().what;
  }

  store::MemoryDisk disk_;
  std::unique_ptr<store::Log> log_;
  std::map<std::string, Position> last_;
  const SigningKey key_ = SigningKey::generate();
};

// hall (1, 6), hall/a (nothing), hall/a/1 (2, 4, 5 by a move to it, 7).
TEST_F(BundleTest, AResourcesWholeHistoryIsProved) {
  const Bundle whole = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  const auto verified = verify(whole, verifier());
  ASSERT_TRUE(verified) << verified.error().what;
  EXPECT_TRUE(verified->complete);
  EXPECT_EQ(verified->head, head());
  EXPECT_EQ(verified->events.size(), 6u);
  EXPECT_EQ(verified->events[3].key->str(), "k2");
}

TEST_F(BundleTest, TheMoveAwayIsOfTheOldResourcesHistoryToo) {
  EXPECT_TRUE(verify(bundle("hall/a/2", {1, 3, 5, 6, 608}), verifier()));
  expect_flaw(bundle("hall/a/2", {1, 3, 6, 608}), Flaw::Kind::left_out, 5);
}

TEST_F(BundleTest, AResourceWithoutEventsHasAProvedHistoryOfNothing) {
  const auto verified = verify(bundle("boat/1", {}), verifier());
  ASSERT_TRUE(verified) << verified.error().what;
  EXPECT_TRUE(verified->complete);
  expect_flaw(bundle("hall/a/3", {}), Flaw::Kind::left_out, 6);
}

TEST_F(BundleTest, AnyEventLeftOutIsNamed) {
  expect_flaw(bundle("hall/a/1", {2, 4, 5, 6, 7}), Flaw::Kind::left_out, 1);
  expect_flaw(bundle("hall/a/1", {1, 4, 5, 6, 7}), Flaw::Kind::left_out, 2);
  expect_flaw(bundle("hall/a/1", {1, 2, 4, 6, 7}), Flaw::Kind::left_out, 5);
  expect_flaw(bundle("hall/a/1", {1, 2, 4, 5, 7}), Flaw::Kind::left_out, 6);
  expect_flaw(bundle("hall/a/1", {1, 2, 4, 5, 6}), Flaw::Kind::left_out, 7);
}

TEST_F(BundleTest, AnEventOfAnotherHistoryIsNamed) {
  expect_flaw(bundle("hall/a/1", {1, 2, 3, 4, 5, 6, 7}), Flaw::Kind::not_asked, 3);
}

TEST_F(BundleTest, SingleEventsAreProvedWithoutBeingAll) {
  Bundle some = bundle("hall/a/1", {2, 608});
  some.resource.reset();
  some.paths.clear();
  const auto verified = verify(some, verifier());
  ASSERT_TRUE(verified) << verified.error().what;
  EXPECT_FALSE(verified->complete);
  EXPECT_EQ(verified->events.size(), 2u);
}

TEST_F(BundleTest, AChangedEventIsNamed) {
  Bundle changed = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  changed.records[3].record.at(changed.records[3].record.find("by telephone")) = 'B';
  expect_flaw(changed, Flaw::Kind::not_in_log, 5);
}

TEST_F(BundleTest, AnEventInAnothersPlaceIsNamed) {
  Bundle swapped = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  std::swap(swapped.records[1].record, swapped.records[2].record);
  std::swap(swapped.records[1].path, swapped.records[2].path);
  expect_flaw(swapped, Flaw::Kind::not_in_log, 2);
  Bundle unordered = bundle("hall/a/1", {1, 4, 2, 5, 6, 7});
  expect_flaw(unordered, Flaw::Kind::malformed, 2);
}

// A log can be signed in which an event stands where it does not say it does.
TEST_F(BundleTest, AnEventThatNamesAnotherPositionIsNamed) {
  std::string record;
  store::encode(store::numbered_hold(2), record);
  const Head lying{log_->id(), 1, store::leaf_digest(record), {5}, {}};
  expect_flaw({sign_head(lying, key_), {}, {{Position{1}, record, {}}}, {}}, Flaw::Kind::not_in_log,
              1);
}

TEST_F(BundleTest, ProofsOfOtherPathsOrOfAnotherHeadAreNone) {
  Bundle other = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  other.paths = path_proofs("hall/a/2").proofs;
  expect_flaw(other, Flaw::Kind::bad_paths, 0);
  other = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  other.paths.pop_back();
  expect_flaw(other, Flaw::Kind::bad_paths, 0);
  other = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  --other.paths[2].entries[0].last.value;
  expect_flaw(other, Flaw::Kind::bad_paths, 0);
  other = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  other.paths.push_back(other.paths.back());
  expect_flaw(other, Flaw::Kind::bad_paths, 0);
  Head without = head();
  without.paths.reset();
  other = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  other.head = sign_head(without, key_);
  expect_flaw(other, Flaw::Kind::bad_paths, 0);
}

// Signed by the ledger itself, and yet it cannot be.
TEST_F(BundleTest, ALastPositionBeyondTheHeadIsNone) {
  last_["boat/1"] = log_->head() + 1;
  expect_flaw(bundle("boat/1", {}), Flaw::Kind::bad_paths, 0);
}

TEST_F(BundleTest, AChainThatDoesNotGoBackIsNone) {
  last_["boat/1"] = log_->head() + 1;
  move("hall/a/1", "boat/1", "k1");  // which names itself as the one before on boat/1
  expect_flaw(bundle("boat/1", {log_->head().value}), Flaw::Kind::malformed, log_->head().value);
}

TEST_F(BundleTest, AHeadOfSomebodyElseIsNotBelieved) {
  Bundle forged = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  forged.head = sign_head(head(), SigningKey::generate());
  expect_flaw(forged, Flaw::Kind::other_key, 0);
  Head of_another = head();
  of_another.ledger = {};
  forged.head = sign_head(of_another, key_);
  expect_flaw(forged, Flaw::Kind::other_ledger, 0);
  forged.head = sign_head(head(), key_);
  forged.head.replace(forged.head.find("at 5"), 4, "at 6");
  expect_flaw(forged, Flaw::Kind::bad_signature, 0);
}

TEST_F(BundleTest, IsReadAsItIsWritten) {
  const Bundle whole = bundle("hall/a/1", {1, 2, 4, 5, 6, 7});
  const auto read = parse_bundle(to_json(whole));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, whole);
}

TEST_F(BundleTest, WhatIsNoBundleIsSaidSo) {
  const std::string json = to_json(bundle("hall/a/1", {1, 2}));
  const auto error_of = [](std::string_view text) {
    const auto read = parse_bundle(text);
    return read ? "" : read.error();
  };
  EXPECT_EQ(error_of(json.substr(0, 40)), "the file is no JSON: incomplete JSON");
  EXPECT_EQ(error_of("[]"), "the file is no object");
  EXPECT_EQ(error_of("{}"), "the file has no format");
  const auto replaced = [&](std::string_view what, std::string_view with) {
    std::string text = json;
    return text.replace(text.find(what), what.size(), with);
  };
  EXPECT_EQ(error_of(replaced("bundle 1", "bundle 2")),
            "the file: format is not what it should be");
  EXPECT_EQ(error_of(replaced("\"position\":1", "\"position\":-1")),
            "record 1: position is not what it should be");
  EXPECT_EQ(error_of(replaced("\"position\":1", "\"positron\":1")), "record 1 has no position");
  EXPECT_EQ(error_of(replaced("\"audit\":[\"", "\"audit\":[\"0")),
            "record 1: audit is not what it should be");
  EXPECT_EQ(error_of(replaced("\"paths\":[", "\"more\":1,\"paths\":[")),
            "the file has a member that is unknown");
}

}  // namespace
}  // namespace holdfast::proof
