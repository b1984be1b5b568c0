#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/access/record.h"

namespace holdfast::access {

// How many records of each actor and kind there were in the present minute, so that no flood fills
// the log. Kinds are counted apart: a flood of queries hides no proof and no admin request. One
// thread at a time.
class Tallies {
 public:
  // Memory is bounded too: those who come when so many have been counted share one count, whose
  // actor has no name.
  static constexpr std::size_t kMaxCounted = 4'096;

  explicit Tallies(std::uint32_t per_minute) : per_minute_(per_minute) {}

  // Begins the minute of `now` if it is a later one, or if `end`, and gives what was dropped in the
  // one before.
  std::vector<Entry> turn(Instant now, bool end = false);
  // Whether one more may be written. `full`: there is no room for it, whoever's it is.
  bool admit(const Entry& entry, bool full);

 private:
  struct Count {
    std::string actor;
    std::string kind;
    std::uint64_t seen = 0;
    std::uint64_t dropped = 0;
  };
  Count& count_of(std::string_view actor, std::string_view kind);

  const std::uint32_t per_minute_;
  Instant minute_;
  std::unordered_map<std::string, Count> counts_;
};

}  // namespace holdfast::access
