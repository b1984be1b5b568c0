#pragma once

#include <string>
#include <tl/expected.hpp>

#include "api/holdfast.capnp.h"
#include "ledger/domain/event.h"

namespace holdfast::api {

// The event that put() (convert_answer.h) has made the wire's of; the error says what no event has.
tl::expected<Event, std::string> event_from(wire::Event::Reader from);

}  // namespace holdfast::api
