#include "ledger/proof/path_proof.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ledger/domain/invariant.h"
#include "ledger/store/merkle.h"

namespace holdfast::proof {

using store::MerkleFrontier;
using store::MerkleNode;
using store::ReadNode;
using store::StorageError;

namespace {

Digest leaf_of(std::string_view path, Position last) {
  std::string leaf;
  for (int shift = 56; shift >= 0; shift -= 8) leaf += static_cast<char>(last.value >> shift);
  leaf += path;
  return store::leaf_digest(leaf);
}

// Finds the entries that tell of each asked path, as the paths go by in order.
class Finder {
 public:
  explicit Finder(std::span<const std::string> asked) : asked_(asked), order_(asked.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::sort(order_, {}, [&](std::size_t i) { return std::string_view(asked_[i]); });
    for (const std::string& path : asked) proofs_.push_back({path, {}});
  }

  void pass(std::string_view path, Position last, std::uint64_t index) {
    PathEntry entry{std::string(path), last, index, {}};
    for (; next_ < order_.size() && asked_[order_[next_]] <= path; ++next_) {
      auto& entries = proofs_[order_[next_]].entries;
      if (asked_[order_[next_]] != path && before_) entries.push_back(*before_);
      entries.push_back(entry);
    }
    before_ = std::move(entry);
  }
  std::vector<PathProof> take() {
    for (; next_ < order_.size(); ++next_) {
      if (before_) proofs_[order_[next_]].entries.push_back(*before_);
    }
    return std::move(proofs_);
  }

 private:
  const std::span<const std::string> asked_;
  std::vector<std::size_t> order_;  // of asked_, by path
  std::size_t next_ = 0;
  std::optional<PathEntry> before_;
  std::vector<PathProof> proofs_;
};

struct ByPlace {
  bool operator()(MerkleNode a, MerkleNode b) const {
    return std::pair(a.level, a.index) < std::pair(b.level, b.index);
  }
};
using Nodes = std::map<MerkleNode, Digest, ByPlace>;

void for_each_entry(std::vector<PathProof>& proofs, const auto& visit) {
  for (PathProof& proof : proofs) {
    for (PathEntry& entry : proof.entries) visit(entry);
  }
}

// Which nodes the entries' inclusion paths are made of.
Nodes nodes_needed(std::vector<PathProof>& proofs, std::uint64_t count) {
  Nodes nodes;
  const ReadNode note = [&](MerkleNode node) -> tl::expected<Digest, StorageError> {
    return nodes[node];
  };
  for_each_entry(proofs, [&](PathEntry& entry) {
    entry.audit = store::inclusion_path(entry.index, count, note).value();
  });
  return nodes;
}

}  // namespace

tl::expected<PathProofs, StorageError> prove_paths(const ForEachPath& for_each,
                                                   std::span<const std::string> asked) {
  Finder finder(asked);
  MerkleFrontier tree;
  const auto nothing = [](MerkleNode, const Digest&) {};
  auto done = for_each([&](std::string_view path, Position last) {
    finder.pass(path, last, tree.size());
    tree.append(leaf_of(path, last), nothing);
  });
  if (!done) return tl::unexpected(done.error());
  PathProofs result{{tree.size(), tree.root()}, finder.take()};
  Nodes nodes = nodes_needed(result.proofs, result.root.count);
  if (nodes.empty()) return result;

  MerkleFrontier again;
  const auto keep = [&](MerkleNode node, const Digest& digest) {
    if (const auto needed = nodes.find(node); needed != nodes.end()) needed->second = digest;
  };
  done = for_each([&](std::string_view path, Position last) {
    const Digest leaf = leaf_of(path, last);
    keep({0, again.size()}, leaf);
    again.append(leaf, keep);
  });
  if (!done) return tl::unexpected(done.error());
  HOLDFAST_INVARIANT(again.root() == tree.root(), "the same paths at every call");
  const ReadNode kept = [&](MerkleNode node) -> tl::expected<Digest, StorageError> {
    return nodes.at(node);
  };
  for_each_entry(result.proofs, [&](PathEntry& entry) {
    entry.audit = store::inclusion_path(entry.index, result.root.count, kept).value();
  });
  return result;
}

std::optional<Position> last_on_path(const PathProof& proof, const PathsRoot& root) {
  const auto& entries = proof.entries;
  for (const PathEntry& entry : entries) {
    if (!store::is_included(leaf_of(entry.path, entry.last), entry.index, root.count, entry.audit,
                            root.root)) {
      return std::nullopt;
    }
  }
  if (entries.size() == 1 && entries.front().path == proof.path) return entries.front().last;
  const bool shown = [&] {
    if (entries.empty()) return root == PathsRoot{0, MerkleFrontier().root()};
    if (entries.size() == 2) {
      return entries[0].path < proof.path && proof.path < entries[1].path &&
             entries[1].index == entries[0].index + 1;
    }
    const PathEntry& only = entries.front();
    return entries.size() == 1 &&
           (only.path < proof.path ? only.index + 1 == root.count : only.index == 0);
  }();
  if (!shown) return std::nullopt;
  return Position{};
}

}  // namespace holdfast::proof
