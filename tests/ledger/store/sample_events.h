#pragma once

#include <rapidcheck.h>
#include <string>
#include <vector>

#include "ledger/domain/event.h"

namespace holdfast::store {

struct Sample {
  std::string name;  // "held-full"
  Event event;
};

// Every type twice: with no optional field, and with all of them.
std::vector<Sample> samples();

// A hold at `position`, alone in its transaction and its chains (the resource's aside, which is
// one for all positions).
Event numbered_hold(std::uint64_t position);
std::vector<Event> numbered_holds(std::uint64_t from, std::uint64_t until);

// Any event a ledger could write, and more: fields are independent of each other.
rc::Gen<Event> arbitrary_event();

}  // namespace holdfast::store
