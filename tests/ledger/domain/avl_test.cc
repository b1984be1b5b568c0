#include "ledger/domain/avl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tests/ledger/domain/seed.h"

namespace holdfast {
namespace {

struct Node {
  int value = 0;
  int sum = 0;  // of the subtree
  AvlLinks<Node> links = {};
};
struct ByValue {
  static AvlLinks<Node>& links(Node& n) { return n.links; }
  static bool before(const Node& a, const Node& b) { return a.value < b.value; }
  static void pull(Node& n) {
    n.sum =
        n.value + (n.links.left ? n.links.left->sum : 0) + (n.links.right ? n.links.right->sum : 0);
  }
};
using Tree = Avl<Node, ByValue>;

// Height of the subtree; fails where links, balance or sums are wrong.
int examine(const Node* node) {
  if (node == nullptr) return 0;
  const int left = examine(node->links.left);
  const int right = examine(node->links.right);
  EXPECT_LE(std::abs(left - right), 1);
  EXPECT_EQ(node->links.height, 1 + std::max(left, right));
  const int below = (node->links.left ? node->links.left->sum : 0) +
                    (node->links.right ? node->links.right->sum : 0);
  EXPECT_EQ(node->sum, node->value + below);
  return 1 + std::max(left, right);
}

void expect_low(const Tree& tree, std::size_t size) {
  const int height = examine(tree.root());
  EXPECT_LE(height, 1.4405 * std::log2(static_cast<double>(size) + 2));
}

std::vector<int> values(const Tree& tree) {
  std::vector<int> all;
  tree.for_each([&](const Node& node) {
    all.push_back(node.value);
    return true;
  });
  return all;
}

// Orders that unbalanced trees fear.
std::vector<std::vector<int>> orders(int n) {
  std::vector<std::vector<int>> all(5);
  for (int i = 0; i < n; ++i) {
    all[0].push_back(i);
    all[1].push_back(n - i);
    all[2].push_back(i % 2 == 0 ? i : 2 * n - i);  // from both ends to the middle
    all[3].push_back(i % 2 == 0 ? n - i : n + i);  // from the middle outwards
    all[4].push_back((i % 64) * n + i / 64);       // saw teeth
  }
  return all;
}

TEST(Avl, StaysLowWhateverTheOrder) {
  for (const std::vector<int>& order : orders(5000)) {
    std::vector<Node> nodes(order.size());
    Tree tree;
    for (std::size_t i = 0; i < order.size(); ++i) {
      nodes[i].value = order[i];
      tree.insert(nodes[i]);
    }
    expect_low(tree, order.size());
    // Taking out one side must not leave the rest high.
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].value < tree.root()->value) tree.erase(nodes[i]);
      if (i % 997 == 0) examine(tree.root());
    }
    expect_low(tree, values(tree).size());
  }
}

TEST(Avl, AgainstASet) {
  const std::uint64_t seed = testing::any_seed();
  SCOPED_TRACE(testing::seed_trace(seed));
  std::mt19937_64 random(seed);
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 300; ++i) nodes.push_back(std::make_unique<Node>(Node{2 * i}));
  std::set<int> model;
  Tree tree;
  for (int step = 0; step < 20000; ++step) {
    Node& node = *nodes[random() % nodes.size()];
    if (model.insert(node.value).second) {
      tree.insert(node);
    } else {
      model.erase(node.value);
      tree.erase(node);
    }
    const int bound = static_cast<int>(random() % 620) - 10;
    const Node* found = tree.first_where([&](const Node& n) { return n.value >= bound; });
    const auto expected = model.lower_bound(bound);
    ASSERT_EQ(found == nullptr, expected == model.end());
    if (found != nullptr) {
      ASSERT_EQ(found->value, *expected);
    }
    ASSERT_EQ(tree.empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(tree.first()->value, *model.begin());
    }
    if (step % 100 == 0) {
      examine(tree.root());
      ASSERT_EQ(values(tree), std::vector<int>(model.begin(), model.end()));
    }
  }
}

TEST(Avl, AVisitCanStop) {
  std::vector<Node> nodes(100);
  Tree tree;
  for (int i = 0; i < 100; ++i) {
    nodes[static_cast<std::size_t>(i)].value = (i * 37) % 100;
    tree.insert(nodes[static_cast<std::size_t>(i)]);
  }
  std::vector<int> seen;
  tree.for_each([&](const Node& node) {
    seen.push_back(node.value);
    return seen.size() < 3;
  });
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace holdfast
