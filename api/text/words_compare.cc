#include <algorithm>

#include "api/text/fields.h"
#include "api/text/scalar.h"
#include "api/text/words.h"

namespace holdfast::api {
namespace {

std::string text_of(capnp::Text::Reader text) { return {text.cStr(), text.size()}; }

std::string integer_text(const capnp::DynamicStruct::Reader& from, const FieldText& field,
                         const TimeBase& base) {
  const auto value = from.get(field.field);
  if (value.getType() == capnp::DynamicValue::UINT) {
    return std::to_string(value.as<std::uint64_t>());
  }
  const auto number = value.as<std::int64_t>();
  if (field.kind == FieldKind::duration) return to_text(Duration{number});
  if (field.kind == FieldKind::instant && in_range(Instant{number})) {
    return to_text(Instant{number}, base);
  }
  return std::to_string(number);
}

std::optional<std::string> list_text(capnp::DynamicList::Reader list) {
  std::string text;
  for (const auto element : list) {
    if (!text.empty()) text += ',';
    if (element.getType() == capnp::DynamicValue::TEXT) {
      text += text_of(element.as<capnp::Text>());
      continue;
    }
    if (element.getType() != capnp::DynamicValue::STRUCT) return std::nullopt;
    const auto item = element.as<capnp::DynamicStruct>();
    const FieldText* key = find_name(item.getSchema(), "key");
    if (!key) return std::nullopt;
    text += text_of(item.get(key->field).as<capnp::Text>());
  }
  return text.empty() ? "none" : text;
}

// The text of one field, which is given.
std::optional<std::string> value_text(const capnp::DynamicStruct::Reader& from,
                                      const FieldText& field, const TimeBase& base) {
  const auto type = field.field.getType();
  if (is_integer(type)) return integer_text(from, field, base);
  const auto value = from.get(field.field);
  switch (type.which()) {
    case capnp::schema::Type::TEXT:
      return text_of(value.as<capnp::Text>());
    case capnp::schema::Type::BOOL:
      return value.as<bool>() ? "true" : "false";
    case capnp::schema::Type::ENUM:
      return to_text(value.as<capnp::DynamicEnum>());
    case capnp::schema::Type::DATA:
      return to_hex(value.as<capnp::Data>());
    case capnp::schema::Type::LIST:
      return list_text(value.as<capnp::DynamicList>());
    case capnp::schema::Type::STRUCT:
      if (is_as_of(type.asStruct())) {
        return to_text(value.as<capnp::DynamicStruct>().as<wire::AsOf>(), base);
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

struct Found {
  std::optional<capnp::DynamicStruct::Reader> in;  // none: the struct around it is not given
  const FieldText* field;
};

// The field that the word names, in the struct or in the structs inside it.
std::optional<Found> find(capnp::StructSchema schema,
                          const std::optional<capnp::DynamicStruct::Reader>& from,
                          std::string_view word) {
  if (const FieldText* field = find_word(schema, word)) return Found{from, field};
  std::optional<Found> absent;
  for (const auto& inner : fields_of(schema)) {
    const auto type = inner.field.getType();
    if (!type.isStruct() || is_as_of(type.asStruct())) continue;
    std::optional<capnp::DynamicStruct::Reader> value;
    if (from && is_given(*from, inner)) {
      value = from->get(inner.field).as<capnp::DynamicStruct>();
    }
    const auto found = find(type.asStruct(), value, word);
    if (found && found->in) return found;
    if (found && !absent) absent = found;
  }
  return absent;
}

// A value of its own of the struct's type, to read an expected text into.
tl::expected<std::string, WordError> canonical(capnp::StructSchema schema, const FieldText& field,
                                               std::string_view text, const TimeBase& base) {
  capnp::MallocMessageBuilder message;
  auto value = message.initRoot<capnp::DynamicStruct>(schema);
  if (auto done = set_field(value, field, text, base); !done) {
    return tl::unexpected(std::move(done).error());
  }
  return value_text(value.asReader(), field, base).value_or("none");
}

}  // namespace

std::optional<std::string> field_text(capnp::DynamicStruct::Reader from, std::string_view word,
                                      const TimeBase& base) {
  const auto found = find(from.getSchema(), from, word);
  if (!found || !found->in || !is_given(*found->in, *found->field)) return std::nullopt;
  return value_text(*found->in, *found->field, base);
}

tl::expected<bool, WordError> field_equals(capnp::DynamicStruct::Reader from, std::string_view word,
                                           std::string_view expected, const TimeBase& base) {
  const auto found = find(from.getSchema(), from, word);
  if (!found) return tl::unexpected(WordError{"the answer has no '" + std::string(word) + "'"});
  const FieldText& field = *found->field;
  const bool given = found->in && is_given(*found->in, field);
  if (expected == "none" && !given) return true;
  const bool is_list = field.field.getType().isList();
  std::string wanted(expected);
  if (!is_list && expected != "none") {
    auto text = canonical(field.field.getContainingStruct(), field, expected, base);
    if (!text) return tl::unexpected(std::move(text).error());
    wanted = std::move(*text);
  }
  const auto got = given ? value_text(*found->in, field, base) : std::optional<std::string>("none");
  return got == wanted;
}

}  // namespace holdfast::api
