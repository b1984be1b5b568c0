#include "ledger/store/merkle_proof.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "ledger/store/merkle.h"
#include "ledger/store/sha256.h"
#include "tests/ledger/store/merkle_vectors.h"

namespace holdfast::store {
namespace {

// Every node of a tree, kept as it is completed.
class WholeTree {
 public:
  void append(std::string_view record) {
    put({0, frontier_.size()}, leaf_digest(record));
    frontier_.append(leaf_digest(record),
                     [&](MerkleNode node, const Digest& digest) { put(node, digest); });
    roots_.push_back(frontier_.root());
  }
  ReadNode reader() const {
    return [this](MerkleNode node) -> tl::expected<Digest, StorageError> {
      return levels_.at(node.level).at(node.index);
    };
  }
  const Digest& leaf(std::uint64_t index) const { return levels_.at(0).at(index); }
  const Digest& root(std::uint64_t size) const { return roots_.at(size); }

 private:
  void put(MerkleNode node, const Digest& digest) {
    levels_.resize(std::max<std::size_t>(levels_.size(), node.level + 1));
    ASSERT_EQ(levels_[node.level].size(), node.index);
    levels_[node.level].push_back(digest);
  }

  MerkleFrontier frontier_;
  std::vector<Digest> roots_{MerkleFrontier().root()};
  std::vector<std::vector<Digest>> levels_;
};

WholeTree tree_of_the_vectors() {
  WholeTree tree;
  for (const auto& [leaf, root] : kLeavesAndRoots) tree.append(leaf);
  return tree;
}

std::vector<std::string> hex_of(const MerklePath& path) {
  std::vector<std::string> all;
  for (const Digest& digest : path) all.push_back(hex(digest));
  return all;
}

constexpr auto k96a2 = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
constexpr auto k5f08 = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
constexpr auto k6b47 = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
constexpr auto kbc1a = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
constexpr auto kca85 = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
constexpr auto kd37e = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7";
constexpr auto kfac5 = "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125";
constexpr auto k6e34 = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
constexpr auto k0ebc = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";

using Texts = std::vector<std::string>;

// The vectors of Google's certificate-transparency (merkle_tree_test.cc), which count leaves
// from 1.
TEST(MerkleProof, InclusionPathsAreThoseOfCertificateTransparency) {
  const WholeTree tree = tree_of_the_vectors();
  const auto path = [&](std::uint64_t leaf, std::uint64_t size) {
    return hex_of(inclusion_path(leaf - 1, size, tree.reader()).value());
  };
  EXPECT_EQ(path(1, 1), Texts{});
  EXPECT_EQ(path(1, 8), (Texts{k96a2, k5f08, k6b47}));
  EXPECT_EQ(path(6, 8), (Texts{kbc1a, kca85, kd37e}));
  EXPECT_EQ(path(3, 3), (Texts{kfac5}));
  EXPECT_EQ(path(2, 5), (Texts{k6e34, k5f08, kbc1a}));
}

TEST(MerkleProof, ConsistencyPathsAreThoseOfCertificateTransparency) {
  const WholeTree tree = tree_of_the_vectors();
  const auto path = [&](std::uint64_t first, std::uint64_t size) {
    return hex_of(consistency_path(first, size, tree.reader()).value());
  };
  EXPECT_EQ(path(1, 1), Texts{});
  EXPECT_EQ(path(1, 8), (Texts{k96a2, k5f08, k6b47}));
  EXPECT_EQ(path(6, 8), (Texts{k0ebc, kca85, kd37e}));
  EXPECT_EQ(path(2, 5), (Texts{k5f08, kbc1a}));
}

TEST(MerkleProof, RootsAtEverySizeAreTheFrontiers) {
  WholeTree tree;
  for (std::uint64_t size = 0; size <= 130; ++size) {
    EXPECT_EQ(merkle_root(size, tree.reader()), tree.root(size));
    tree.append("record " + std::to_string(size));
  }
}

// All pairs up to a size that has every shape of ragged edge.
TEST(MerkleProof, EveryLeafIsProvedAndNothingElse) {
  WholeTree tree;
  for (std::uint64_t size = 1; size <= 66; ++size) {
    tree.append("record " + std::to_string(size));
    for (std::uint64_t index = 0; index < size; ++index) {
      auto path = inclusion_path(index, size, tree.reader()).value();
      const Digest& root = tree.root(size);
      ASSERT_TRUE(is_included(tree.leaf(index), index, size, path, root));
      const Digest other = leaf_digest("another record");
      ASSERT_FALSE(is_included(other, index, size, path, root));
      ASSERT_FALSE(is_included(tree.leaf(index), index, size, path, tree.root(size - 1)));
      ASSERT_FALSE(is_included(tree.leaf(index), size, size, path, root));
      if (index > 0) {
        ASSERT_FALSE(is_included(tree.leaf(index), index - 1, size, path, root));
      }
      path.push_back(other);
      ASSERT_FALSE(is_included(tree.leaf(index), index, size, path, root));
      path.pop_back();
      if (path.empty()) continue;
      path.pop_back();
      ASSERT_FALSE(is_included(tree.leaf(index), index, size, path, root));
    }
  }
}

TEST(MerkleProof, EveryEarlierTreeIsProvedAndNoOther) {
  WholeTree tree;
  WholeTree fork;
  fork.append("another beginning");
  for (std::uint64_t size = 1; size <= 66; ++size) {
    tree.append("record " + std::to_string(size));
    fork.append("record " + std::to_string(size + 1));
    for (std::uint64_t first = 1; first <= size; ++first) {
      auto path = consistency_path(first, size, tree.reader()).value();
      ASSERT_TRUE(is_consistent(first, tree.root(first), size, tree.root(size), path));
      ASSERT_FALSE(is_consistent(first, fork.root(first), size, tree.root(size), path));
      ASSERT_FALSE(is_consistent(first, tree.root(first), size, fork.root(size), path));
      ASSERT_FALSE(is_consistent(0, tree.root(first), size, tree.root(size), path));
      // A tree with a level more, of which the path says nothing.
      const std::uint64_t larger = 2 * std::bit_ceil(size);
      ASSERT_FALSE(is_consistent(first, tree.root(first), larger, tree.root(size), path));
      path.push_back(tree.leaf(0));
      ASSERT_FALSE(is_consistent(first, tree.root(first), size, tree.root(size), path));
      path.pop_back();
      if (path.empty()) continue;
      path.pop_back();
      ASSERT_FALSE(is_consistent(first, tree.root(first), size, tree.root(size), path));
    }
  }
}

TEST(MerkleProof, ReadsFewNodes) {
  WholeTree tree;
  for (int i = 0; i < 5'000; ++i) tree.append("record " + std::to_string(i));
  std::size_t reads = 0;
  const ReadNode counting = [&](MerkleNode node) {
    ++reads;
    return tree.reader()(node);
  };
  // At each of 13 levels a side, which at the ragged edge is made of a few nodes.
  for (const std::uint64_t index : {0ull, 2'047ull, 4'999ull}) {
    reads = 0;
    ASSERT_TRUE(inclusion_path(index, 5'000, counting));
    EXPECT_LE(reads, 26u);
  }
}

}  // namespace
}  // namespace holdfast::store
