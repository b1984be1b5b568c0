#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/event.h"

// An event as the bytes the log keeps: ledger/event.capnp in Cap'n Proto's canonical form, so that
// equal events have equal bytes. Any thread.
namespace holdfast::store {

// Replaces `out`. Stops the process on an event that no command could have made (quantities
// outside [0, kMaxUnits], a transaction that does not hold the position).
void encode(const Event& event, std::string& out);

// Takes any bytes. Sizes of texts and ranges of numbers are checked, their UTF-8 is not (it was
// when they were written). The error names position and type as far as they could be read.
tl::expected<Event, std::string> decode(std::string_view bytes);

}  // namespace holdfast::store
