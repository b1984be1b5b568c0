#include <algorithm>

#include "projections/event_fold.h"
#include "projections/list_cursor.h"
#include "projections/queries.h"

namespace holdfast::projections {
namespace {

using Done = tl::expected<void, StorageError>;

constexpr std::size_t kEventsAtOnce = 512;
// A look at an event and its claim's row costs about as much as passing over this many rows.
constexpr std::uint64_t kRowsPerLookUp = 8;
constexpr std::uint64_t kMaxCandidates = 200'000;

bool from_live_rows(StateFilter state) {
  return state == StateFilter::live || state == StateFilter::held ||
         state == StateFilter::committed || state == StateFilter::expired ||
         state == StateFilter::all;
}

bool from_ended_rows(StateFilter state) {
  return state != StateFilter::live && state != StateFilter::held &&
         state != StateFilter::committed;
}

bool state_wanted(StateFilter filter, ClaimState state) {
  switch (filter) {
    case StateFilter::live:
      return !is_ended(state);
    case StateFilter::held:
      return state == ClaimState::held;
    case StateFilter::committed:
      return state == ClaimState::committed;
    case StateFilter::released:
      return state == ClaimState::released;
    case StateFilter::expired:
      return state == ClaimState::expired;
    case StateFilter::cancelled:
      return state == ClaimState::cancelled;
    case StateFilter::stolen:
      return state == ClaimState::stolen;
    case StateFilter::all:
      return true;
  }
  return false;
}

// Collects a page: claims come in order of key.
class Collector {
 public:
  Collector(const ClaimsQuery& query, Instant now, Page<Claim>& page)
      : query_(query), now_(now), page_(page) {}

  // False: the page is full.
  bool offer(Claim&& claim) {
    judge(claim, now_);
    if (!wanted(query_, claim)) return true;
    if (page_.items.size() == query_.limit) {
      page_.more = true;
      return false;
    }
    page_.items.push_back(std::move(claim));
    return true;
  }

 private:
  const ClaimsQuery& query_;
  Instant now_;
  Page<Claim>& page_;
};

// The rows of one family behind the query's cursor, or none of them.
class ClaimRows {
 public:
  ClaimRows(const Moment& moment, Family family, bool any, const std::string& after)
      : rows_(moment.rows()), family_(family) {
    if (!any) return;
    iterator_ = rows_.iterate(family, moment.options());
    iterator_->Seek(after + '\0');
  }

  bool valid() const { return iterator_ != nullptr && iterator_->Valid(); }
  std::string_view key() const { return view(iterator_->key()); }
  void next() { iterator_->Next(); }
  tl::expected<Claim, StorageError> claim() const {
    auto claim = read_claim(key(), view(iterator_->value()));
    if (!claim) return tl::unexpected(rows_.unreadable(family_, key()));
    return std::move(*claim);
  }
  Done sound() const {
    if (iterator_ == nullptr || iterator_->status().ok()) return {};
    return tl::unexpected(rows_.error(iterator_->status()));
  }

 private:
  const Generation& rows_;
  Family family_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Passes over both families' rows in order of key.
Done scan(const Moment& moment, const ClaimsQuery& query, Collector& collector) {
  ClaimRows live(moment, Family::live, from_live_rows(query.state), query.after_key);
  ClaimRows ended(moment, Family::ended, from_ended_rows(query.state), query.after_key);
  while (live.valid() || ended.valid()) {
    ClaimRows& next = !ended.valid() || (live.valid() && live.key() < ended.key()) ? live : ended;
    auto claim = next.claim();
    if (!claim) return tl::unexpected(claim.error());
    if (!collector.offer(std::move(*claim))) return {};
    next.next();
  }
  if (const Done checked = live.sound(); !checked) return checked;
  return ended.sound();
}

// Positions of the lists that have an event of every claim the query can want, if they are few
// enough to be looked at one by one; none: they are not.
tl::expected<std::optional<std::vector<Position>>, StorageError> few_candidates(
    const Moment& moment, const ClaimsQuery& query) {
  if (query.holder.empty() && query.resource.empty()) return std::nullopt;
  std::uint64_t rows = 0;
  if (from_live_rows(query.state)) rows += moment.rows().estimated_rows(Family::live);
  if (from_ended_rows(query.state)) rows += moment.rows().estimated_rows(Family::ended);
  const std::uint64_t most = std::min(rows / kRowsPerLookUp, kMaxCandidates);
  MergedLists lists(moment,
                    query.holder.empty() ? lists_of_subtree(query.resource)
                                         : std::vector{list_name(ListKind::holder, query.holder)},
                    {Position{1}, Position{~std::uint64_t{0}}});
  std::vector<Position> found;
  if (const Done taken = lists.take(most + 1, found); !taken) {
    return tl::unexpected(taken.error());
  }
  if (found.size() > most) return std::nullopt;
  return found;
}

// The keys of the claims that came to where the positions are listed: by `held` or by `moved`.
tl::expected<std::vector<std::string>, StorageError> keys_placed(
    const store::Log& log, std::span<const Position> positions, const std::string& after) {
  std::vector<std::string> keys;
  for (; !positions.empty();
       positions = positions.subspan(std::min(kEventsAtOnce, positions.size()))) {
    const auto events = log.read(positions.first(std::min(kEventsAtOnce, positions.size())));
    if (!events) return tl::unexpected(events.error());
    for (const Event& event : *events) {
      const bool placed = std::holds_alternative<Held>(event.happening) ||
                          std::holds_alternative<Moved>(event.happening);
      if (placed && event.key->view() > after) keys.push_back(event.key->str());
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Done look_up(const Moment& moment, std::span<const std::string> keys, Collector& collector) {
  for (const std::string& key : keys) {
    auto claim = moment.claim(key);
    if (!claim) return tl::unexpected(claim.error());
    if (*claim && !collector.offer(std::move(**claim))) return {};
  }
  return {};
}

}  // namespace

bool wanted(const ClaimsQuery& query, const Claim& claim) {
  if (!state_wanted(query.state, claim.state)) return false;
  if (!at_or_below(claim.resource.view(), query.resource)) return false;
  if (!query.scope.covers(claim.resource.view())) return false;
  if (!query.holder.empty() && claim.holder.view() != query.holder) return false;
  return query.cart.empty() || (claim.cart && claim.cart->view() == query.cart);
}

tl::expected<Page<Claim>, StorageError> find_claims(const Generation& rows, const store::Log& log,
                                                    const ClaimsQuery& query, Instant now) {
  const Moment moment(rows);
  Page<Claim> page;
  const auto checkpoint = moment.checkpoint();
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  page.at = checkpoint->position;
  Collector collector(query, now, page);
  const auto candidates = few_candidates(moment, query);
  if (!candidates) return tl::unexpected(candidates.error());
  Done done;
  if (*candidates) {
    const auto keys = keys_placed(log, **candidates, query.after_key);
    if (!keys) return tl::unexpected(keys.error());
    done = look_up(moment, *keys, collector);
  } else {
    done = scan(moment, query, collector);
  }
  if (!done) return tl::unexpected(done.error());
  return page;
}

}  // namespace holdfast::projections
