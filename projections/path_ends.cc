#include "projections/path_ends.h"

#include <memory>

#include "projections/position_list.h"

namespace holdfast::projections {
namespace {

// Visits the tails of the paths' own lists, which are in order of path.
tl::expected<void, StorageError> for_each_own_list(
    const Moment& moment, const std::function<void(std::string_view, Position)>& visit) {
  const std::string prefix = list_name(ListKind::own, "");
  rocksdb::ReadOptions options = moment.options();
  options.fill_cache = false;
  const auto at = moment.rows().iterate(Family::lists, options);
  for (at->Seek(prefix); at->Valid(); at->Next()) {
    const std::string_view key = view(at->key());
    if (!key.starts_with(prefix)) break;
    if (key.find('\0') != key.npos) continue;  // a full block
    const Position last = last_of_tail(view(at->value()));
    if (!last) return tl::unexpected(moment.rows().unreadable(Family::lists, key));
    visit(key.substr(prefix.size()), last);
  }
  if (!at->status().ok()) return tl::unexpected(moment.rows().error(at->status()));
  return {};
}

}  // namespace

tl::expected<PathEnds, StorageError> prove_path_ends(const Generation& rows,
                                                     std::span<const std::string> asked) {
  const Moment moment(rows);
  const auto checkpoint = moment.checkpoint();
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  auto proofs = proof::prove_paths(
      [&](const auto& visit) { return for_each_own_list(moment, visit); }, asked);
  if (!proofs) return tl::unexpected(proofs.error());
  return PathEnds{checkpoint->position, std::move(*proofs)};
}

}  // namespace holdfast::projections
