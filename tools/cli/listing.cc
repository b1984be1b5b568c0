#include "tools/cli/listing.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <optional>
#include <string>

#include "api/text/json.h"
#include "tools/cli/answer_text.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

// Writes the items of all pages as one answer.
class Output {
 public:
  Output(bool json, const char* name, Table table)
      : json_(json), name_(name), table_(std::move(table)) {}

  template <class Items>
  void page(const Items& items) {
    for (const auto item : items) {
      if (json_) {
        print(count_ == 0 ? fmt::format("{{\"{}\":[", name_) : ",");
        print(boost::json::serialize(api::to_json(item)));
      } else {
        add_row(table_, item);
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
      print(fmt::format("no {}\n", name_));
    } else if (!cursor.empty()) {
      print("more: go on with --cursor '" + printable(cursor) + "'\n");
    }
  }

 private:
  bool json_;
  const char* name_;
  Table table_;
  std::uint64_t count_ = 0;
};

struct Page {
  std::uint64_t items;
  std::string cursor;
};

// Prints the page; nothing when it is not an answer to the question.
std::optional<Page> print_page(wire::Response::Reader response, Output& output) {
  if (response.isClaims()) {
    const auto answer = response.getClaims();
    output.page(answer.getClaims());
    return Page{answer.getClaims().size(), answer.getCursor().cStr()};
  }
  if (response.isHistory()) {
    const auto answer = response.getHistory();
    output.page(answer.getEvents());
    return Page{answer.getEvents().size(), answer.getCursor().cStr()};
  }
  return std::nullopt;
}

api::Request page_request(wire::Query::Reader query, const std::string& cursor,
                          std::uint32_t limit) {
  api::Request request;
  request.root().setQuery(query);
  auto page = request.root().getQuery();
  if (page.isClaims()) {
    if (!cursor.empty()) page.getClaims().setCursor(cursor.c_str());
    page.getClaims().setLimit(limit);
  } else {
    if (!cursor.empty()) page.getHistory().setCursor(cursor.c_str());
    page.getHistory().setLimit(limit);
  }
  return request;
}

}  // namespace

Exit run_listing(const Options& options, wire::Query::Reader query) {
  Connection connection(options);
  const std::uint32_t limit =
      query.isClaims() ? query.getClaims().getLimit() : query.getHistory().getLimit();
  Output output(options.json, query.isClaims() ? "claims" : "events",
                query.isClaims() ? claims_table() : history_table());
  std::uint32_t left = limit;
  std::string cursor;
  for (;;) {
    const auto answer = connection.call(page_request(query, cursor, left));
    if (!answer) return fail(options, "connection", answer.error());
    if (answer->root().isRefused()) return print_refusal(options, answer->root().getRefused());
    const auto page = print_page(answer->root(), output);
    if (!page) return fail(options, "server", "the server gave an answer to another question");
    cursor = page->cursor;
    if (limit != 0) left -= static_cast<std::uint32_t>(std::min<std::uint64_t>(page->items, left));
    if (cursor.empty() || (limit != 0 && left == 0)) {
      output.end(answer->root().getPosition(), cursor);
      return Exit::accepted;
    }
  }
}

}  // namespace holdfast::cli
