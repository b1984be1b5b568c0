#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/store/storage_error.h"

// The proofs of RFC 6962, section 2.1 (RFC 9162, sections 2.1.3 and 2.1.4, tells how they are
// checked). Leaves are counted from 0: the event at position P is leaf P - 1.
namespace holdfast::store {

// The root of a perfect subtree: of leaves [index << level, (index + 1) << level).
struct MerkleNode {
  unsigned level;
  std::uint64_t index;
  bool operator==(const MerkleNode&) const = default;
};

// Only asked for nodes that lie whole within the tree in question.
using ReadNode = std::function<tl::expected<Digest, StorageError>(MerkleNode)>;
using MerklePath = std::vector<Digest>;

Digest leaf_digest(std::string_view record);
Digest node_digest(const Digest& left, const Digest& right);

// -- making: O(log size) nodes are read

// Root of the tree of the first `size` leaves; SHA-256 of nothing for none.
tl::expected<Digest, StorageError> merkle_root(std::uint64_t size, const ReadNode& read);
// That leaf `index` is in the tree of the first `size` leaves. index < size.
tl::expected<MerklePath, StorageError> inclusion_path(std::uint64_t index, std::uint64_t size,
                                                      const ReadNode& read);
// That the tree of `size` leaves continues the one of `first`. 0 < first <= size.
tl::expected<MerklePath, StorageError> consistency_path(std::uint64_t first, std::uint64_t size,
                                                        const ReadNode& read);

// -- checking: with nothing but the roots; false as well for what no tree can have

bool is_included(const Digest& leaf, std::uint64_t index, std::uint64_t size,
                 std::span<const Digest> path, const Digest& root);
bool is_consistent(std::uint64_t first, const Digest& first_root, std::uint64_t size,
                   const Digest& root, std::span<const Digest> path);

}  // namespace holdfast::store
