#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/proof/signed_head.h"
#include "ledger/store/merkle_proof.h"

// The map of every path to the position of the last event on it, as of a head: a Merkle tree, made
// as the log's, over one leaf for each path that has events, in order of path. A leaf is the
// position in 8 bytes, big-endian, then the path. That a path has no event at all is shown by the
// two leaves beside each other that it would lie between.
namespace holdfast::proof {

using store::MerklePath;

// One leaf, with its inclusion path under the head's PathsRoot.
struct PathEntry {
  std::string path;
  Position last;
  std::uint64_t index = 0;
  MerklePath audit;
  bool operator==(const PathEntry&) const = default;
};

// The path's own entry; or, of a path without events, those before and after it, if there are any.
struct PathProof {
  std::string path;
  std::vector<PathEntry> entries;
  bool operator==(const PathProof&) const = default;
};

// Last position on the path, 0 for a path without events; nothing if the proof does not show it.
std::optional<Position> last_on_path(const PathProof& proof, const PathsRoot& root);

// -- making

struct PathProofs {
  PathsRoot root;
  std::vector<PathProof> proofs;  // as asked
};
// Calls `visit` for every path with events, in order of path; the same at every call.
using ForEachPath = std::function<tl::expected<void, store::StorageError>(
    const std::function<void(std::string_view path, Position last)>& visit)>;
// Goes through all paths once, twice when any are asked for. Memory does not grow with them.
tl::expected<PathProofs, store::StorageError> prove_paths(const ForEachPath& for_each,
                                                          std::span<const std::string> asked);

}  // namespace holdfast::proof
