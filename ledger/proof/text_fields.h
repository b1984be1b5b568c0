#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "ledger/domain/ids.h"
#include "ledger/proof/text_bytes.h"

// Fields of signed texts, read strictly.
namespace holdfast::proof {

// Takes what comes before the next `end`, and that.
inline std::optional<std::string_view> take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == text.npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return taken;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

inline bool read_digest(std::string_view text, Digest& digest) {
  const auto read = fixed<32>(from_base64(text));
  if (read) digest = *read;
  return read.has_value();
}

}  // namespace holdfast::proof
