#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ledger/domain/ids.h"

namespace holdfast::store {

// The Merkle tree of RFC 6962, section 2.1, seen from its growing edge: leaf = SHA-256(0x00 ||
// bytes), node = SHA-256(0x01 || left || right). Keeps only the roots of the perfect subtrees
// which the tree of `size` leaves consists of, one for every bit set in `size`.
class MerkleFrontier {
 public:
  MerkleFrontier() = default;

  // Nothing unless there are as many peaks as bits set in `size`.
  static std::optional<MerkleFrontier> restore(std::uint64_t size, std::vector<Digest> peaks);

  // Appends one leaf; amortized one node hash besides the leaf's own.
  void append(std::string_view leaf);

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
