#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/access/record.h"
#include "ledger/store/record_log.h"

namespace holdfast::access {

// Which records are asked for: every filter that is given must let one through.
struct Listing {
  std::string actor = {};  // empty: of all
  std::string type = {};   // it or below it; empty: all
  Instant from = kMinInstant;
  Instant until = kMaxInstant;  // not part of it
  bool oldest_first = false;
  Position behind = {};   // goes on there; 0: from the first
  std::size_t limit = 0;  // at most so many
};

struct Listed {
  std::vector<Record> records;
  Position behind = {};  // where another listing goes on; 0: that was all
};

// Of what is durable. Looks at a bounded number of records: there may be more behind a list that is
// shorter than its limit, or empty. Any thread.
tl::expected<Listed, store::StorageError> list(const store::RecordLog& log, const Listing& asked);

}  // namespace holdfast::access
