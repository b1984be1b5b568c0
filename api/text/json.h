#pragma once

#include <capnp/dynamic.h>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/holdfast.capnp.h"

// JSON to and from the wire's structs, by reflection. Names are the schema's in snake_case, the
// members of an unnamed union stand among the other fields; instants are RFC 3339 text (or whole
// milliseconds, on input), durations whole milliseconds (or text like 1d2h, on input), Data is
// hexadecimal, `as_of` is "@POSITION" or an instant (or an object).
namespace holdfast::api {

struct JsonError {
  std::string place;  // JSON pointer: /hold/from; empty: the whole
  std::string what;
  std::string text() const { return place.empty() ? what : place + ": " + what; }
};

// Strict: names twice or unknown, two members of a union or none, wrong types, null, numbers that
// do not fit or are not written as whole numbers, bad UTF-8, and more than 64 levels are errors.
// After an error `into` is in an unspecified state.
tl::expected<void, JsonError> from_json(std::string_view text, capnp::DynamicStruct::Builder into);

// A line of an import file: a command with `at` beside its members. Sets `at` and `command`.
tl::expected<void, JsonError> import_line_from_json(std::string_view text,
                                                    wire::ImportLine::Builder into);

// What is not given is left out; flags and plain numbers are always there.
boost::json::object to_json(capnp::DynamicStruct::Reader from);

}  // namespace holdfast::api
