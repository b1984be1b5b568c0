#include "tools/cli/answer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "api/text/fields.h"
#include "api/text/words.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

// The value that a word names, or nothing to see.
std::string cell(const capnp::DynamicStruct::Reader& from, std::string_view word) {
  return api::field_text(from, word, {}).value_or("");
}

// The given fields but those in `elsewhere`: "holder=ann quantity=1". What is false goes without
// saying.
std::string detail(const capnp::DynamicStruct::Reader& from,
                   std::span<const std::string_view> elsewhere) {
  std::string detail;
  const auto add = [&](const std::string& word) { detail += (detail.empty() ? "" : " ") + word; };
  for (const auto& field : api::fields_of(from.getSchema())) {
    const bool shown = std::ranges::find(elsewhere, field.word) != elsewhere.end();
    if (shown || !api::is_given(from, field)) continue;
    if (field.pairs) {
      for (const auto pair : from.get(field.field).as<capnp::DynamicList>()) {
        const auto attribute = pair.as<capnp::DynamicStruct>().as<wire::Attribute>();
        add(fmt::format("{}.{}={}", field.word, attribute.getName().cStr(),
                        attribute.getValue().cStr()));
      }
      continue;
    }
    const std::string value = cell(from, field.word);
    if (field.field.getType().isBool() && value == "false") continue;
    add(field.word + "=" + value);
  }
  return detail;
}

// Fields of an event that the table has columns for, that only programs need, or that are said in
// another way.
constexpr std::array<std::string_view, 15> kNotDetail = {"position",
                                                         "transaction",
                                                         "transaction-count",
                                                         "recorded-at",
                                                         "type",
                                                         "resource",
                                                         "key",
                                                         "previous-on-resource",
                                                         "previous-of-claim",
                                                         "actor",
                                                         "previous-on-to",
                                                         "content",
                                                         "step",
                                                         "window",
                                                         "window-added"};

// What else an event says: "holder=ann quantity=1".
std::string event_detail(wire::Event::Reader event) {
  if (!event.hasWindow()) return detail(event, kNotDetail);
  // The definition stands as it was.
  return fmt::format("{} {} from={} until={}", event.getWindow().cStr(),
                     event.getWindowAdded() ? "added" : "removed", cell(event, "from"),
                     cell(event, "until"));
}

// What was asked: the given fields of the query, proof or whatever it was.
std::string request_detail(const capnp::DynamicStruct::Reader& request) {
  KJ_IF_MAYBE (member, request.which()) {
    const auto value = request.get(*member);
    if (value.getType() != capnp::DynamicValue::STRUCT) return {};
    return request_detail(value.as<capnp::DynamicStruct>());
  }
  return detail(request, {});
}

// Fields of an access record that the table has columns for or that only programs need.
constexpr std::array<std::string_view, 10> kNotAccessDetail = {
    "position", "recorded-at", "type",    "actor",         "ledger-position",
    "outcome",  "reason",      "request", "request-bytes", "ledger-id"};

std::string access_detail(wire::AccessRecord::Reader record) {
  std::string text = record.hasRequest() ? request_detail(record.getRequest()) : std::string();
  const std::string rest = detail(record, kNotAccessDetail);
  if (!text.empty() && !rest.empty()) text += "  ";
  return text + rest;
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

std::vector<std::pair<std::string, std::string>> claim_lines(wire::Claim::Reader claim) {
  auto lines = lines_of(claim);
  if (!claim.getBound())
    std::erase_if(lines, [](const auto& line) { return line.first == "bound"; });
  return lines;
}

std::vector<std::pair<std::string, std::string>> head_lines(wire::HeadAnswer::Reader head) {
  auto lines = lines_of(head);
  std::erase_if(lines, [](const auto& line) { return line.first == "note"; });
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
  if (accepted.hasClaim()) lines = claim_lines(accepted.getClaim());
  for (auto& [label, value] : lines) {
    if (label == "expires" && accepted.getClamped())
      value += " (earlier than asked for: the limit)";
  }
  if (accepted.getAvailable() != wire::NONE) {
    lines.emplace_back("available", fmt::format("{} units left", accepted.getAvailable()));
  }
  return text + label_lines(lines);
}

void add_claims(Table& table, wire::Accepted::Reader accepted) {
  if (accepted.hasClaim()) add_row(table, accepted.getClaim());
  for (const auto part : accepted.getParts()) add_claims(table, part);
}

void print_accepted(wire::Accepted::Reader accepted) {
  print(accepted_text(accepted));
  if (!accepted.hasParts()) return;
  Table table = claims_table();
  add_claims(table, accepted);
  table.flush();
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

Table access_table() {
  return Table({{"POSITION", true},
                {"RECORDED"},
                {"TYPE"},
                {"ACTOR"},
                {"AT", true},
                {"OUTCOME"},
                {"DETAIL"}});
}

void add_row(Table& table, wire::AccessRecord::Reader record) {
  std::string outcome = cell(record, "outcome");
  if (record.hasReason()) {
    outcome += (outcome.empty() ? "" : ": ") + cell(record, "reason");
  }
  table.add({cell(record, "position"), cell(record, "recorded-at"), cell(record, "type"),
             cell(record, "actor"), cell(record, "ledger-position"), std::move(outcome),
             access_detail(record)});
}

Table resources_table() {
  return Table({{"RESOURCE"}, {"FREE", true}, {"CAPACITY", true}, {"CLAIMS", true}, {"DETAIL"}});
}

void add_row(Table& table, wire::ResourceState::Reader resource) {
  constexpr std::array<std::string_view, 7> kElsewhere = {
      "resource", "free", "capacity", "claims", "turnaround", "hours", "blocked"};
  std::string rest = detail(resource, kElsewhere);
  const auto add = [&](std::string_view word, std::int64_t number) {
    if (number == 0) return;
    rest += fmt::format("{}{}={}", rest.empty() ? "" : " ", word, cell(resource, word));
  };
  add("turnaround", resource.getTurnaround());
  add("hours", resource.getHours());
  add("blocked", resource.getBlocked());
  table.add({cell(resource, "resource"), cell(resource, "free"), cell(resource, "capacity"),
             cell(resource, "claims"), rest});
}

Table tallies_table() {
  return Table({{"DAY"},
                {"RESOURCE"},
                {"HOLDS", true},
                {"COMMITS", true},
                {"EXPIRIES", true},
                {"RELEASES", true},
                {"STEALS", true},
                {"CANCELLATIONS", true}});
}

void add_row(Table& table, wire::Tally::Reader tally) {
  std::vector<std::string> cells{cell(tally, "day").substr(0, 10), cell(tally, "resource")};
  for (const char* count :
       {"holds", "commits", "expiries", "releases", "steals", "cancellations"}) {
    cells.push_back(cell(tally, count));
  }
  table.add(std::move(cells));
}

Table pieces_table() { return Table({{"FROM"}, {"UNTIL"}, {"FREE", true}}); }

void add_row(Table& table, wire::FreePiece::Reader piece) {
  table.add({cell(piece, "from"), cell(piece, "until"), cell(piece, "free")});
}

}  // namespace holdfast::cli
