#pragma once

#include <capnp/dynamic.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/holdfast.capnp.h"

// Lists that are answered page by page, by reflection: queries with a cursor and a limit, answers
// with a cursor and one list. Any thread.
namespace holdfast::api {

bool is_paged(wire::Query::Reader query);
// Of a paged query.
std::uint32_t limit_of(wire::Query::Reader query);
// Makes a paged query ask for what lies behind the cursor, unless it is empty; at most `limit`.
void set_page(wire::Query::Builder query, const std::string& cursor, std::uint32_t limit);

struct PageOf {
  capnp::DynamicList::Reader items;
  std::string cursor;  // empty: that was all
  std::string name;    // of the items, in JSON
};
// None: the answer is no page.
std::optional<PageOf> page_of(wire::Response::Reader answer);

// The pages' items, at least one page of one kind, as the one answer that there would be without
// pages.
void join_pages(const std::vector<wire::Response::Reader>& pages, wire::Response::Builder whole);

}  // namespace holdfast::api
