#include "ledger/fresh_key.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace holdfast {
namespace {

std::mt19937_64 seeded() {
  std::random_device device;
  std::array<std::uint32_t, 16> words{};
  for (std::uint32_t& word : words) word = device();
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

}  // namespace

FreshKeys::FreshKeys() : random_(seeded()) {}

Key FreshKeys::make(Instant now) {
  constexpr std::uint64_t kVersion = 0x7;
  constexpr std::uint64_t kVariant = 0x2;
  const std::uint64_t high =
      static_cast<std::uint64_t>(now.ms) << 16 | kVersion << 12 | (random_() & 0xfff);
  const std::uint64_t low = kVariant << 62 | random_() >> 2;
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (const std::uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23) {
        text.push_back('-');
      }
      text.push_back(kDigits[half >> shift & 0xf]);
    }
  }
  return Key::trusted(std::move(text));
}

}  // namespace holdfast
