#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/domain/shared_text.h"

// The strong types for everything that is a name or a number outside. A value that exists has
// been checked: construction is only by make(), which says no by returning nothing.
namespace holdfast {

// Well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms).
bool is_utf8(std::string_view text);

// 1 to kMax bytes of UTF-8 without control characters (U+0000 to U+001F, U+007F).
bool is_name(std::string_view text, std::size_t max_bytes);

// Path rules: a name of up to 200 bytes whose segments, separated by '/', are not empty.
bool is_path(std::string_view text);

template <class Tag>
class Text {
 public:
  static std::optional<Text> make(std::string_view text) {
    if (!Tag::valid(text)) return std::nullopt;
    return Text(text);
  }
  // For text already checked when it was written (the log, a projection's row).
  static Text trusted(std::string_view text) { return Text(text); }

  std::string str() const { return std::string(view()); }
  // A NUL follows it.
  std::string_view view() const { return text_.view(); }
  auto operator<=>(const Text&) const = default;

 private:
  explicit Text(std::string_view text) : text_(text) {}
  SharedText text_;
};

struct PathTag {
  static bool valid(std::string_view t) { return is_path(t); }
};
template <int kTag, std::size_t kMaxBytes>
struct NameTag {
  static bool valid(std::string_view t) { return is_name(t, kMaxBytes); }
};

using Path = Text<PathTag>;
using Key = Text<NameTag<0, 200>>;
using Holder = Text<NameTag<1, 200>>;
using Cart = Text<NameTag<2, 200>>;
using Actor = Text<NameTag<3, 200>>;
using RequestId = Text<NameTag<4, 64>>;
using CorrelationId = Text<NameTag<5, 200>>;
// Name of an attribute of a resource.
using AttributeName = Text<NameTag<6, 64>>;

// Free text the ledger only carries: up to 4,096 bytes of UTF-8 without NUL.
struct NoteTag {
  static bool valid(std::string_view t) {
    return t.size() <= 4096 && t.find('\0') == std::string_view::npos && is_utf8(t);
  }
};
using Note = Text<NoteTag>;

// The path one segment up, empty at the top: parent_of("a/b") is "a".
constexpr std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// True when `path` is `above` or lies below it. An empty `above` is above everything.
constexpr bool at_or_below(std::string_view path, std::string_view above) {
  return above.empty() ||
         (path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '/'));
}

// Place of an event in the log: 1, 2, 3 ... without gaps; 0 stands for none.
struct Position {
  std::uint64_t value = 0;
  auto operator<=>(const Position&) const = default;
  explicit operator bool() const { return value != 0; }
};
constexpr Position operator+(Position p, std::uint64_t n) { return {p.value + n}; }

// Units of a resource. A checked quantity lies in [1, kMaxUnits]; a capacity too.
struct Quantity {
  std::int64_t units = 0;
  auto operator<=>(const Quantity&) const = default;
};
inline constexpr std::int64_t kMaxUnits = 1'000'000'000;

// SHA-256.
using Digest = std::array<std::byte, 32>;

}  // namespace holdfast
