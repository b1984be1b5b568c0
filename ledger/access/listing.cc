#include "ledger/access/listing.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::access {
namespace {

using store::StorageError;

constexpr std::uint64_t kChunk = 512;
constexpr std::uint64_t kMostLookedAt = 200'000;
constexpr std::size_t kMostBytes = 1 << 20;  // of the records listed

tl::expected<Record, StorageError> decode_at(Position position, std::string_view bytes) {
  auto record = decode(bytes);
  if (!record) return store::fail(store::at_position(position) + " " + record.error());
  return std::move(*record);
}

tl::expected<Instant, StorageError> instant_at(const store::RecordLog& log, Position position) {
  Instant at;
  auto read = log.read({&position, 1},
                       [&](Position, std::string_view bytes) -> tl::expected<bool, StorageError> {
                         const auto record = decode_at(position, bytes);
                         if (!record) return tl::unexpected(record.error());
                         at = record->at;
                         return true;
                       });
  if (!read) return tl::unexpected(read.error());
  return at;
}

// The first position recorded at `at` or later; behind the last one where there is none. Instants
// never go back.
tl::expected<Position, StorageError> first_from(const store::RecordLog& log, Instant at,
                                                Position last) {
  Position low{1};
  Position high = last + 1;
  while (low < high) {
    const Position middle{low.value + (high.value - low.value) / 2};
    const auto there = instant_at(log, middle);
    if (!there) return tl::unexpected(there.error());
    if (*there < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

class Lister {
 public:
  Lister(const store::RecordLog& log, const Listing& asked) : log_(log), asked_(asked) {}

  // Of positions [first, end).
  tl::expected<Listed, StorageError> run(Position first, Position end) {
    while (first < end && !full_) {
      const std::uint64_t size = std::min(kChunk, end.value - first.value);
      const Position from = asked_.oldest_first ? first : Position{end.value - size};
      if (auto looked = look_at(from, from + (size - 1)); !looked) {
        return tl::unexpected(looked.error());
      }
      if (asked_.oldest_first) {
        first = from + size;
      } else {
        end = from;
      }
    }
    const Position last_left = asked_.oldest_first ? Position{end.value - 1} : first;
    if (full_ && looked_at_ != last_left) listed_.behind = looked_at_;
    return std::move(listed_);
  }

 private:
  tl::expected<void, StorageError> look_at(Position from, Position until) {
    std::vector<std::pair<Record, std::size_t>> chunk;
    auto scanned = log_.scan(
        from, until,
        [&](Position position, std::string_view bytes) -> tl::expected<bool, StorageError> {
          auto record = decode_at(position, bytes);
          if (!record) return tl::unexpected(record.error());
          chunk.emplace_back(std::move(*record), bytes.size());
          return true;
        });
    if (!scanned) return scanned;
    if (!asked_.oldest_first) std::ranges::reverse(chunk);
    for (auto& [record, size] : chunk) {
      if (full_) break;
      looked_at_ = record.position;
      ++count_;
      if (matches(record)) {
        listed_.records.push_back(std::move(record));
        bytes_ += size;
      }
      full_ =
          listed_.records.size() >= asked_.limit || bytes_ >= kMostBytes || count_ >= kMostLookedAt;
    }
    return {};
  }

  bool matches(const Record& record) const {
    return (asked_.actor.empty() || record.entry.actor == asked_.actor) &&
           is_of_type(type_of(record.entry.what), asked_.type);
  }

  const store::RecordLog& log_;
  const Listing& asked_;
  Listed listed_;
  Position looked_at_;
  std::size_t bytes_ = 0;
  std::uint64_t count_ = 0;
  bool full_ = false;
};

}  // namespace

tl::expected<Listed, StorageError> list(const store::RecordLog& log, const Listing& asked) {
  const Position last = log.head();
  auto first = first_from(log, asked.from, last);
  if (!first) return tl::unexpected(first.error());
  auto end = first_from(log, asked.until, last);
  if (!end) return tl::unexpected(end.error());
  if (asked.behind) {
    if (asked.oldest_first) {
      first = std::max(*first, asked.behind + 1);
    } else {
      end = std::min(*end, asked.behind);
    }
  }
  return Lister(log, asked).run(*first, *end);
}

}  // namespace holdfast::access
