#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/proof/replay_statement.h"
#include "ledger/store/log.h"
#include "projections/fold.h"
#include "projections/folders.h"
#include "projections/generation.h"

namespace holdfast::projections {

inline constexpr std::size_t kMaxDifferences = 100;

// Called with the position reached; false: give up.
using GoOn = std::function<bool(Position)>;

// An empty generation in a folder of its own, marked with this ledger and the rows' format.
tl::expected<std::shared_ptr<Generation>, StorageError> create_generation(
    const Folders& folders, std::uint64_t number, const store::LedgerId& ledger);

// The generation CURRENT names, or why there is none that is good for this log.
struct FoundGeneration {
  std::shared_ptr<Generation> rows;
  std::uint64_t number = 0;
  std::string not_good_because;  // when there are no rows
};
tl::expected<FoundGeneration, StorageError> find_generation(const Folders& folders,
                                                            const store::Log& log);

// Folds the log's events behind the fold's position up to `until`, and writes.
tl::expected<void, StorageError> catch_up(Fold& fold, const store::Log& log, Position until,
                                          const GoOn& go_on);

// The same, quicker, for a generation that nobody reads yet and whose folder is worth nothing if
// this fails.
tl::expected<void, StorageError> fill(const std::shared_ptr<Generation>& rows,
                                      const store::Log& log, Position until, const GoOn& go_on);

// Row by row, all families but meta; sentences for people, at most kMaxDifferences.
tl::expected<std::vector<std::string>, StorageError> compare(const Moment& stored,
                                                             const Moment& rebuilt);

// Of each family but meta: SHA-256 over its rows in order of key, each as the lengths of key and
// value (8 bytes each, little-endian), key and value. It follows from the events that were folded,
// and from nothing else.
tl::expected<std::vector<proof::RowsDigest>, StorageError> digest(const Moment& moment);

}  // namespace holdfast::projections
