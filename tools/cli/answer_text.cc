#include "tools/cli/answer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/text/fields.h"
#include "api/text/words.h"

namespace holdfast::cli {
namespace {

// The value that a word names, or nothing to see.
std::string cell(const capnp::DynamicStruct::Reader& from, std::string_view word) {
  return api::field_text(from, word, {}).value_or("");
}

// Fields of an event that the table has columns for, or that only programs need.
constexpr std::array<std::string_view, 11> kNotDetail = {
    "position", "transaction",          "transaction-count", "recorded-at", "type",   "resource",
    "key",      "previous-on-resource", "previous-of-claim", "actor",       "content"};

// What else an event says: "holder=ann quantity=1".
std::string event_detail(wire::Event::Reader event) {
  const capnp::DynamicStruct::Reader from(event);
  std::string detail;
  for (const auto& field : api::fields_of(from.getSchema())) {
    const bool shown = std::ranges::find(kNotDetail, field.word) != kNotDetail.end();
    if (shown || !api::is_given(from, field)) continue;
    const std::string value = cell(from, field.word);
    if (field.field.getType().isBool() && value == "false") continue;
    if (!detail.empty()) detail += ' ';
    detail += field.word + "=" + value;
  }
  return detail;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> lines_of(capnp::DynamicStruct::Reader from) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& field : api::fields_of(from.getSchema())) {
    if (!api::is_given(from, field)) continue;
    if (const auto value = api::field_text(from, field.word, {})) {
      lines.emplace_back(field.word, *value);
    }
  }
  return lines;
}

std::string accepted_text(wire::Accepted::Reader accepted) {
  std::string text = "accepted: ";
  if (accepted.getPositions() == 0) {
    text += accepted.getReplayed() ? "replayed, nothing written" : "nothing to change";
  } else if (accepted.getPositions() == 1) {
    text += fmt::format("position {}", accepted.getFirstPosition());
  } else {
    text += fmt::format("positions {} to {}", accepted.getFirstPosition(),
                        accepted.getFirstPosition() + accepted.getPositions() - 1);
  }
  if (accepted.getReplayed() && accepted.getPositions() != 0) {
    text += " (replayed: it was accepted before)";
  }
  text += '\n';
  std::vector<std::pair<std::string, std::string>> lines;
  if (accepted.hasClaim()) lines = lines_of(accepted.getClaim());
  for (auto& [label, value] : lines) {
    if (label == "expires" && accepted.getClamped())
      value += " (earlier than asked for: the limit)";
  }
  if (accepted.getAvailable() != wire::NONE) {
    lines.emplace_back("available", fmt::format("{} units left", accepted.getAvailable()));
  }
  return text + label_lines(lines);
}

Table claims_table() {
  return Table({{"KEY"},
                {"RESOURCE"},
                {"FROM"},
                {"UNTIL"},
                {"UNITS", true},
                {"HOLDER"},
                {"STATE"},
                {"EXPIRES"},
                {"VERSION", true}});
}

void add_row(Table& table, wire::Claim::Reader claim) {
  // A booking does not expire, whatever its hold once did.
  const bool held = claim.getState() != wire::ClaimState::COMMITTED &&
                    claim.getState() != wire::ClaimState::CANCELLED;
  table.add({cell(claim, "key"), cell(claim, "resource"), cell(claim, "from"), cell(claim, "until"),
             cell(claim, "quantity"), cell(claim, "holder"), cell(claim, "state"),
             held ? cell(claim, "expires") : "", cell(claim, "version")});
}

Table history_table() {
  return Table(
      {{"POSITION", true}, {"RECORDED"}, {"TYPE"}, {"RESOURCE"}, {"KEY"}, {"ACTOR"}, {"DETAIL"}});
}

void add_row(Table& table, wire::Event::Reader event) {
  table.add({cell(event, "position"), cell(event, "recorded-at"), cell(event, "type"),
             cell(event, "resource"), cell(event, "key"), cell(event, "actor"),
             event_detail(event)});
}

Table pieces_table() { return Table({{"FROM"}, {"UNTIL"}, {"FREE", true}}); }

void add_row(Table& table, wire::FreePiece::Reader piece) {
  table.add({cell(piece, "from"), cell(piece, "until"), cell(piece, "free")});
}

}  // namespace holdfast::cli
