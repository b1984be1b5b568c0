#pragma once

#include <array>
#include <cstddef>

namespace holdfast::store {

// Random name of one unbroken log. Positions and versions are unique within it.
using LedgerId = std::array<std::byte, 16>;

}  // namespace holdfast::store
