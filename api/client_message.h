#pragma once

#include <cstdint>

#include "api/client.h"

// What the client has to know of the messages that it carries.
namespace holdfast::api {

// What becomes of a request that was sent when its connection is lost.
enum class Repeat : std::uint8_t {
  safe,     // it changes nothing, or the ledger knows it again: sent once more
  unknown,  // its outcome cannot be known
  import,   // likewise, and later ones must not be sent without it
};
Repeat repeat_of(wire::Request::Reader request);

// True when the answer is `overloaded`, of every command.
bool overloaded_whole(wire::Response::Reader response);

}  // namespace holdfast::api
