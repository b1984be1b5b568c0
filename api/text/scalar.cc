#include "api/text/scalar.h"

#include <charconv>
#include <limits>

namespace holdfast::api {
namespace {

struct Range {
  std::uint64_t below_zero;  // magnitude of the lowest
  std::uint64_t highest;
};

template <class T>
constexpr Range range_of() {
  constexpr auto kHighest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return {std::is_signed_v<T> ? kHighest + 1 : 0, kHighest};
}

Range range_of(capnp::Type type) {
  switch (type.which()) {
    case capnp::schema::Type::INT8:
      return range_of<std::int8_t>();
    case capnp::schema::Type::INT16:
      return range_of<std::int16_t>();
    case capnp::schema::Type::INT32:
      return range_of<std::int32_t>();
    case capnp::schema::Type::INT64:
      // Its lowest number stands for "not given".
      return {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
    case capnp::schema::Type::UINT8:
      return range_of<std::uint8_t>();
    case capnp::schema::Type::UINT16:
      return range_of<std::uint16_t>();
    case capnp::schema::Type::UINT32:
      return range_of<std::uint32_t>();
    default:
      return range_of<std::uint64_t>();
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool is_integer(capnp::Type type) {
  switch (type.which()) {
    case capnp::schema::Type::INT8:
    case capnp::schema::Type::INT16:
    case capnp::schema::Type::INT32:
    case capnp::schema::Type::INT64:
    case capnp::schema::Type::UINT8:
    case capnp::schema::Type::UINT16:
    case capnp::schema::Type::UINT32:
    case capnp::schema::Type::UINT64:
      return true;
    default:
      return false;
  }
}

tl::expected<WholeNumber, std::string> parse_whole_number(std::string_view text) {
  WholeNumber number{.negative = text.starts_with('-')};
  const auto digits = text.substr(number.negative ? 1 : 0);
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number.magnitude);
  if (error == std::errc::result_out_of_range) {
    return tl::unexpected("'" + std::string(text) + "' is too large a number");
  }
  if (error != std::errc() || stopped != end) {
    return tl::unexpected("'" + std::string(text) + "' is not a whole number");
  }
  return number;
}

tl::expected<capnp::DynamicValue::Reader, std::string> fit(WholeNumber number, capnp::Type type) {
  const Range range = range_of(type);
  const bool negative = number.negative && number.magnitude != 0;
  if (negative && range.below_zero == 0) return tl::unexpected(std::string("cannot be negative"));
  if (number.magnitude > (negative ? range.below_zero : range.highest)) {
    return tl::unexpected(std::string("is too large a number"));
  }
  if (negative) return capnp::DynamicValue::Reader(static_cast<std::int64_t>(0 - number.magnitude));
  return capnp::DynamicValue::Reader(number.magnitude);
}

std::string to_hex(capnp::Data::Reader bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

tl::expected<std::string, std::string> parse_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return tl::unexpected(std::string("is not hexadecimal"));
    bytes += static_cast<char>(high * 16 + low);
  }
  if (text.size() % 2 != 0) {
    return tl::unexpected(std::string("is not hexadecimal: it has half a byte"));
  }
  return bytes;
}

tl::expected<void, TextError> parse_as_of(std::string_view text, const TimeBase& base,
                                          wire::AsOf::Builder into) {
  if (text.starts_with('@')) {
    const auto number = parse_whole_number(text.substr(1));
    if (!number) return tl::unexpected(TextError{number.error() + " behind '@'"});
    const auto value = fit(*number, capnp::Type::from<std::int64_t>());
    if (!value) return tl::unexpected(TextError{value.error()});
    into.setPosition(value->as<std::int64_t>());
    return {};
  }
  const auto instant = parse_instant(text, base);
  if (!instant) return tl::unexpected(TextError{instant.error(), true});
  into.setInstant(instant->ms);
  return {};
}

std::optional<std::string> to_text(wire::AsOf::Reader as_of, const TimeBase& base) {
  const bool by_position = as_of.getPosition() != wire::NONE;
  const bool by_instant = as_of.getInstant() != wire::NONE;
  if (by_position == by_instant) return std::nullopt;
  if (by_position) return "@" + std::to_string(as_of.getPosition());
  const Instant instant{as_of.getInstant()};
  if (!in_range(instant)) return std::nullopt;
  return to_text(instant, base);
}

bool is_as_of(capnp::StructSchema schema) {
  return schema == capnp::StructSchema(capnp::Schema::from<wire::AsOf>());
}

}  // namespace holdfast::api
