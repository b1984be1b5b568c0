#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "api/text/json.h"
#include "api/text/scalar.h"

namespace holdfast::api {

// JSON as it was written: names in order, whole numbers never made floating.
struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, whole, fraction, text, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  WholeNumber whole = {};
  std::string text = {};
  std::vector<JsonNode> items = {};                            // of an array
  std::vector<std::pair<std::string, JsonNode>> members = {};  // of an object
};

std::string_view kind_name(JsonNode::Kind kind);  // "an object", "text" ...

// The place of a member inside `place`, escaped as JSON pointers are (RFC 6901).
std::string place_in(const std::string& place, std::string_view member);

// One JSON text with nothing but white space around it, at most 64 levels deep. A name twice in an
// object is an error.
tl::expected<JsonNode, JsonError> parse_json(std::string_view text);

}  // namespace holdfast::api
