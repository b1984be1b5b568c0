#pragma once

#include <rocksdb/merge_operator.h>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/claim.h"
#include "ledger/domain/event.h"
#include "projections/generation.h"
#include "projections/projections.h"

// How many claims of a path began and ended on a UTC day. A row for each path and day on which
// something happened: its key is the path, a zero byte and the day, big-endian, so that a path's
// days stand together; its value what is added to it, by a merge operator that adds.
namespace holdfast::projections {

std::string tally_key(std::string_view path, Day day);
// Makes a path, and nothing else, such a key.
void append_day(std::string& path, Day day);
// Nothing for what is no such key.
struct TallyKey {
  std::string_view path;
  Day day;
};
std::optional<TallyKey> read_tally_key(std::string_view key);

void append_row(std::string& out, const TallyCounts& counts);
std::optional<TallyCounts> read_counts(std::string_view row);
std::shared_ptr<rocksdb::MergeOperator> add_counts();

// What an event adds to the tallies of its resource: one to a count of a day, or to two. `before`
// is its claim before it; null: none. An expiry counts on the day it was due, and so it does when
// the hold was stolen before its expiry was recorded.
struct TallyChange {
  Day day;
  std::uint64_t TallyCounts::*count;
};
struct TallyChanges {
  std::array<std::optional<TallyChange>, 2> changes = {};
};
TallyChanges tallied(const Event& event, const Claim* before);

// `unrecorded`: keys of the holds below the query's path that had lapsed by `now` without their
// expiry being recorded, as of a position that the rows have reached. They count as expired.
tl::expected<TallyPage, StorageError> find_tallies(const Generation& rows,
                                                   const TalliesQuery& query,
                                                   std::span<const Key> unrecorded, Instant now);

}  // namespace holdfast::projections
