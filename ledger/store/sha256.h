#pragma once

#include <span>
#include <string_view>

#include "ledger/domain/ids.h"

namespace holdfast::store {

// SHA-256 of the pieces one after the other. Any thread.
Digest sha256(std::span<const std::string_view> pieces);
inline Digest sha256(std::string_view bytes) { return sha256(std::span(&bytes, 1)); }

inline std::string_view view_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace holdfast::store
