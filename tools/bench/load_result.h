#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/histogram.h"

namespace holdfast::tools {

// What was answered in one second of a run.
struct Second {
  std::uint64_t accepted;  // commands and queries
  std::uint64_t p99_ns;    // of requests; 0: none was answered
};

struct LoadResult {
  std::uint64_t operations() const { return accepted + queries; }

  double seconds = 0;             // from the first request to the last answer
  std::uint64_t accepted = 0;     // commands
  std::uint64_t queries = 0;      // answered
  std::uint64_t refused = 0;      // commands and queries
  std::uint64_t errors = 0;       // requests without an answer, or with an error
  std::uint64_t unsent = 0;       // commands and queries that were due when the time was up
  std::uint64_t watched = 0;      // events that the watchers saw
  Histogram command_ns;           // until the answer, of requests with commands
  Histogram query_ns;             // likewise of queries
  std::vector<Second> by_second;  // whole ones
  std::string first_error;
};

}  // namespace holdfast::tools
