#include <algorithm>
#include <utility>

#include "ledger/domain/event_type.h"
#include "ledger/store/event_codec.h"
#include "projections/as_of.h"
#include "projections/list_cursor.h"
#include "projections/queries.h"
#include "projections/varint.h"

namespace holdfast::projections {
namespace {

constexpr std::size_t kPositionsAtOnce = 256;
constexpr std::size_t kMostLookedAt = 10'000;  // events, for one page
constexpr std::size_t kPageBytes = 2u << 20;   // stored ones: an answer has room for more

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
                   Stretch stretch, std::size_t limit) {
  const auto claim = Moment(rows).claim(query.key);
  if (!claim) return tl::unexpected(claim.error());
  if (!*claim) return std::vector<Position>{};
  auto chain = chain_of_claim(log, (*claim)->last_event);
  if (!chain) return chain;
  return cut(std::move(*chain), stretch, limit);
}

Positions of_request(const Generation& rows, const store::Log& log, const HistoryQuery& query,
                     Stretch stretch, std::size_t limit) {
  const auto first = find_request(rows, query.actor, query.request_id);
  if (!first) return tl::unexpected(first.error());
  if (!*first) return std::vector<Position>{};
  const auto event = log.read(**first);
  if (!event) return tl::unexpected(event.error());
  const Position last{(*first)->value + event->transaction_count - 1};
  return run(**first, last, stretch, limit);
}

// By the index that is likely to find fewest.
Positions find_positions(const Generation& rows, const store::Log& log, const HistoryQuery& query,
                         Stretch stretch, std::size_t limit) {
  const auto one_list = [&](ListKind kind, const std::string& of) {
    return from_lists(rows, {list_name(kind, of)}, stretch, limit);
  };
  if (!query.key.empty()) return of_claim(rows, log, query, stretch, limit);
  if (!query.request_id.empty()) return of_request(rows, log, query, stretch, limit);
  if (!query.resource.empty()) {
    return from_lists(rows, lists_of_subtree(query.resource), stretch, limit);
  }
  if (!query.holder.empty()) return one_list(ListKind::holder, query.holder);
  if (!query.actor.empty()) return one_list(ListKind::actor, query.actor);
  return run(Position{1}, stretch.until, stretch, limit);
}

Instant took_effect(const Event& event) {
  const auto* expired = std::get_if<Expired>(&event.happening);
  return expired != nullptr ? expired->due : event.recorded_at;
}

template <class Name>
bool is(const std::optional<Name>& name, const std::string& wanted) {
  return wanted.empty() || (name && name->view() == wanted);
}

bool passes(const HistoryQuery& query, const Event& event) {
  const auto within = [](const std::optional<Span>& span, Instant at) {
    return !span || (span->from <= at && at < span->until);
  };
  const auto asked_for = [&](std::string_view path) { return at_or_below(path, query.resource); };
  const auto in_scope = [&](std::string_view path) { return query.scope.covers(path); };
  return any_path(event, asked_for) && any_path(event, in_scope) && is(event.key, query.key) &&
         is(event.personal.holder, query.holder) &&
         (query.actor.empty() || event.actor.view() == query.actor) &&
         (query.type.empty() || type_name(event.happening) == query.type) &&
         is(event.correlation_id, query.correlation_id) &&
         within(query.recorded, event.recorded_at) && within(query.effective, took_effect(event));
}

// Only positions that can have been recorded within the query's instants.
tl::expected<Stretch, StorageError> stretch_of(const store::Log& log, const HistoryQuery& query,
                                               Position at) {
  Stretch stretch{std::max(query.from, Position{1}), query.until ? std::min(query.until, at) : at,
                  query.newest_first};
  // Nothing takes effect after it was recorded.
  std::optional<Instant> from;
  if (query.effective) from = query.effective->from;
  if (query.recorded) from = std::max(from.value_or(kMinInstant), query.recorded->from);
  if (from) {
    const auto before = find_position(log, at, *from - Duration{1});
    if (!before) return tl::unexpected(before.error());
    stretch.from = std::max(stretch.from, *before + 1);
  }
  if (query.recorded) {
    const auto last = find_position(log, at, query.recorded->until - Duration{1});
    if (!last) return tl::unexpected(last.error());
    stretch.until = std::min(stretch.until, *last);
  }
  return stretch;
}

// A page on its way.
class Sieve {
 public:
  Sieve(const store::Log& log, const HistoryQuery& query, Position at)
      : log_(log), query_(query), page_{.items = {}, .more = {}, .at = at} {}

  // False: the page is as full as it may be.
  tl::expected<bool, StorageError> pour(std::span<const Position> positions) {
    auto read = log_.records().read(
        positions,
        [&](Position position, std::string_view record) -> tl::expected<bool, StorageError> {
          auto event = store::decode(record);
          if (!event) return store::fail(store::at_position(position) + ": " + event.error());
          seen_ = position;
          ++looked_at_;
          if (passes(query_, *event)) {
            bytes_ += record.size();
            page_.items.push_back(std::move(*event));
          }
          return !full();
        });
    if (!read) return tl::unexpected(read.error());
    return !full();
  }
  HistoryPage take(bool more) {
    if (more) page_.more = seen_;
    return std::move(page_);
  }
  Position seen() const { return seen_; }

 private:
  bool full() const {
    return page_.items.size() >= query_.limit || bytes_ >= kPageBytes ||
           looked_at_ >= kMostLookedAt;
  }

  const store::Log& log_;
  const HistoryQuery& query_;
  HistoryPage page_;
  Position seen_;
  std::size_t looked_at_ = 0;
  std::size_t bytes_ = 0;
};

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

tl::expected<HistoryPage, StorageError> find_history(const Generation& rows, const store::Log& log,
                                                     const HistoryQuery& query, Position at) {
  Sieve sieve(log, query, at);
  auto stretch = stretch_of(log, query, at);
  if (!stretch) return tl::unexpected(stretch.error());
  while (stretch->from <= stretch->until) {
    const std::size_t at_once = std::max(query.limit, kPositionsAtOnce);
    auto positions = find_positions(rows, log, query, *stretch, at_once);
    if (!positions) return tl::unexpected(positions.error());
    const bool more = positions->size() > at_once;
    if (more) positions->pop_back();
    if (positions->empty()) break;
    const auto room = sieve.pour(*positions);
    if (!room) return tl::unexpected(room.error());
    if (!*room) return sieve.take(more || sieve.seen() != positions->back());
    if (!more) break;
    if (query.newest_first) {
      stretch->until = {positions->back().value - 1};
    } else {
      stretch->from = positions->back() + 1;
    }
  }
  return sieve.take(false);
}

}  // namespace holdfast::projections
