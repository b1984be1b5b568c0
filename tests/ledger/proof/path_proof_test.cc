#include "ledger/proof/path_proof.h"

#include <gtest/gtest.h>
#include <map>

#include "ledger/store/merkle.h"

namespace holdfast::proof {
namespace {

using Paths = std::map<std::string, Position>;

ForEachPath each_of(const Paths& paths) {
  return [&paths](const auto& visit) -> tl::expected<void, store::StorageError> {
    for (const auto& [path, last] : paths) visit(path, last);
    return {};
  };
}

Paths paths_named(std::uint64_t count) {
  Paths paths;
  for (std::uint64_t i = 0; i < count; ++i) {
    paths.emplace("hall/" + std::to_string(100 + 2 * i), Position{7 + i});
  }
  return paths;
}

// Present ones, and absent ones before, between and after them.
std::vector<std::string> asked_of(std::uint64_t count) {
  std::vector<std::string> asked{"hall/z", "a"};
  for (std::uint64_t i = 0; i < 2 * count; ++i) asked.push_back("hall/" + std::to_string(100 + i));
  return asked;
}

TEST(PathProof, TellsOfEveryPathAndOfThoseThatAreNotThere) {
  for (const std::uint64_t count : {0, 1, 2, 3, 4, 5, 31, 32, 33}) {
    const Paths paths = paths_named(count);
    const auto asked = asked_of(count);
    const auto made = prove_paths(each_of(paths), asked);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->root.count, count);
    ASSERT_EQ(made->proofs.size(), asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      EXPECT_EQ(made->proofs[i].path, asked[i]);
      const auto found = paths.find(asked[i]);
      const Position expected = found == paths.end() ? Position{} : found->second;
      EXPECT_EQ(last_on_path(made->proofs[i], made->root), expected) << asked[i] << " of " << count;
    }
  }
}

TEST(PathProof, WithNothingAskedThereIsOnlyTheRoot) {
  const Paths paths = paths_named(20);
  const auto one = prove_paths(each_of(paths), {});
  const auto asked = asked_of(20);
  EXPECT_EQ(one->root, prove_paths(each_of(paths), asked)->root);
  EXPECT_TRUE(one->proofs.empty());
}

class ForgedPathProof : public ::testing::Test {
 protected:
  ForgedPathProof() {
    const std::vector<std::string> asked{"hall/104", "hall/105", "a", "z"};
    auto made = prove_paths(each_of(paths_), asked).value();
    root_ = made.root;
    present_ = made.proofs[0];
    between_ = made.proofs[1];
    before_ = made.proofs[2];
    behind_ = made.proofs[3];
  }
  void expect_nothing(const PathProof& proof) const { EXPECT_FALSE(last_on_path(proof, root_)); }

  const Paths paths_ = paths_named(9);
  PathsRoot root_;
  PathProof present_, between_, before_, behind_;
};

TEST_F(ForgedPathProof, AnotherPositionOrRootIsFound) {
  ++present_.entries[0].last.value;
  expect_nothing(present_);
  --present_.entries[0].last.value;
  EXPECT_TRUE(last_on_path(present_, root_));
  root_.root[0] ^= std::byte{1};
  expect_nothing(present_);
}

TEST_F(ForgedPathProof, APathThatIsThereCannotBeDenied) {
  PathProof denied{"hall/106", between_.entries};  // hall/104 and hall/106
  expect_nothing(denied);
  expect_nothing({"hall/104", between_.entries});
  denied = {"hall/106", {before_.entries[0], behind_.entries[0]}};  // not beside each other
  expect_nothing(denied);
  denied = {"hall/106", {before_.entries[0]}};
  expect_nothing(denied);
  denied = {"hall/106", {behind_.entries[0]}};
  expect_nothing(denied);
  denied = {"hall/106", {}};
  expect_nothing(denied);
  denied = {"hall/105", {between_.entries[1], between_.entries[0]}};
  expect_nothing(denied);
}

TEST_F(ForgedPathProof, AnotherPathsEntryIsNotTheAsked) {
  expect_nothing({"hall/102", present_.entries});
}

}  // namespace
}  // namespace holdfast::proof
