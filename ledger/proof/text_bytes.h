#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Bytes as text: hexadecimal in lower case, base64 of RFC 4648 with padding. Reading is strict:
// nothing for what writing would not give.
namespace holdfast::proof {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string_view chars_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string to_hex(std::span<const std::byte> bytes);
std::string to_base64(std::span<const std::byte> bytes);
std::optional<std::string> from_hex(std::string_view text);
std::optional<std::string> from_base64(std::string_view text);

// Of exactly so many bytes.
template <std::size_t kSize>
std::optional<std::array<std::byte, kSize>> fixed(const std::optional<std::string>& bytes) {
  if (!bytes || bytes->size() != kSize) return std::nullopt;
  std::array<std::byte, kSize> fixed;
  for (std::size_t i = 0; i < kSize; ++i) fixed[i] = static_cast<std::byte>((*bytes)[i]);
  return fixed;
}

}  // namespace holdfast::proof
