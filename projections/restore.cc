#include "projections/restore.h"

#include <string>
#include <utility>

#include "projections/position_list.h"
#include "projections/rebuild.h"

namespace holdfast::projections {
namespace {

using Done = tl::expected<void, StorageError>;

// Requires that the rows have come to the log's head: the state is then as they are.
Done restore_state(const Generation& rows, const Checkpoint& at, State& state) {
  const Moment moment(rows);
  const auto each = [&](Family family, const auto& take) -> Done {
    const auto rows_of = rows.iterate(family, moment.options());
    for (rows_of->SeekToFirst(); rows_of->Valid(); rows_of->Next()) {
      if (!take(view(rows_of->key()), view(rows_of->value()))) {
        return tl::unexpected(rows.unreadable(family, view(rows_of->key())));
      }
    }
    if (!rows_of->status().ok()) return tl::unexpected(rows.error(rows_of->status()));
    return {};
  };
  state = State(state.past_horizon());
  state.set_head(at.position);
  state.advance(at.at);
  const Done definitions =
      each(Family::definitions, [&](std::string_view path, std::string_view row) {
        const auto definition = read_definition(row);
        if (!definition) return false;
        state.restore_definition(Path::trusted(path), definition->resource);
        return true;
      });
  if (!definitions) return definitions;
  return each(Family::live, [&](std::string_view key, std::string_view row) {
    const auto claim = read_claim(key, row);
    if (!claim || is_ended(claim->state)) return false;
    if (!state.has_left(*claim, at.at)) state.restore_claim(*claim);
    return true;
  });
}

Done to_the_head(Fold& fold, const store::Log& log, State& state) {
  const Done caught_up = catch_up(fold, log, log.head(), [](Position) { return true; });
  return caught_up ? restore_state(*fold.rows(), fold.at(), state) : caught_up;
}

tl::expected<StartingPoint, StorageError> go_on_from(std::shared_ptr<Generation> rows,
                                                     const store::Log& log, State& state) {
  auto fold = Fold::open(std::move(rows));
  if (!fold) return tl::unexpected(fold.error());
  const Position checkpoint = (*fold)->at().position;
  if (const Done there = to_the_head(**fold, log, state); !there) {
    return tl::unexpected(there.error());
  }
  if (const auto begun = (*fold)->rows()->flush(false); !begun.ok()) {
    return tl::unexpected((*fold)->rows()->error(begun));
  }
  (*fold)->rows()->learn_rows();
  return StartingPoint{{checkpoint, std::nullopt}, std::move(*fold)};
}

tl::expected<StartingPoint, StorageError> build(Folders& folders, std::string because,
                                                const store::Log& log, State& state) {
  const auto number = folders.fresh();
  if (!number) return tl::unexpected(number.error());
  auto rows = create_generation(folders, *number, log.id());
  if (!rows) return tl::unexpected(rows.error());
  (*rows)->give_up();  // until it is whole
  const Done filled = fill(*rows, log, log.head(), [](Position) { return true; });
  if (!filled) return tl::unexpected(filled.error());
  auto fold = Fold::open(*rows);
  if (!fold) return tl::unexpected(fold.error());
  const Done restored = restore_state(**rows, (*fold)->at(), state);
  if (!restored) return tl::unexpected(restored.error());
  const auto flushed = (*rows)->flush(true);
  if (!flushed.ok()) return tl::unexpected((*rows)->error(flushed));
  if (const Done set = folders.set_current(*number); !set) return tl::unexpected(set.error());
  (*rows)->keep();
  if (const Done gone = folders.remove_others(*number); !gone) return tl::unexpected(gone.error());
  return StartingPoint{{Position{}, std::move(because)}, std::move(*fold)};
}

// Those that the family has; the others stay as they are.
Done read_claims(const Generation& rows, Family family, std::span<const std::string_view> keys,
                 std::vector<std::optional<Claim>>& claims) {
  std::vector<rocksdb::PinnableSlice> values;
  std::vector<rocksdb::Status> outcomes;
  rows.get(family, keys, false, values, outcomes);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (outcomes[i].IsNotFound()) continue;
    if (!outcomes[i].ok()) return tl::unexpected(rows.error(outcomes[i]));
    claims[i] = read_claim(keys[i], view(values[i]));
    if (!claims[i]) return tl::unexpected(rows.unreadable(family, keys[i]));
  }
  return {};
}

}  // namespace

tl::expected<StartingPoint, StorageError> find_or_rebuild(Folders& folders, const store::Log& log,
                                                          State& state) {
  if (const Done made = folders.create(); !made) return tl::unexpected(made.error());
  auto found = find_generation(folders, log);
  if (!found) return tl::unexpected(found.error());
  if (!found->rows) return build(folders, std::move(found->not_good_because), log, state);
  if (const Done gone = folders.remove_others(found->number); !gone) {
    return tl::unexpected(gone.error());
  }
  auto start = go_on_from(std::move(found->rows), log, state);
  if (start) return start;
  // The rows themselves may be damaged. If it is the log, building fails in the same way.
  return build(folders, std::move(start.error().what), log, state);
}

tl::expected<std::vector<std::optional<Claim>>, StorageError> forgotten_claims(
    const Generation& rows, std::span<const std::string_view> keys, bool bookings) {
  std::vector<std::optional<Claim>> claims(keys.size());
  Done done = read_claims(rows, Family::ended, keys, claims);
  if (done && bookings) done = read_claims(rows, Family::live, keys, claims);
  if (!done) return tl::unexpected(done.error());
  return claims;
}

tl::expected<std::vector<Position>, StorageError> last_events_on(
    const Generation& rows, std::span<const std::string_view> paths) {
  std::vector<std::string> lists;
  lists.reserve(paths.size());
  for (const std::string_view path : paths) lists.push_back(list_name(ListKind::own, path));
  const std::vector<std::string_view> names(lists.begin(), lists.end());
  std::vector<rocksdb::PinnableSlice> values;
  std::vector<rocksdb::Status> outcomes;
  rows.get(Family::lists, names, false, values, outcomes);
  std::vector<Position> last(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (outcomes[i].IsNotFound()) continue;
    if (!outcomes[i].ok()) return tl::unexpected(rows.error(outcomes[i]));
    last[i] = last_of_tail(view(values[i]));
    if (!last[i]) return tl::unexpected(rows.unreadable(Family::lists, lists[i]));
  }
  return last;
}

}  // namespace holdfast::projections
