#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/holdfast.capnp.h"
#include "api/text/words.h"

// What a scenario expects of an answer, and what it prints of one.
namespace holdfast::scenario {

// Why the answer is not the expected one; nothing when it is.
std::optional<std::string> mismatch(wire::Response::Reader answer,
                                    const std::vector<api::Word>& expected,
                                    const api::TimeBase& base);

// For people: the answer as an expectation would say it.
std::string as_text(wire::Response::Reader answer, const api::TimeBase& base);

// For --twice: the answer without what depends on the sweep (versions, positions, the places of
// `expired` in histories) or on chance (keys that the ledger made).
std::string without_sweep(wire::Response::Reader answer);

}  // namespace holdfast::scenario
