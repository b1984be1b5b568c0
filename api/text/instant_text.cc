#include <array>
#include <chrono>

#include "api/text/time_text.h"

namespace holdfast::api {
namespace {

constexpr std::string_view kExample = "an instant reads like 2026-01-01T00:00:00Z";

// Takes text from the front, piece by piece.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_either(char upper, char lower) { return take(upper) || take(lower); }
  // Exactly `count` digits.
  std::optional<int> number(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto digit = this->digit(i);
      if (!digit) return std::nullopt;
      value = value * 10 + *digit;
    }
    rest_.remove_prefix(count);
    return value;
  }
  std::string_view digits() {
    std::size_t count = 0;
    while (digit(count)) ++count;
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

 private:
  std::optional<int> digit(std::size_t i) const {
    if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') return std::nullopt;
    return rest_[i] - '0';
  }
  std::string_view rest_;
};

template <int kDigits>
void append_digits(unsigned number, std::string& out) {
  std::array<char, kDigits> digits;
  for (std::size_t i = kDigits; i-- > 0; number /= 10) {
    digits[i] = static_cast<char>('0' + number % 10);
  }
  out.append(digits.data(), kDigits);
}

tl::unexpected<std::string> no(std::string_view text, std::string_view why) {
  return tl::unexpected("'" + std::string(text) + "' " + std::string(why));
}

struct TimeOfDay {
  int hour;
  int minute;
  int second;
};

std::optional<std::chrono::sys_days> take_date(Scanner& scan, bool& well_formed) {
  const auto year = scan.number(4);
  const bool first = scan.take('-');
  const auto month = scan.number(2);
  const bool second = scan.take('-');
  const auto day = scan.number(2);
  well_formed = year && first && month && second && day;
  if (!well_formed) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<TimeOfDay> take_time(Scanner& scan) {
  const auto hour = scan.number(2);
  const bool first = scan.take(':');
  const auto minute = scan.number(2);
  const bool second = scan.take(':');
  const auto sec = scan.number(2);
  if (!hour || !first || !minute || !second || !sec) return std::nullopt;
  return TimeOfDay{*hour, *minute, *sec};
}

// Milliseconds of a fraction's digits; nothing when it is finer than that.
std::optional<int> milliseconds(std::string_view digits) {
  int ms = 0;
  for (std::size_t i = 0; i < 3; ++i) ms = ms * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  if (digits.size() > 3 && digits.find_first_not_of('0', 3) != std::string_view::npos) {
    return std::nullopt;
  }
  return ms;
}

// Minutes east of Greenwich.
std::optional<int> take_offset(Scanner& scan) {
  if (scan.take_either('Z', 'z')) return 0;
  const bool west = scan.take('-');
  if (!west && !scan.take('+')) return std::nullopt;
  const auto hours = scan.number(2);
  const bool colon = scan.take(':');
  const auto minutes = scan.number(2);
  if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (*hours * 60 + *minutes) * (west ? -1 : 1);
}

}  // namespace

tl::expected<Instant, std::string> parse_instant(std::string_view text) {
  Scanner scan(text);
  bool well_formed = false;
  const auto date = take_date(scan, well_formed);
  if (!well_formed) return no(text, std::string("is not an instant: ").append(kExample));
  if (!date) return no(text, "names a day that the calendar does not have");
  if (!scan.take_either('T', 't')) return no(text, std::string("has no time: ").append(kExample));
  const auto time = take_time(scan);
  if (!time) return no(text, std::string("is not an instant: ").append(kExample));
  if (time->second == 60) return no(text, "is a leap second, which Unix time does not have");
  if (time->hour > 23 || time->minute > 59 || time->second > 59) {
    return no(text, "names a time that a day does not have");
  }
  int ms = 0;
  if (scan.take('.')) {
    const auto digits = scan.digits();
    if (digits.empty()) return no(text, "has a point without digits");
    const auto fraction = milliseconds(digits);
    if (!fraction) return no(text, "is finer than a millisecond");
    ms = *fraction;
  }
  if (scan.at_end()) return no(text, "has no offset from UTC: end it with Z or like +01:00");
  const auto offset = take_offset(scan);
  if (!offset || !scan.at_end()) {
    return no(text, "does not end in an offset from UTC: Z or like +01:00");
  }
  const std::int64_t days = date->time_since_epoch().count();
  const std::int64_t minutes = days * 24 * 60 + time->hour * 60 + time->minute - *offset;
  return Instant{(minutes * 60 + time->second) * 1000 + ms};
}

std::string to_text(Instant instant) {
  std::string text;
  append_text(instant, text);
  return text;
}

void append_text(Instant instant, std::string& out) {
  const std::chrono::sys_days day(std::chrono::days(instant.ms / kDay.ms));
  const std::chrono::year_month_day date(day);
  const auto in_day = static_cast<unsigned>(instant.ms % kDay.ms);
  append_digits<4>(static_cast<unsigned>(static_cast<int>(date.year())), out);
  out += '-';
  append_digits<2>(static_cast<unsigned>(date.month()), out);
  out += '-';
  append_digits<2>(static_cast<unsigned>(date.day()), out);
  out += 'T';
  append_digits<2>(in_day / 3'600'000, out);
  out += ':';
  append_digits<2>(in_day / 60'000 % 60, out);
  out += ':';
  append_digits<2>(in_day / 1000 % 60, out);
  if (in_day % 1000 != 0) {
    out += '.';
    append_digits<3>(in_day % 1000, out);
  }
  out += 'Z';
}

tl::expected<Instant, std::string> parse_instant(std::string_view text, const TimeBase& base) {
  const auto offset = parse_duration(text);
  if (!offset) return parse_instant(text);
  if (!base.t0) return no(text, "is a duration, not an instant: " + std::string(kExample));
  std::int64_t ms = 0;
  if (__builtin_add_overflow(base.t0->ms, offset->ms, &ms)) return no(text, "is too far away");
  return Instant{ms};
}

std::string to_text(Instant instant, const TimeBase& base) {
  return base.t0 ? to_text(instant - *base.t0) : to_text(instant);
}

}  // namespace holdfast::api
