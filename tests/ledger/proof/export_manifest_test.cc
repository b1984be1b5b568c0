#include "ledger/proof/export_manifest.h"

#include <gtest/gtest.h>
#include <map>

#include "ledger/store/sha256.h"

namespace holdfast::proof {
namespace {

using Kind = Flaw::Kind;
using store::MerkleNode;

constexpr std::uint64_t kSize = 70;

std::string record(std::uint64_t position) { return "event " + std::to_string(position); }

// Root of the perfect subtree, from its leaves.
Digest node_of(MerkleNode node) {
  if (node.level == 0) return store::leaf_digest(record(node.index + 1));
  return store::node_digest(node_of({node.level - 1, 2 * node.index}),
                            node_of({node.level - 1, 2 * node.index + 1}));
}
tl::expected<Digest, store::StorageError> read_node(MerkleNode node) { return node_of(node); }
Digest root_of(std::uint64_t size) { return *store::merkle_root(size, read_node); }

class ExportManifestTest : public ::testing::Test {
 protected:
  ExportManifestTest() : key_(SigningKey::generate()), verifier_{{}, key_.public_key()} {
    verifier_.ledger[0] = std::byte{7};
  }

  // Of a log of kSize events, as an export would make it.
  ExportManifest manifest(std::uint64_t from, std::uint64_t until) const {
    ExportManifest manifest;
    manifest.file = "log.jsonl";
    manifest.from = {from};
    manifest.until = {until};
    manifest.count = until + 1 - from;
    manifest.bytes = 12'345;
    manifest.sha256 = store::sha256("the file");
    manifest.root = root_of(until);
    if (from > 1) {
      const auto path = store::inclusion_path(from - 2, from - 1, read_node);
      manifest.before = *peaks_from_last(from - 1, node_of({0, from - 2}), *path);
    }
    if (until < kSize) manifest.consistency = *store::consistency_path(until, kSize, read_node);
    manifest.head = sign_head({verifier_.ledger, kSize, root_of(kSize), {1'000}, {}}, key_);
    manifest.program = "holdfast 0.1.0";
    return manifest;
  }
  Kind flaw(const ExportManifest& manifest) const {
    const auto checked = check_manifest(manifest, verifier_);
    EXPECT_FALSE(checked);
    return checked ? Kind::other_file : checked.error().kind;
  }

  SigningKey key_;
  VerifierKey verifier_;
};

TEST_F(ExportManifestTest, EveryRangeIsProvedFromTheHead) {
  for (std::uint64_t from = 1; from <= kSize; ++from) {
    for (std::uint64_t until = from; until <= kSize; ++until) {
      const ExportManifest made = manifest(from, until);
      const auto head = check_manifest(made, verifier_);
      ASSERT_TRUE(head) << from << " to " << until << ": " << head.error().what;
      EXPECT_EQ(head->size, kSize);
      auto tree = tree_before(made);
      ASSERT_TRUE(tree);
      for (std::uint64_t at = from; at <= until; ++at) tree->append(record(at));
      EXPECT_EQ(tree->root(), made.root) << from << " to " << until;
    }
  }
}

TEST_F(ExportManifestTest, OfAnEmptyLedger) {
  ExportManifest manifest;
  manifest.root = root_of(0);
  manifest.head = sign_head({verifier_.ledger, 0, root_of(0), {}, {}}, key_);
  EXPECT_TRUE(check_manifest(manifest, verifier_));
}

TEST_F(ExportManifestTest, ComesBackFromItsText) {
  ExportManifest made = manifest(5, 60);
  made.format = ExportFormat::csv;
  made.filter = {{"resource", "hall/a"}, {"type", "held"}};
  const auto read = parse_manifest(to_json(made));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, made);
}

TEST_F(ExportManifestTest, OtherTextIsNone) {
  const std::string text = to_json(manifest(5, 60));
  const auto wrong = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto read = parse_manifest(changed);
    return read ? "nothing" : read.error();
  };
  EXPECT_EQ(wrong("export 1", "export 2"), "the manifest: format is not what it should be");
  EXPECT_EQ(wrong("jsonl\",\n \"ledger", "xml\",\n \"ledger"),
            "the manifest: file_format is not what it should be");
  EXPECT_EQ(wrong("\"from\": 5", "\"from\": -5"), "the manifest: from is not what it should be");
  EXPECT_EQ(wrong("\"from\": 5,", ""), "the manifest: from is not what it should be");
  EXPECT_EQ(wrong("\"ledger_id\": \"07", "\"ledger_id\": \"08"),
            "the manifest: head is not what it should be");
  EXPECT_EQ(wrong("\"count\"", "\"more\": 1, \"count\""),
            "the manifest has a member that is unknown");
  EXPECT_EQ(wrong("{", "[").substr(0, 23), "the manifest is no JSON");
}

TEST_F(ExportManifestTest, OfAnotherLedgerKeyOrText) {
  ExportManifest made = manifest(1, kSize);
  VerifierKey other = verifier_;
  other.ledger[0] = std::byte{8};
  EXPECT_EQ(check_manifest(made, other).error().kind, Kind::other_ledger);
  other = {verifier_.ledger, SigningKey::generate().public_key()};
  EXPECT_EQ(check_manifest(made, other).error().kind, Kind::other_key);
  made.head.replace(made.head.find("at 1000"), 7, "at 1001");
  EXPECT_EQ(flaw(made), Kind::bad_signature);
  made.head = "no note";
  EXPECT_EQ(flaw(made), Kind::malformed);
}

TEST_F(ExportManifestTest, ARangeThatTheHeadDoesNotHave) {
  ExportManifest made = manifest(1, kSize);
  made.until = {kSize + 1};
  made.count = kSize + 1;
  EXPECT_EQ(flaw(made), Kind::not_in_log);
  made = manifest(10, 20);
  made.filter = {{"type", "held"}};  // the count says nothing of the range
  for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{22}}) {
    made.from = {from};
    EXPECT_EQ(flaw(made), Kind::malformed) << from;
  }
  made = manifest(10, 20);
  --made.count;
  EXPECT_EQ(flaw(made), Kind::malformed);
  made.filter = {{"type", "held"}};
  EXPECT_TRUE(check_manifest(made, verifier_));
}

TEST_F(ExportManifestTest, ARootThatDoesNotFollow) {
  ExportManifest made = manifest(1, kSize);
  made.root = root_of(kSize - 1);
  EXPECT_EQ(flaw(made), Kind::not_in_log);
  made = manifest(1, 33);
  made.root = root_of(32);
  EXPECT_EQ(flaw(made), Kind::not_in_log);
  made = manifest(1, 33);
  made.consistency.pop_back();
  EXPECT_EQ(flaw(made), Kind::not_in_log);
  made = manifest(1, kSize);
  made.consistency.push_back(root_of(1));
  EXPECT_EQ(flaw(made), Kind::not_in_log);
}

TEST_F(ExportManifestTest, PeaksThatAreNone) {
  ExportManifest made = manifest(8, 20);
  EXPECT_EQ(made.before.size(), 3u);
  made.before.pop_back();
  EXPECT_FALSE(tree_before(made));
  EXPECT_FALSE(peaks_from_last(0, root_of(1), {}));
  EXPECT_FALSE(peaks_from_last(7, root_of(1), {root_of(1)}));
}

TEST(ExportFormats, HaveNames) {
  for (const auto format : {ExportFormat::jsonl, ExportFormat::csv, ExportFormat::bytes}) {
    EXPECT_EQ(export_format(name_of(format)), format);
  }
  EXPECT_EQ(export_format("xml"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::proof
