#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/ledger/domain/world.h"
#include "tests/model/oracle.h"

namespace holdfast::testing {

// How everything was after some command of a story.
struct Moment {
  Oracle oracle;
  Instant now;
};

// What a story leaves behind must be the same by every way to it: its events folded anew are its
// state, nothing left over from what was tried and refused; written to a log, the rows made of them
// and a state restored from the rows are it too, so are rows made anew, and claims, availability
// and history as of the moments are as the oracle had them then. What differs; none: nothing.
std::optional<std::string> aftermath(const World& world, const Oracle& oracle,
                                     const std::vector<Moment>& moments);

}  // namespace holdfast::testing
