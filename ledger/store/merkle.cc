#include "ledger/store/merkle.h"

#include <array>
#include <bit>

#include "ledger/store/sha256.h"

namespace holdfast::store {
namespace {

constexpr std::string_view kLeaf{"\0", 1};
constexpr std::string_view kNode{"\1", 1};

Digest node(const Digest& left, const Digest& right) {
  return sha256(std::array{kNode, view_of(left), view_of(right)});
}

}  // namespace

std::optional<MerkleFrontier> MerkleFrontier::restore(std::uint64_t size,
                                                      std::vector<Digest> peaks) {
  if (peaks.size() != static_cast<std::size_t>(std::popcount(size))) return std::nullopt;
  MerkleFrontier frontier;
  frontier.size_ = size;
  frontier.peaks_ = std::move(peaks);
  return frontier;
}

void MerkleFrontier::append(std::string_view leaf) {
  Digest digest = sha256(std::array{kLeaf, leaf});
  for (std::uint64_t rest = size_; (rest & 1) != 0; rest >>= 1) {
    digest = node(peaks_.back(), digest);
    peaks_.pop_back();
  }
  peaks_.push_back(digest);
  ++size_;
}

Digest MerkleFrontier::root() const {
  if (peaks_.empty()) return sha256(std::string_view{});
  Digest digest = peaks_.back();
  for (auto peak = peaks_.rbegin() + 1; peak != peaks_.rend(); ++peak) digest = node(*peak, digest);
  return digest;
}

}  // namespace holdfast::store
