#include <algorithm>

#include "projections/list_cursor.h"
#include "projections/queries.h"
#include "projections/varint.h"

namespace holdfast::projections {
namespace {

using Positions = tl::expected<std::vector<Position>, StorageError>;

// One more than the limit, to see whether there are more.
Positions from_lists(const Generation& rows, std::vector<std::string> lists, Stretch stretch,
                     std::size_t limit) {
  const Moment moment(rows);
  MergedLists merged(moment, std::move(lists), stretch);
  std::vector<Position> found;
  if (const auto taken = merged.take(limit + 1, found); !taken) {
    return tl::unexpected(taken.error());
  }
  return found;
}

// `newest_first` holds a whole history, newest first.
std::vector<Position> cut(std::vector<Position> newest_first, Stretch stretch, std::size_t limit) {
  std::erase_if(newest_first, [&](Position p) { return p < stretch.from || p > stretch.until; });
  if (!stretch.newest_first) std::reverse(newest_first.begin(), newest_first.end());
  if (newest_first.size() > limit + 1) newest_first.resize(limit + 1);
  return newest_first;
}

std::vector<Position> run(Position first, Position last, Stretch stretch, std::size_t limit) {
  first = std::max(first, stretch.from);
  last = std::min(last, stretch.until);
  std::vector<Position> found;
  if (first > last) return found;
  const std::uint64_t count = std::min<std::uint64_t>(last.value - first.value, limit) + 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    found.push_back(stretch.newest_first ? Position{last.value - i} : first + i);
  }
  return found;
}

Positions of_claim(const Generation& rows, const store::Log& log, const HistoryQuery& query,
                   Stretch stretch) {
  const auto claim = Moment(rows).claim(query.key);
  if (!claim) return tl::unexpected(claim.error());
  if (!*claim) return std::vector<Position>{};
  auto chain = chain_of_claim(log, (*claim)->last_event);
  if (!chain) return chain;
  return cut(std::move(*chain), stretch, query.limit);
}

Positions of_request(const Generation& rows, const store::Log& log, const HistoryQuery& query,
                     Stretch stretch) {
  const auto first = find_request(rows, query.actor, query.request_id);
  if (!first) return tl::unexpected(first.error());
  if (!*first) return std::vector<Position>{};
  const auto event = log.read(**first);
  if (!event) return tl::unexpected(event.error());
  const Position last{(*first)->value + event->transaction_count - 1};
  return run(**first, last, stretch, query.limit);
}

Positions find_positions(const Generation& rows, const store::Log& log, const HistoryQuery& query,
                         Stretch stretch) {
  const auto one_list = [&](ListKind kind, const std::string& of) {
    return from_lists(rows, {list_name(kind, of)}, stretch, query.limit);
  };
  if (!query.key.empty()) return of_claim(rows, log, query, stretch);
  if (!query.request_id.empty()) return of_request(rows, log, query, stretch);
  if (!query.resource.empty()) {
    return from_lists(rows, lists_of_subtree(query.resource), stretch, query.limit);
  }
  if (!query.holder.empty()) return one_list(ListKind::holder, query.holder);
  if (!query.actor.empty()) return one_list(ListKind::actor, query.actor);
  return run(Position{1}, stretch.until, stretch, query.limit);
}

}  // namespace

Positions chain_of_claim(const store::Log& log, Position last) {
  std::vector<Position> chain;
  for (Position next = last; next;) {
    const auto event = log.read(next);
    if (!event) return tl::unexpected(event.error());
    chain.push_back(next);
    next = event->previous_of_claim;
  }
  return chain;
}

tl::expected<std::optional<Position>, StorageError> find_request(const Generation& rows,
                                                                 std::string_view actor,
                                                                 std::string_view request_id) {
  const std::string key = request_key(actor, request_id);
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = rows.get(Family::requests, key, value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return tl::unexpected(rows.error(status));
  const Position first{RowReader(view(value)).varint()};
  if (!first) return tl::unexpected(rows.unreadable(Family::requests, key));
  return first;
}

tl::expected<Page<Event>, StorageError> find_history(const Generation& rows, const store::Log& log,
                                                     const HistoryQuery& query, Position at) {
  const Position until = query.until ? std::min(query.until, at) : at;
  auto positions = find_positions(rows, log, query,
                                  {std::max(query.from, Position{1}), until, query.newest_first});
  if (!positions) return tl::unexpected(positions.error());
  Page<Event> page;
  page.at = at;
  page.more = positions->size() > query.limit;
  if (page.more) positions->pop_back();
  auto events = log.read(*positions);
  if (!events) return tl::unexpected(events.error());
  page.items = std::move(*events);
  return page;
}

}  // namespace holdfast::projections
