#include "ledger/store/merkle.h"

#include <gtest/gtest.h>
#include <array>
#include <string>
#include <vector>

#include "ledger/store/sha256.h"

namespace holdfast::store {
namespace {

using namespace std::string_literals;

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::byte byte : digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

// The vectors of Google's certificate-transparency (merkle_tree_test.cc).
const std::vector<std::pair<std::string, std::string>> kLeavesAndRoots{
    {"", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
    {"\x00"s, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
    {"\x10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
    {"\x20\x21", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
    {"\x30\x31", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
    {"\x40\x41\x42\x43", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
    {"\x50\x51\x52\x53\x54\x55\x56\x57",
     "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
    {"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
     "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"},
};

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
