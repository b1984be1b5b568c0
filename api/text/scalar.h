#pragma once

#include <capnp/dynamic.h>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>

#include "api/holdfast.capnp.h"
#include "api/text/time_text.h"

// Values of single fields, for JSON and words alike. Errors are the end of a sentence that begins
// with the name of the field.
namespace holdfast::api {

bool is_integer(capnp::Type type);

// A whole number as wide as any field; `negative` with the magnitude, so that both ends fit.
struct WholeNumber {
  bool negative = false;
  std::uint64_t magnitude = 0;
};
// Digits with an optional sign '-'; an error when it is none, or has more than 64 bits.
tl::expected<WholeNumber, std::string> parse_whole_number(std::string_view text);
// The number as a value of the type; an error when it is outside of its range. The one Int64 that
// stands for "not given" (wire::NONE) is outside.
tl::expected<capnp::DynamicValue::Reader, std::string> fit(WholeNumber number, capnp::Type type);

std::string to_hex(capnp::Data::Reader bytes);
tl::expected<std::string, std::string> parse_hex(std::string_view text);

// "@4" or an instant.
struct TextError {
  std::string what;
  bool bad_time = false;
};
tl::expected<void, TextError> parse_as_of(std::string_view text, const TimeBase& base,
                                          wire::AsOf::Builder into);
// Nothing where it has no such text: neither or both given, or out of range.
std::optional<std::string> to_text(wire::AsOf::Reader as_of, const TimeBase& base);
bool is_as_of(capnp::StructSchema schema);

}  // namespace holdfast::api
