#include "tools/cli/listing.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <optional>
#include <string>

#include "api/text/json.h"
#include "api/text/pages.h"
#include "tools/cli/answer_text.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

// Writes the items of all pages as one answer.
class Output {
 public:
  Output(bool json, std::string name, Table table)
      : json_(json), name_(std::move(name)), table_(std::move(table)) {}

  void page(capnp::DynamicList::Reader items) {
    for (const auto element : items) {
      const auto item = element.as<capnp::DynamicStruct>();
      if (json_) {
        print(count_ == 0 ? fmt::format("{{\"{}\":[", name_) : ",");
        print(boost::json::serialize(api::to_json(item)));
      } else {
        add_item(item);
      }
      ++count_;
    }
    table_.flush();
  }

  void end(std::uint64_t position, const std::string& cursor) {
    if (json_) {
      if (count_ == 0) print(fmt::format("{{\"{}\":[", name_));
      boost::json::object rest{{"position", position}};
      if (!cursor.empty()) rest["cursor"] = cursor;
      print("]," + boost::json::serialize(rest).substr(1) + "\n");
    } else if (count_ == 0) {
      print(name_ == "pieces" ? "nothing free\n" : fmt::format("no {}\n", name_));
    } else if (!cursor.empty()) {
      print("more: go on with --cursor '" + printable(cursor) + "'\n");
    }
  }

 private:
  void add_item(const capnp::DynamicStruct::Reader& item) {
    if (item.getSchema() == capnp::Schema::from<wire::Claim>()) {
      add_row(table_, item.as<wire::Claim>());
    } else if (item.getSchema() == capnp::Schema::from<wire::Event>()) {
      add_row(table_, item.as<wire::Event>());
    } else if (item.getSchema() == capnp::Schema::from<wire::AccessRecord>()) {
      add_row(table_, item.as<wire::AccessRecord>());
    } else if (item.getSchema() == capnp::Schema::from<wire::Tally>()) {
      add_row(table_, item.as<wire::Tally>());
    } else if (item.getSchema() == capnp::Schema::from<wire::FreePiece>()) {
      add_row(table_, item.as<wire::FreePiece>());
    } else {
      add_row(table_, item.as<wire::ResourceState>());
    }
  }

  bool json_;
  std::string name_;
  Table table_;
  std::uint64_t count_ = 0;
};

Table table_of(wire::Query::Reader query) {
  if (query.isClaims()) return claims_table();
  if (query.isAccess()) return access_table();
  if (query.isAvailability()) return pieces_table();
  if (query.isTallies()) return tallies_table();
  return query.isHistory() ? history_table() : resources_table();
}

api::Request page_request(wire::Query::Reader query, const std::string& cursor,
                          std::uint32_t limit) {
  api::Request request;
  request.root().setQuery(query);
  api::set_page(request.root().getQuery(), cursor, limit);
  return request;
}

}  // namespace

Exit run_listing(const Options& options, wire::Query::Reader query) {
  Connection connection(options);
  const std::uint32_t limit = api::limit_of(query);
  std::optional<Output> output;
  std::uint32_t left = limit;
  std::string cursor;
  for (;;) {
    const auto answer = connection.call(page_request(query, cursor, left));
    if (!answer) return fail(options, "connection", answer.error());
    if (answer->root().isRefused()) return print_refusal(options, answer->root().getRefused());
    const auto page = api::page_of(answer->root());
    if (!page) return fail(options, "server", "the server gave an answer to another question");
    if (!output) output.emplace(options.json, page->name, table_of(query));
    output->page(page->items);
    cursor = page->cursor;
    if (limit != 0) left -= std::min<std::uint32_t>(page->items.size(), left);
    if (cursor.empty() || (limit != 0 && left == 0)) {
      output->end(answer->root().getPosition(), cursor);
      return Exit::accepted;
    }
  }
}

}  // namespace holdfast::cli
