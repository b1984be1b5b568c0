#include "ledger/store/merkle.h"

#include <bit>

#include "ledger/store/sha256.h"

namespace holdfast::store {
std::optional<MerkleFrontier> MerkleFrontier::restore(std::uint64_t size,
                                                      std::vector<Digest> peaks) {
  if (peaks.size() != static_cast<std::size_t>(std::popcount(size))) return std::nullopt;
  MerkleFrontier frontier;
  frontier.size_ = size;
  frontier.peaks_ = std::move(peaks);
  return frontier;
}

Digest MerkleFrontier::root() const {
  if (peaks_.empty()) return sha256(std::string_view{});
  Digest digest = peaks_.back();
  for (auto peak = peaks_.rbegin() + 1; peak != peaks_.rend(); ++peak)
    digest = node_digest(*peak, digest);
  return digest;
}

}  // namespace holdfast::store
