#include "api/text/json_tree.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <optional>

namespace holdfast::api {
namespace {

constexpr std::size_t kMaxDepth = 64;

using ErrorCode = boost::json::error_code;

// What Boost.JSON's parser calls as it reads. Names and text may come in parts.
class Handler {
 public:
  // Boost.JSON's names. NOLINTBEGIN(readability-identifier-naming)
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  // NOLINTEND(readability-identifier-naming)

  bool on_document_begin(ErrorCode&) { return true; }
  bool on_document_end(ErrorCode&) { return true; }
  bool on_object_begin(ErrorCode&) { return open(JsonNode::Kind::object); }
  bool on_object_end(std::size_t, ErrorCode& error) {
    if (const auto* name = name_twice(open_.back().node.members)) {
      twice_ = JsonError{place_in(place(), *name), "is there twice"};
      error = boost::json::error::syntax;
      return false;
    }
    return close();
  }
  bool on_array_begin(ErrorCode&) { return open(JsonNode::Kind::array); }
  bool on_array_end(std::size_t, ErrorCode&) { return close(); }
  bool on_key_part(boost::json::string_view part, std::size_t, ErrorCode&) { return gather(part); }
  bool on_key(boost::json::string_view part, std::size_t, ErrorCode&) {
    gather(part);
    open_.back().name = std::exchange(gathered_, {});
    return true;
  }
  bool on_string_part(boost::json::string_view part, std::size_t, ErrorCode&) {
    return gather(part);
  }
  bool on_string(boost::json::string_view part, std::size_t, ErrorCode&) {
    gather(part);
    return add({.kind = JsonNode::Kind::text, .text = std::exchange(gathered_, {})});
  }
  bool on_number_part(boost::json::string_view, ErrorCode&) { return true; }
  bool on_int64(std::int64_t number, boost::json::string_view, ErrorCode&) {
    const auto bits = static_cast<std::uint64_t>(number);
    return add({.kind = JsonNode::Kind::whole,
                .whole = {.negative = number < 0, .magnitude = number < 0 ? 0 - bits : bits}});
  }
  bool on_uint64(std::uint64_t number, boost::json::string_view, ErrorCode&) {
    return add({.kind = JsonNode::Kind::whole, .whole = {.magnitude = number}});
  }
  bool on_double(double, boost::json::string_view, ErrorCode&) {
    return add({.kind = JsonNode::Kind::fraction});
  }
  bool on_bool(bool value, ErrorCode&) {
    return add({.kind = JsonNode::Kind::boolean, .boolean = value});
  }
  bool on_null(ErrorCode&) { return add({}); }
  bool on_comment_part(boost::json::string_view, ErrorCode&) { return true; }
  bool on_comment(boost::json::string_view, ErrorCode&) { return true; }

  const std::optional<JsonError>& twice() const { return twice_; }
  JsonNode take() { return std::move(root_); }

 private:
  struct Open {
    JsonNode node;
    std::string name;  // of the member being read
  };

  static const std::string* name_twice(
      const std::vector<std::pair<std::string, JsonNode>>& members) {
    std::vector<const std::string*> names;
    names.reserve(members.size());
    for (const auto& member : members) names.push_back(&member.first);
    const auto by_text = [](const auto* name) -> const std::string& { return *name; };
    std::ranges::sort(names, {}, by_text);
    const auto twice = std::ranges::adjacent_find(names, {}, by_text);
    return twice == names.end() ? nullptr : *twice;
  }

  // Of the object being closed.
  std::string place() const {
    std::string place;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const auto& [node, name] = open_[i];
      const bool is_array = node.kind == JsonNode::Kind::array;
      place = place_in(place, is_array ? std::to_string(node.items.size()) : name);
    }
    return place;
  }

  bool gather(boost::json::string_view part) {
    gathered_.append(part.data(), part.size());
    return true;
  }
  bool open(JsonNode::Kind kind) {
    open_.push_back({.node = {.kind = kind}, .name = {}});
    return true;
  }
  bool close() {
    JsonNode node = std::move(open_.back().node);
    open_.pop_back();
    return add(std::move(node));
  }
  bool add(JsonNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return true;
    }
    auto& [into, name] = open_.back();
    if (into.kind == JsonNode::Kind::array) {
      into.items.push_back(std::move(node));
    } else {
      into.members.emplace_back(std::exchange(name, {}), std::move(node));
    }
    return true;
  }

  std::vector<Open> open_;
  std::string gathered_;
  JsonNode root_;
  std::optional<JsonError> twice_;
};

std::string at_byte(std::size_t offset) { return " at byte " + std::to_string(offset + 1); }

}  // namespace

std::string_view kind_name(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::null:
      return "null";
    case JsonNode::Kind::boolean:
      return "true or false";
    case JsonNode::Kind::whole:
      return "a number";
    case JsonNode::Kind::fraction:
      return "a number with a fraction or an exponent, or too large";
    case JsonNode::Kind::text:
      return "text";
    case JsonNode::Kind::array:
      return "an array";
    case JsonNode::Kind::object:
      return "an object";
  }
  return "nothing";
}

std::string place_in(const std::string& place, std::string_view member) {
  std::string inner = place + "/";
  for (const char c : member) {
    if (c == '~') {
      inner += "~0";
    } else if (c == '/') {
      inner += "~1";
    } else {
      inner += c;
    }
  }
  return inner;
}

tl::expected<JsonNode, JsonError> parse_json(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::basic_parser<Handler> parser(options);
  ErrorCode error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (parser.handler().twice()) return tl::unexpected(*parser.handler().twice());
  if (error == boost::json::error::incomplete) {
    return tl::unexpected(JsonError{"", "is not JSON: it ends too early"});
  }
  if (error == boost::json::error::too_deep) {
    return tl::unexpected(JsonError{"", "is nested deeper than 64 levels"});
  }
  if (error)
    return tl::unexpected(JsonError{"", "is not JSON: " + error.message() + at_byte(read)});
  const std::size_t more = text.find_first_not_of(" \t\r\n", read);
  if (more != std::string_view::npos) {
    return tl::unexpected(
        JsonError{"", "is not JSON: there is more behind its end" + at_byte(more)});
  }
  return parser.handler().take();
}

}  // namespace holdfast::api
