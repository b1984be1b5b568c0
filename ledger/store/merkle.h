#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/store/merkle_proof.h"

namespace holdfast::store {

// The Merkle tree of RFC 6962, section 2.1, seen from its growing edge: leaf = SHA-256(0x00 ||
// bytes), node = SHA-256(0x01 || left || right). Keeps only the roots of the perfect subtrees
// which the tree of `size` leaves consists of, one for every bit set in `size`.
class MerkleFrontier {
 public:
  MerkleFrontier() = default;

  // Nothing unless there are as many peaks as bits set in `size`.
  static std::optional<MerkleFrontier> restore(std::uint64_t size, std::vector<Digest> peaks);

  // Appends one leaf; amortized one node hash. `completed(MerkleNode, const Digest&)` hears of each
  // node above it that this completes, from below.
  template <class Completed>
  void append(const Digest& leaf, Completed completed) {
    Digest digest = leaf;
    unsigned level = 0;
    for (std::uint64_t rest = size_; (rest & 1) != 0; rest >>= 1) {
      digest = node_digest(peaks_.back(), digest);
      peaks_.pop_back();
      ++level;
      completed(MerkleNode{level, size_ >> level}, std::as_const(digest));
    }
    peaks_.push_back(digest);
    ++size_;
  }
  void append(std::string_view record) {
    append(leaf_digest(record), [](MerkleNode, const Digest&) {});
  }

  std::uint64_t size() const { return size_; }
  // Left to right: the largest subtree first.
  const std::vector<Digest>& peaks() const { return peaks_; }
  // Of the whole tree; SHA-256 of nothing when it is empty.
  Digest root() const;

 private:
  std::uint64_t size_ = 0;
  std::vector<Digest> peaks_;
};

}  // namespace holdfast::store
