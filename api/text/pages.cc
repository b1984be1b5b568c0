#include "api/text/pages.h"

#include "api/text/fields.h"

namespace holdfast::api {
namespace {

// The union's member in force, where that is a struct.
std::optional<capnp::DynamicStruct::Reader> inner(const capnp::DynamicStruct::Reader& outer) {
  KJ_IF_MAYBE (field, outer.which()) {
    if (field->getType().isStruct()) return outer.get(*field).as<capnp::DynamicStruct>();
  }
  return std::nullopt;
}

const FieldText* list_in(capnp::StructSchema schema) {
  for (const FieldText& field : fields_of(schema)) {
    if (field.field.getType().isList()) return &field;
  }
  return nullptr;
}

}  // namespace

bool is_paged(wire::Query::Reader query) {
  // Without a window it is a number.
  if (query.isAvailability() && query.getAvailability().getFrom() == wire::NONE) return false;
  const auto asked = inner(query);
  return asked && find_name(asked->getSchema(), "cursor") != nullptr;
}

std::uint32_t limit_of(wire::Query::Reader query) {
  const auto asked = inner(query);
  return asked->get("limit").as<std::uint32_t>();
}

void set_page(wire::Query::Builder query, const std::string& cursor, std::uint32_t limit) {
  capnp::DynamicStruct::Builder outer(query);
  KJ_IF_MAYBE (field, outer.which()) {
    auto asked = outer.get(*field).as<capnp::DynamicStruct>();
    if (!cursor.empty()) {
      asked.set("cursor", capnp::Text::Reader(cursor.c_str(), cursor.size()));
    }
    asked.set("limit", limit);
  }
}

std::optional<PageOf> page_of(wire::Response::Reader answer) {
  const auto page = inner(answer);
  if (!page) return std::nullopt;
  const FieldText* cursor = find_name(page->getSchema(), "cursor");
  const FieldText* items = list_in(page->getSchema());
  if (cursor == nullptr || items == nullptr) return std::nullopt;
  return PageOf{page->get(items->field).as<capnp::DynamicList>(),
                page->get(cursor->field).as<capnp::Text>().cStr(), items->name};
}

void join_pages(const std::vector<wire::Response::Reader>& pages, wire::Response::Builder whole) {
  unsigned total = 0;
  for (const auto page : pages) {
    const auto read = page_of(page);
    total += read->items.size();
  }
  capnp::DynamicStruct::Builder into(whole);
  KJ_IF_MAYBE (field, capnp::DynamicStruct::Reader(pages.back()).which()) {
    auto answer = into.init(*field).as<capnp::DynamicStruct>();
    auto items = answer.init(list_in(answer.getSchema())->field, total).as<capnp::DynamicList>();
    unsigned at = 0;
    for (const auto page : pages) {
      const auto read = page_of(page);
      for (const auto item : read->items) items.set(at++, item);
    }
  }
}

}  // namespace holdfast::api
