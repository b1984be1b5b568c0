#include <array>
#include <cctype>
#include <charconv>

#include "api/text/time_text.h"

namespace holdfast::api {
namespace {

struct Unit {
  std::string_view word;
  std::int64_t ms;
};
constexpr std::array<Unit, 5> kUnits{
    {{"d", kDay.ms}, {"h", kHour.ms}, {"m", kMinute.ms}, {"s", kSecond.ms}, {"ms", 1}}};

tl::unexpected<std::string> no(std::string_view text, std::string_view why) {
  return tl::unexpected("'" + std::string(text) + "' " + std::string(why));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  const auto digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

// Index of the unit at the front, which is taken; kUnits.size(): none.
std::size_t take_unit(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && rest[count] >= 'a' && rest[count] <= 'z') ++count;
  const auto word = rest.substr(0, count);
  rest.remove_prefix(count);
  std::size_t index = 0;
  while (index < kUnits.size() && kUnits[index].word != word) ++index;
  return index;
}

}  // namespace

tl::expected<Duration, std::string> parse_duration(std::string_view text) {
  constexpr std::string_view kExample = "is not a duration like 60s, 1d2h30m or 59.999s";
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  if (rest.empty()) return no(text, kExample);
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!rest.empty()) {
    const auto whole = take_digits(rest);
    if (whole.empty()) return no(text, kExample);
    std::int64_t fraction = 0;
    bool has_fraction = false;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      const auto digits = take_digits(rest);
      if (digits.empty()) return no(text, kExample);
      if (digits.size() > 3) return no(text, "is finer than a millisecond");
      for (std::size_t i = 0; i < 3; ++i) {
        fraction = fraction * 10 + (i < digits.size() ? digits[i] - '0' : 0);
      }
      has_fraction = true;
    }
    const std::size_t unit = take_unit(rest);
    if (unit == kUnits.size()) return no(text, kExample);
    if (unit < next_unit) return no(text, "has its units out of order: d, h, m, s, ms");
    if (has_fraction && kUnits[unit].word != "s") return no(text, "has a fraction of other than s");
    next_unit = unit + 1;
    std::int64_t count = 0;
    std::int64_t piece = 0;
    const bool read =
        std::from_chars(whole.data(), whole.data() + whole.size(), count).ec == std::errc();
    if (!read || __builtin_mul_overflow(count, kUnits[unit].ms, &piece) ||
        __builtin_add_overflow(total, piece, &total) ||
        __builtin_add_overflow(total, fraction, &total)) {
      return no(text, "is too long a time");
    }
  }
  return Duration{negative ? -total : total};
}

std::string to_text(Duration duration) {
  // The magnitude as unsigned: the lowest number has no positive counterpart.
  auto left = static_cast<std::uint64_t>(duration.ms);
  std::string text;
  if (duration.ms < 0) {
    left = 0 - left;
    text = "-";
  }
  if (left >= 2 * static_cast<std::uint64_t>(kMinute.ms)) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto unit = static_cast<std::uint64_t>(kUnits[i].ms);
      if (left >= unit) text += std::to_string(left / unit) + std::string(kUnits[i].word);
      left %= unit;
    }
    if (left == 0) return text;
  }
  text += std::to_string(left / 1000);
  if (left % 1000 != 0) {
    std::string fraction = std::to_string(1000 + left % 1000);
    fraction.front() = '.';
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += fraction;
  }
  return text + "s";
}

}  // namespace holdfast::api
