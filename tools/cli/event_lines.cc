#include "tools/cli/event_lines.h"

#include <capnp/message.h>
#include <array>
#include <optional>
#include <vector>

#include "api/convert_answer.h"
#include "api/convert_event.h"
#include "api/text/json.h"
#include "api/text/scalar.h"

namespace holdfast::cli {
namespace {

using Which = capnp::schema::Type;

capnp::StructSchema event_schema() { return capnp::Schema::from<wire::Event>(); }

// Nothing of an unquoted cell without characters.
using Cell = std::optional<std::string>;

// The cells of one line without its end. Nothing where quotes do not match.
std::optional<std::vector<Cell>> cells_of(std::string_view line) {
  std::vector<Cell> cells;
  for (;;) {
    Cell cell;
    if (line.starts_with('"')) {
      cell.emplace();
      line.remove_prefix(1);
      for (;; line.remove_prefix(1)) {
        const auto quote = line.find('"');
        if (quote == line.npos) return std::nullopt;
        *cell += line.substr(0, quote);
        line.remove_prefix(quote + 1);
        if (!line.starts_with('"')) break;
        *cell += '"';
      }
      if (!line.empty() && line.front() != ',') return std::nullopt;
    } else if (const auto bare = line.substr(0, line.find(',')); !bare.empty()) {
      cell = bare;
      line.remove_prefix(bare.size());
    }
    cells.push_back(std::move(cell));
    if (line.empty()) return cells;
    line.remove_prefix(1);
  }
}

// What stands in JSON for the cell. A text has an apostrophe before it where it needed one.
void append_json(const api::FieldText& field, std::string_view cell, std::string& out) {
  const auto type = field.field.getType();
  const bool is_text = type.which() == Which::TEXT;
  if (is_text && cell.starts_with('\'')) cell.remove_prefix(1);
  const bool plain = type.isList() || type.isBool() ||
                     (api::is_integer(type) && field.kind != api::FieldKind::instant);
  if (plain) {
    out += cell;
  } else {
    api::append_json_text(cell, out);
  }
}

tl::expected<std::string, std::string> json_of_csv(std::string_view line) {
  const auto& fields = api::fields_of(event_schema());
  const auto cells = cells_of(line);
  if (!cells || cells->size() != fields.size()) {
    return tl::unexpected(std::string("it does not have the columns of an event"));
  }
  std::string json = "{";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!(*cells)[i]) continue;
    if (json.size() > 1) json += ',';
    json += "\"" + fields[i].name + "\":";
    append_json(fields[i], *(*cells)[i], json);
  }
  return json + "}";
}

}  // namespace

EventLines::EventLines(proof::ExportFormat format) : format_(format), writer_(event_schema()) {}

void EventLines::append_header(std::string& out) const {
  if (format_ == proof::ExportFormat::csv) writer_.append_csv_header(out);
}

void EventLines::append(const Event& event, std::string& out) const {
  // Room for nearly every event. The builder leaves it zeroed for the next one.
  thread_local std::array<capnp::word, 512> scratch{};
  capnp::MallocMessageBuilder message(kj::arrayPtr(scratch.data(), scratch.size()));
  auto wire = message.initRoot<wire::Event>();
  api::put(event, wire);
  if (format_ == proof::ExportFormat::csv) {
    writer_.append_csv(wire.asReader(), out);
  } else {
    writer_.append_json(wire.asReader(), out);
    out += '\n';
  }
}

tl::expected<Event, std::string> EventLines::parse(std::string_view line) const {
  std::string json(line);
  if (format_ == proof::ExportFormat::csv) {
    auto made = json_of_csv(line);
    if (!made) return tl::unexpected(made.error());
    json = std::move(*made);
  }
  capnp::MallocMessageBuilder message;
  auto wire = message.initRoot<wire::Event>();
  if (auto read = api::from_json(json, wire); !read) return tl::unexpected(read.error().text());
  return api::event_from(wire.asReader());
}

tl::expected<Event, std::string> EventLines::read(std::string_view line) const {
  const std::string_view end = format_ == proof::ExportFormat::csv ? "\r\n" : "\n";
  if (!line.ends_with(end)) return tl::unexpected(std::string("it has no end"));
  auto event = parse(line.substr(0, line.size() - end.size()));
  if (!event) return event;
  std::string written;
  append(*event, written);
  if (written != line)
    return tl::unexpected(std::string("it is not written as an export writes it"));
  return event;
}

}  // namespace holdfast::cli
