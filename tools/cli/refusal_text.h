#pragma once

#include <string>

#include "api/holdfast.capnp.h"

namespace holdfast::cli {

// "conflict: 0 of 1 units free; h1 (held by ann until ...) stands in the way; ...": the reason's
// word, then what its fields say and what one could do.
std::string refusal_text(wire::Refusal::Reader refusal);

}  // namespace holdfast::cli
