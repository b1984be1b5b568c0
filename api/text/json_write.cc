#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "api/text/fields.h"
#include "api/text/json.h"
#include "api/text/scalar.h"

namespace holdfast::api {
namespace {

boost::json::value text_value(capnp::Text::Reader text) {
  return boost::json::string(text.cStr(), text.size());
}

boost::json::value struct_value(const capnp::DynamicStruct::Reader& from) {
  if (is_as_of(from.getSchema())) {
    if (const auto text = to_text(from.as<wire::AsOf>(), {})) return boost::json::string(*text);
  }
  return to_json(from);
}

boost::json::value list_value(capnp::DynamicList::Reader list) {
  boost::json::array array;
  array.reserve(list.size());
  for (const auto element : list) {
    switch (element.getType()) {
      case capnp::DynamicValue::TEXT:
        array.push_back(text_value(element.as<capnp::Text>()));
        break;
      case capnp::DynamicValue::DATA:
        array.push_back(boost::json::string(to_hex(element.as<capnp::Data>())));
        break;
      case capnp::DynamicValue::UINT:
        array.push_back(element.as<std::uint64_t>());
        break;
      default:
        array.push_back(struct_value(element.as<capnp::DynamicStruct>()));
    }
  }
  return array;
}

boost::json::value value_of(const capnp::DynamicStruct::Reader& from, const FieldText& field) {
  const auto value = from.get(field.field);
  switch (value.getType()) {
    case capnp::DynamicValue::BOOL:
      return value.as<bool>();
    case capnp::DynamicValue::INT: {
      const auto number = value.as<std::int64_t>();
      if (field.kind == FieldKind::instant && in_range(Instant{number})) {
        return boost::json::string(to_text(Instant{number}));
      }
      return number;
    }
    case capnp::DynamicValue::UINT:
      return value.as<std::uint64_t>();
    case capnp::DynamicValue::TEXT:
      return text_value(value.as<capnp::Text>());
    case capnp::DynamicValue::DATA:
      return boost::json::string(to_hex(value.as<capnp::Data>()));
    case capnp::DynamicValue::ENUM:
      return boost::json::string(to_text(value.as<capnp::DynamicEnum>()));
    case capnp::DynamicValue::LIST:
      return list_value(value.as<capnp::DynamicList>());
    case capnp::DynamicValue::STRUCT:
      return struct_value(value.as<capnp::DynamicStruct>());
    default:
      return nullptr;
  }
}

}  // namespace

boost::json::object to_json(capnp::DynamicStruct::Reader from) {
  boost::json::object object;
  for (const auto& field : fields_of(from.getSchema())) {
    if (is_given(from, field)) object.emplace(field.name, value_of(from, field));
  }
  return object;
}

}  // namespace holdfast::api
