#include <algorithm>

#include "api/text/fields.h"
#include "api/text/json.h"
#include "api/text/json_tree.h"
#include "api/text/scalar.h"

namespace holdfast::api {
namespace {

using Done = tl::expected<void, JsonError>;
using Kind = JsonNode::Kind;

tl::unexpected<JsonError> no(std::string place, std::string what) {
  return tl::unexpected(JsonError{std::move(place), std::move(what)});
}

Done expect(const JsonNode& node, Kind kind, const std::string& place) {
  if (node.kind == kind) return {};
  return no(place, "must be " + std::string(kind_name(kind)) + ", not " +
                       std::string(kind_name(node.kind)));
}

tl::expected<capnp::DynamicValue::Reader, JsonError> whole_number(const JsonNode& node,
                                                                  const FieldText& field,
                                                                  const std::string& place) {
  if (node.kind == Kind::text && field.kind == FieldKind::instant) {
    const auto instant = parse_instant(node.text);
    if (!instant) return no(place, instant.error());
    return capnp::DynamicValue::Reader(instant->ms);
  }
  if (node.kind == Kind::text && field.kind == FieldKind::duration) {
    const auto duration = parse_duration(node.text);
    if (!duration) return no(place, duration.error());
    return capnp::DynamicValue::Reader(duration->ms);
  }
  if (node.kind != Kind::whole) {
    std::string wanted = "a whole number";
    if (field.kind == FieldKind::instant) wanted = "RFC 3339 text or whole milliseconds";
    if (field.kind == FieldKind::duration) wanted = "whole milliseconds or text like 1d2h30m";
    return no(place, "must be " + wanted + ", not " + std::string(kind_name(node.kind)));
  }
  auto value = fit(node.whole, field.field.getType());
  if (!value) return no(place, value.error());
  return *value;
}

Done fill(const JsonNode& node, capnp::DynamicStruct::Builder into, const std::string& place);

// A list's elements are structs, numbers, data or text.
Done fill_list(const JsonNode& node, capnp::DynamicList::Builder into, const std::string& place) {
  const capnp::Type type = into.getSchema().getElementType();
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const JsonNode& item = node.items[i];
    const std::string item_place = place_in(place, std::to_string(i));
    const auto index = static_cast<unsigned>(i);
    if (type.isStruct()) {
      auto done = fill(item, into[index].as<capnp::DynamicStruct>(), item_place);
      if (!done) return done;
      continue;
    }
    if (type.isUInt64()) {
      if (auto done = expect(item, Kind::whole, item_place); !done) return done;
      const auto value = fit(item.whole, type);
      if (!value) return no(item_place, value.error());
      into.set(index, *value);
      continue;
    }
    if (auto done = expect(item, Kind::text, item_place); !done) return done;
    if (type.isData()) {
      const auto bytes = parse_hex(item.text);
      if (!bytes) return no(item_place, bytes.error());
      const auto* data = reinterpret_cast<const kj::byte*>(bytes->data());
      into.set(index, capnp::Data::Reader(data, bytes->size()));
      continue;
    }
    into.set(index, capnp::Text::Reader(item.text.c_str(), item.text.size()));
  }
  return {};
}

Done fill_as_of(const JsonNode& node, capnp::DynamicStruct::Builder into,
                const std::string& place) {
  const auto done = parse_as_of(node.text, {}, into.as<wire::AsOf>());
  if (!done) return no(place, done.error().what);
  return {};
}

Done fill_blob(const JsonNode& node, const FieldText& field, capnp::DynamicStruct::Builder into,
               const std::string& place) {
  if (auto done = expect(node, Kind::text, place); !done) return done;
  if (field.field.getType().isText()) {
    into.set(field.field, capnp::Text::Reader(node.text.c_str(), node.text.size()));
    return {};
  }
  const auto bytes = parse_hex(node.text);
  if (!bytes) return no(place, bytes.error());
  into.set(field.field,
           capnp::Data::Reader(reinterpret_cast<const kj::byte*>(bytes->data()), bytes->size()));
  return {};
}

bool is_flag(capnp::EnumSchema schema) {
  return schema == capnp::EnumSchema(capnp::Schema::from<wire::Flag>());
}

Done fill_field(const JsonNode& node, const FieldText& field, capnp::DynamicStruct::Builder into,
                const std::string& place) {
  const auto type = field.field.getType();
  if (is_integer(type)) {
    const auto value = whole_number(node, field, place);
    if (!value) return tl::unexpected(value.error());
    into.set(field.field, *value);
    return {};
  }
  switch (type.which()) {
    case capnp::schema::Type::VOID:
      if (auto done = expect(node, Kind::null, place); !done) return done;
      into.set(field.field, capnp::VOID);
      return {};
    case capnp::schema::Type::BOOL:
      if (auto done = expect(node, Kind::boolean, place); !done) return done;
      into.set(field.field, node.boolean);
      return {};
    case capnp::schema::Type::ENUM: {
      if (node.kind == Kind::boolean && is_flag(type.asEnum())) {
        into.set(field.field, *parse_enum(type.asEnum(), node.boolean ? "true" : "false"));
        return {};
      }
      if (auto done = expect(node, Kind::text, place); !done) return done;
      const auto value = parse_enum(type.asEnum(), node.text);
      if (!value) {
        return no(place, "'" + node.text + "' is none of " + names_of(type.asEnum()));
      }
      into.set(field.field, *value);
      return {};
    }
    case capnp::schema::Type::LIST: {
      if (auto done = expect(node, Kind::array, place); !done) return done;
      auto list = into.init(field.field, static_cast<unsigned>(node.items.size()));
      return fill_list(node, list.as<capnp::DynamicList>(), place);
    }
    case capnp::schema::Type::STRUCT: {
      auto inner = into.init(field.field).as<capnp::DynamicStruct>();
      if (is_as_of(type.asStruct()) && node.kind == Kind::text) {
        return fill_as_of(node, inner, place);
      }
      return fill(node, inner, place);
    }
    default:
      return fill_blob(node, field, into, place);
  }
}

std::string union_names(capnp::StructSchema schema) {
  std::string names;
  for (const auto& field : fields_of(schema)) {
    if (!field.in_union) continue;
    if (!names.empty()) names += ", ";
    names += field.name;
  }
  return names;
}

Done fill(const JsonNode& node, capnp::DynamicStruct::Builder into, const std::string& place) {
  if (auto done = expect(node, Kind::object, place); !done) return done;
  const auto schema = into.getSchema();
  const std::string* chosen = nullptr;
  for (const auto& [name, value] : node.members) {
    const FieldText* field = find_name(schema, name);
    const std::string inner = place_in(place, name);
    if (!field) return no(inner, "is unknown");
    if (field->in_union && chosen) {
      return no(inner, "cannot stand beside '" + *chosen + "': only one of the two");
    }
    if (field->in_union) chosen = &name;
    if (auto done = fill_field(value, *field, into, inner); !done) return done;
  }
  const auto& fields = fields_of(schema);
  if (!chosen && std::ranges::any_of(fields, &FieldText::in_union)) {
    return no(place, "needs one of " + union_names(schema));
  }
  return {};
}

}  // namespace

tl::expected<void, JsonError> from_json(std::string_view text, capnp::DynamicStruct::Builder into) {
  const auto tree = parse_json(text);
  if (!tree) return tl::unexpected(tree.error());
  return fill(*tree, into, "");
}

tl::expected<void, JsonError> import_line_from_json(std::string_view text,
                                                    wire::ImportLine::Builder into) {
  auto tree = parse_json(text);
  if (!tree) return tl::unexpected(tree.error());
  if (auto done = expect(*tree, Kind::object, ""); !done) return done;
  const auto at = std::ranges::find(tree->members, "at", [](const auto& m) { return m.first; });
  if (at == tree->members.end()) return no("", "needs 'at', the command's instant");
  const FieldText* field = find_name(capnp::Schema::from<wire::ImportLine>(), "at");
  const auto instant = whole_number(at->second, *field, "/at");
  if (!instant) return tl::unexpected(instant.error());
  into.setAt(instant->as<std::int64_t>());
  tree->members.erase(at);
  return fill(*tree, into.initCommand(), "");
}

}  // namespace holdfast::api
