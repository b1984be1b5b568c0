#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/text/line_writer.h"
#include "ledger/domain/event.h"
#include "ledger/proof/export_manifest.h"

namespace holdfast::cli {

// Events as lines of JSON or CSV, and back: equal events give equal lines, and a line holds all of
// its event. One thread at a time.
class EventLines {
 public:
  // Requires jsonl or csv.
  explicit EventLines(proof::ExportFormat format);

  // Before the first line.
  void append_header(std::string& out) const;
  // With the line's end.
  void append(const Event& event, std::string& out) const;
  // Of a whole line. The error says what is wrong with it; a line that append() does not make of
  // its event is wrong too.
  tl::expected<Event, std::string> read(std::string_view line) const;

 private:
  tl::expected<Event, std::string> parse(std::string_view line) const;

  proof::ExportFormat format_;
  api::LineWriter writer_;
};

}  // namespace holdfast::cli
