#include "ledger/store/merkle_proof.h"

#include <array>
#include <bit>
#include <optional>

#include "ledger/domain/invariant.h"
#include "ledger/store/sha256.h"

namespace holdfast::store {
namespace {

constexpr std::string_view kLeaf{"\0", 1};
constexpr std::string_view kNode{"\1", 1};

// Root of leaves [begin, end), where `begin` is a multiple of the power of two that covers them.
tl::expected<Digest, StorageError> root_of(std::uint64_t begin, std::uint64_t end,
                                           const ReadNode& read) {
  const std::uint64_t count = end - begin;
  if (std::has_single_bit(count)) {
    const auto level = static_cast<unsigned>(std::countr_zero(count));
    return read({level, begin >> level});
  }
  const std::uint64_t middle = begin + std::bit_floor(count);
  const auto left = root_of(begin, middle, read);
  if (!left) return left;
  const auto right = root_of(middle, end, read);
  if (!right) return right;
  return node_digest(*left, *right);
}

// Where a subtree of [begin, end) with more than one leaf divides.
std::uint64_t middle_of(std::uint64_t begin, std::uint64_t end) {
  return begin + std::bit_floor(end - begin - 1);
}

// PATH and SUBPROOF are walks from the root down to one place, with the root of the side not taken
// noted at every step, and read from the bottom up.
struct Step {
  std::uint64_t begin;
  std::uint64_t end;
};
tl::expected<MerklePath, StorageError> roots_of(std::span<const Step> sides, const ReadNode& read) {
  MerklePath path;
  path.reserve(sides.size());
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
    auto root = root_of(side->begin, side->end, read);
    if (!root) return tl::unexpected(root.error());
    path.push_back(*root);
  }
  return path;
}

}  // namespace

Digest leaf_digest(std::string_view record) { return sha256(std::array{kLeaf, record}); }

Digest node_digest(const Digest& left, const Digest& right) {
  return sha256(std::array{kNode, view_of(left), view_of(right)});
}

tl::expected<Digest, StorageError> merkle_root(std::uint64_t size, const ReadNode& read) {
  if (size == 0) return sha256(std::string_view{});
  return root_of(0, size, read);
}

tl::expected<MerklePath, StorageError> inclusion_path(std::uint64_t index, std::uint64_t size,
                                                      const ReadNode& read) {
  HOLDFAST_INVARIANT(index < size, "the leaf is in the tree");
  std::vector<Step> sides;
  for (std::uint64_t begin = 0, end = size; end - begin > 1;) {
    const std::uint64_t middle = middle_of(begin, end);
    if (index < middle) {
      sides.push_back({middle, end});
      end = middle;
    } else {
      sides.push_back({begin, middle});
      begin = middle;
    }
  }
  return roots_of(sides, read);
}

tl::expected<MerklePath, StorageError> consistency_path(std::uint64_t first, std::uint64_t size,
                                                        const ReadNode& read) {
  HOLDFAST_INVARIANT(first > 0 && first <= size, "the earlier tree is a part of the later one");
  std::vector<Step> sides;
  std::uint64_t begin = 0;
  std::uint64_t end = size;
  while (first != end) {
    const std::uint64_t middle = middle_of(begin, end);
    if (first <= middle) {
      sides.push_back({middle, end});
      end = middle;
    } else {
      sides.push_back({begin, middle});
      begin = middle;
    }
  }
  // What is left is a whole subtree of the earlier tree; all of it need not be said.
  if (begin != 0) sides.push_back({begin, end});
  return roots_of(sides, read);
}

// RFC 9162, section 2.1.3.2.
bool is_included(const Digest& leaf, std::uint64_t index, std::uint64_t size,
                 std::span<const Digest> path, const Digest& root) {
  if (index >= size) return false;
  std::uint64_t node = index;
  std::uint64_t last = size - 1;
  Digest digest = leaf;
  for (const Digest& side : path) {
    if (last == 0) return false;
    if ((node & 1) != 0 || node == last) {
      digest = node_digest(side, digest);
      for (; (node & 1) == 0 && node != 0; node >>= 1) last >>= 1;
    } else {
      digest = node_digest(digest, side);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 && digest == root;
}

// RFC 9162, section 2.1.4.2.
bool is_consistent(std::uint64_t first, const Digest& first_root, std::uint64_t size,
                   const Digest& root, std::span<const Digest> path) {
  if (first == 0 || first > size) return false;
  if (first == size) return path.empty() && first_root == root;
  std::vector<Digest> sides;
  if (std::has_single_bit(first)) sides.push_back(first_root);
  sides.insert(sides.end(), path.begin(), path.end());
  if (sides.empty()) return false;

  std::uint64_t node = first - 1;
  std::uint64_t last = size - 1;
  for (; (node & 1) != 0; node >>= 1) last >>= 1;
  Digest earlier = sides.front();
  Digest later = sides.front();
  for (const Digest& side : std::span(sides).subspan(1)) {
    if (last == 0) return false;
    if ((node & 1) != 0 || node == last) {
      earlier = node_digest(side, earlier);
      later = node_digest(side, later);
      for (; (node & 1) == 0 && node != 0; node >>= 1) last >>= 1;
    } else {
      later = node_digest(later, side);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 && earlier == first_root && later == root;
}

}  // namespace holdfast::store
