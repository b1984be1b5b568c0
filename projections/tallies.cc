#include "projections/tallies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "projections/varint.h"

namespace holdfast::projections {
namespace {

constexpr std::size_t kDayBytes = 4;
constexpr std::size_t kMostVisited = 50'000;  // rows, for one page
constexpr std::array kCounts{&TallyCounts::holds,    &TallyCounts::commits,
                             &TallyCounts::expiries, &TallyCounts::releases,
                             &TallyCounts::steals,   &TallyCounts::cancellations};

class AddCounts final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* merged, rocksdb::Logger*) const override {
    auto sum = read_counts(view(value));
    const auto before = existing == nullptr ? TallyCounts{} : read_counts(view(*existing));
    if (!sum || !before) return false;
    for (const auto count : kCounts) (*sum).*count += (*before).*count;
    append_row(*merged, *sum);
    return true;
  }
  const char* Name() const override { return "holdfast.AddCounts"; }
};

// A path's rows, then those of the paths below it: between the two stand other paths.
struct Range {
  std::string begin;
  std::string end;  // not part of it; empty: no end
};
std::vector<Range> ranges_of(const std::string& path) {
  if (path.empty()) return {{"", ""}};
  return {{path + '\0', path + '\1'}, {path + '/', path + '0'}};
}

// Of an event, by its type.
struct Tallied {
  const Event& event;
  const Claim* before;
  Day today;

  TallyChanges operator()(const Held&) const { return one(&TallyCounts::holds); }
  TallyChanges operator()(const Committed&) const { return one(&TallyCounts::commits); }
  TallyChanges operator()(const Released&) const { return one(&TallyCounts::releases); }
  TallyChanges operator()(const Cancelled&) const { return one(&TallyCounts::cancellations); }
  TallyChanges operator()(const Expired& expired) const {
    return {{TallyChange{day_of(expired.due), &TallyCounts::expiries}}};
  }
  TallyChanges operator()(const Stolen&) const {
    TallyChanges changes = one(&TallyCounts::steals);
    const bool lapsed = before != nullptr && before->state == ClaimState::held &&
                        before->expires_at <= event.recorded_at;
    if (lapsed) {
      changes.changes[1] = TallyChange{day_of(before->expires_at), &TallyCounts::expiries};
    }
    return changes;
  }
  template <class Other>
  TallyChanges operator()(const Other&) const {
    return {};
  }

  TallyChanges one(std::uint64_t TallyCounts::*count) const {
    return {{TallyChange{today, count}}};
  }
};

using Extra = std::map<std::string, std::uint64_t, std::less<>>;

// Collects a page from rows and extra expiries, which both come in order of key.
class Collector {
 public:
  Collector(const TalliesQuery& query, TallyPage& page) : query_(query), page_(page) {}

  // False: the page is full.
  bool offer(TallyKey key, const TallyCounts& counts) {
    if (page_.items.size() == query_.limit || ++visited_ > kMostVisited) {
      page_.more = {last_, last_day_};
      return false;
    }
    last_.assign(key.path);
    last_day_ = key.day;
    const bool wanted =
        query_.from <= key.day && key.day < query_.until && query_.scope.covers(key.path);
    if (wanted) page_.items.push_back({Path::trusted(last_), key.day, counts});
    return true;
  }

 private:
  const TalliesQuery& query_;
  TallyPage& page_;
  std::size_t visited_ = 0;
  std::string last_;
  Day last_day_;
};

// False: the page is full.
tl::expected<bool, StorageError> collect(const Moment& moment, const Range& range,
                                         const std::string& behind, Extra& extra,
                                         Collector& collector) {
  const rocksdb::Slice bound(range.end);
  auto options = moment.options();
  if (!range.end.empty()) options.iterate_upper_bound = &bound;
  const auto rows = moment.rows().iterate(Family::tallies, options);
  rows->Seek(std::max(range.begin, behind));
  auto more = extra.lower_bound(std::max(range.begin, behind));
  const auto in_range = [&] {
    return more != extra.end() && (range.end.empty() || more->first < range.end);
  };
  while (rows->Valid() || in_range()) {
    const bool row = rows->Valid() && (!in_range() || view(rows->key()) <= more->first);
    const bool both = row && in_range() && view(rows->key()) == more->first;
    const std::string_view key = row ? view(rows->key()) : more->first;
    const auto read = read_tally_key(key);
    auto counts = row ? read_counts(view(rows->value())) : TallyCounts{};
    if (!read || !counts) return tl::unexpected(moment.rows().unreadable(Family::tallies, key));
    if (!row || both) counts->expiries += more->second;
    if (!collector.offer(*read, *counts)) return false;
    if (row) rows->Next();
    if (!row || both) ++more;
  }
  if (!rows->status().ok()) return tl::unexpected(moment.rows().error(rows->status()));
  return true;
}

}  // namespace

std::string tally_key(std::string_view path, Day day) {
  std::string key(path);
  append_day(key, day);
  return key;
}

void append_day(std::string& path, Day day) {
  path += '\0';
  for (int shift = 24; shift >= 0; shift -= 8) path += static_cast<char>(day.number >> shift);
}

std::optional<TallyKey> read_tally_key(std::string_view key) {
  if (key.size() <= kDayBytes + 1 || key[key.size() - kDayBytes - 1] != '\0') return std::nullopt;
  TallyKey read{key.substr(0, key.size() - kDayBytes - 1), {}};
  for (const char byte : key.substr(key.size() - kDayBytes)) {
    read.day.number = (read.day.number << 8) | static_cast<unsigned char>(byte);
  }
  return read;
}

void append_row(std::string& out, const TallyCounts& counts) {
  for (const auto count : kCounts) put_varint(out, counts.*count);
}

std::optional<TallyCounts> read_counts(std::string_view row) {
  RowReader reader(row);
  TallyCounts counts;
  for (const auto count : kCounts) counts.*count = reader.varint();
  return reader.ok() ? std::optional(counts) : std::nullopt;
}

std::shared_ptr<rocksdb::MergeOperator> add_counts() { return std::make_shared<AddCounts>(); }

TallyChanges tallied(const Event& event, const Claim* before) {
  return std::visit(Tallied{event, before, day_of(event.recorded_at)}, event.happening);
}

tl::expected<TallyPage, StorageError> find_tallies(const Generation& rows,
                                                   const TalliesQuery& query,
                                                   std::span<const Key> unrecorded, Instant now) {
  const Moment moment(rows);
  TallyPage page;
  const auto checkpoint = moment.checkpoint();
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  page.at = checkpoint->position;
  Extra extra;
  for (const Key& key : unrecorded) {
    const auto claim = moment.claim(key.view());
    if (!claim) return tl::unexpected(claim.error());
    // Else its end has been recorded meanwhile, and is in the rows.
    const bool lapsed =
        *claim && (*claim)->state == ClaimState::held && (*claim)->expires_at <= now;
    if (lapsed) ++extra[tally_key((*claim)->resource.view(), day_of((*claim)->expires_at))];
  }
  std::string behind;
  if (query.behind) behind = tally_key(query.behind->path, query.behind->day) + '\0';
  Collector collector(query, page);
  for (const Range& range : ranges_of(query.resource)) {
    const auto room = collect(moment, range, behind, extra, collector);
    if (!room) return tl::unexpected(room.error());
    if (!*room) break;
  }
  return page;
}

}  // namespace holdfast::projections
