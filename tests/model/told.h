#pragma once

#include <string>

#include "tests/ledger/domain/world.h"

namespace holdfast::testing {

// What was said, with every field there is: a line for each part and each blocker.
std::string told(const Outcome& outcome);

}  // namespace holdfast::testing
