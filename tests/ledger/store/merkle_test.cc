#include "ledger/store/merkle.h"

#include <gtest/gtest.h>
#include <array>
#include <string>
#include <vector>

#include "ledger/store/sha256.h"
#include "tests/ledger/store/merkle_vectors.h"

namespace holdfast::store {
namespace {

using namespace std::string_literals;

TEST(Merkle, RootOfNothingIsTheHashOfNothing) {
  EXPECT_EQ(hex(MerkleFrontier().root()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Merkle, RootsAreThoseOfCertificateTransparency) {
  MerkleFrontier tree;
  for (const auto& [leaf, root] : kLeavesAndRoots) {
    tree.append(leaf);
    EXPECT_EQ(hex(tree.root()), root) << tree.size() << " leaves";
  }
}

// RFC 6962, 2.1, as it is written: split at the largest power of two below n.
Digest naive_root(const std::vector<std::string>& leaves) {
  if (leaves.empty()) return sha256(std::string_view{});
  if (leaves.size() == 1) return sha256("\0"s + leaves[0]);
  std::size_t split = 1;
  while (split * 2 < leaves.size()) split *= 2;
  const auto middle = leaves.begin() + static_cast<std::ptrdiff_t>(split);
  const Digest left = naive_root({leaves.begin(), middle});
  const Digest right = naive_root({middle, leaves.end()});
  return sha256("\1"s + std::string(view_of(left)) + std::string(view_of(right)));
}

TEST(Merkle, RootsAreThoseOfTheDefinitionAtEverySize) {
  MerkleFrontier tree;
  std::vector<std::string> leaves;
  for (int i = 0; i < 200; ++i) {
    leaves.push_back("leaf " + std::to_string(i));
    tree.append(leaves.back());
    ASSERT_EQ(tree.root(), naive_root(leaves)) << leaves.size() << " leaves";
  }
}

TEST(Merkle, GoesOnFromRestoredPeaks) {
  MerkleFrontier whole;
  for (int i = 0; i < 100; ++i) {
    auto restored = MerkleFrontier::restore(whole.size(), whole.peaks());
    ASSERT_TRUE(restored);
    whole.append("x");
    restored->append("x");
    ASSERT_EQ(restored->root(), whole.root());
  }
}

TEST(Merkle, PeaksThatDoNotFitTheSizeAreTurnedAway) {
  EXPECT_FALSE(MerkleFrontier::restore(3, {Digest{}}));
  EXPECT_FALSE(MerkleFrontier::restore(0, {Digest{}}));
  EXPECT_TRUE(MerkleFrontier::restore(4, {Digest{}}));
}

}  // namespace
}  // namespace holdfast::store
