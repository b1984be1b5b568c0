#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <string_view>

namespace holdfast {

// Of names, in tables in memory; never stored. Transparent, so that maps are searched by
// string_view without a copy. XXH3: names are short, and half of what a command asks the tables is
// the hash.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view t) const { return XXH3_64bits(t.data(), t.size()); }
};

}  // namespace holdfast
