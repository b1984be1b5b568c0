#include "tools/cli/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "api/text/json.h"
#include "api/text/pages.h"
#include "api/text/time_text.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/table.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

// An answer is kept as long as its events are used.
struct Life {
  std::vector<api::Response> answers;
  std::vector<wire::Event::Reader> events;
  api::Response claim;

  bool is_live() const {
    const auto state = claim.root().getClaim().getState();
    return state == wire::ClaimState::HELD || state == wire::ClaimState::COMMITTED;
  }
};

// An expiry took effect when it was due.
std::int64_t took_effect(wire::Event::Reader event) {
  return event.getDue() != wire::NONE ? event.getDue() : event.getRecordedAt();
}

std::string time_of(std::int64_t ms) { return api::to_text(Instant{ms}); }

std::string units(std::int64_t count) {
  return fmt::format("{} unit{}", count, count == 1 ? "" : "s");
}

std::string span_of(wire::Event::Reader event) {
  if (event.getFrom() == wire::NONE) return "";
  return fmt::format(", {} to {}", time_of(event.getFrom()), time_of(event.getUntil()));
}

std::string rest_of(std::int64_t count, std::string_view what) {
  if (count == wire::NONE || count == 0) return "";
  return fmt::format(", {} {}", units(count), what);
}

std::string what_happened(wire::Event::Reader event) {
  const std::string_view type = event.getType().cStr();
  if (type == "held") {
    return fmt::format("held {} of {}{}, until {}{}", units(event.getQuantity()),
                       event.getResource().cStr(), span_of(event), time_of(event.getExpiresAt()),
                       event.hasStolenFrom()
                           ? fmt::format("; taken over from {}", event.getStolenFrom().cStr())
                           : "");
  }
  if (type == "extended") return "extended until " + time_of(event.getExpiresAt());
  if (type == "released") {
    return "let go of " + units(event.getQuantity()) + rest_of(event.getRemaining(), "stay");
  }
  if (type == "committed") {
    return "booked " + units(event.getQuantity()) + rest_of(event.getLetGo(), "let go");
  }
  if (type == "cancelled") {
    return "cancelled " + units(event.getQuantity()) + rest_of(event.getRemaining(), "stay");
  }
  if (type == "stolen") return fmt::format("taken over by {}", event.getStolenBy().cStr());
  if (type == "moved") {
    return fmt::format("moved{}{}",
                       event.hasTo() ? fmt::format(" to {}", event.getTo().cStr()) : "",
                       span_of(event));
  }
  if (type == "expired") {
    const bool late = event.getRecordedAt() != event.getDue();
    return late ? "expired; recorded " + time_of(event.getRecordedAt()) : "expired";
  }
  return std::string(type);
}

std::string who(wire::Event::Reader event) {
  if (!event.hasOnBehalfOf()) return event.getActor().cStr();
  return fmt::format("{} for {}", event.getActor().cStr(), event.getOnBehalfOf().cStr());
}

std::string why(wire::Event::Reader event) {
  std::string text = event.getReason().cStr();
  const auto add = [&](const char* word, capnp::Text::Reader value) {
    if (value.size() == 0) return;
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", word, value.cStr());
  };
  add("request", event.getRequestId());
  add("correlation", event.getCorrelationId());
  if (event.getTransactionCount() > 1) {
    text += fmt::format("{}one of {} in transaction {}", text.empty() ? "" : "; ",
                        event.getTransactionCount(), event.getTransaction());
  }
  return text;
}

// How long it stayed as the event left it; none: it has stayed so.
std::optional<Duration> lasted(const Life& life, std::size_t step) {
  if (step + 1 == life.events.size()) return std::nullopt;
  return Duration{took_effect(life.events[step + 1]) - took_effect(life.events[step])};
}

void tell(const Life& life) {
  const auto claim = life.claim.root().getClaim();
  print(printable(fmt::format("{}: {} on {}, {} of {}", claim.getKey().cStr(),
                              kj::str(claim.getState()).cStr(), claim.getResource().cStr(),
                              units(claim.getQuantity()), claim.getHolder().cStr())) +
        "\n");
  Table table({{"POSITION", true}, {"WHEN"}, {"WHAT"}, {"BY"}, {"WHY"}, {"LASTED", true}});
  for (std::size_t step = 0; step < life.events.size(); ++step) {
    const auto event = life.events[step];
    const auto time = lasted(life, step);
    table.add({std::to_string(event.getPosition()), time_of(took_effect(event)),
               what_happened(event), who(event), why(event),
               time             ? api::to_text(*time)
               : life.is_live() ? "until now"
                                : ""});
  }
  table.flush();
}

void tell_json(const Life& life) {
  boost::json::array steps;
  for (std::size_t step = 0; step < life.events.size(); ++step) {
    const auto event = life.events[step];
    boost::json::object told{{"what", what_happened(event)},
                             {"took_effect", time_of(took_effect(event))}};
    if (const auto time = lasted(life, step)) told["lasted_ms"] = time->ms;
    told["event"] = api::to_json(event);
    steps.push_back(std::move(told));
  }
  print_json(boost::json::object{{"position", life.claim.root().getPosition()},
                                 {"claim", api::to_json(life.claim.root().getClaim())},
                                 {"steps", std::move(steps)}});
}

}  // namespace

CLI::App* add_explain(CLI::App& app, std::string& key) {
  CLI::App* sub =
      app.add_subcommand("explain", "tell the life of one claim: what, when, who, why, how long")
          ->group("Evidence")
          ->fallthrough();
  sub->add_option("key", key, "key of the claim")->required()->type_name("KEY");
  return sub;
}

Exit run_explain(const Options& options, const std::string& key) {
  Connection connection(options);
  api::Request show;
  show.root().initQuery().initClaim().setKey(key);
  auto claim = connection.call(std::move(show));
  if (!claim) return fail(options, "connection", claim.error());
  if (claim->root().isRefused()) return print_refusal(options, claim->root().getRefused());
  // Both are of one position, so that they tell the same story.
  const auto at = static_cast<std::int64_t>(claim->root().getPosition());
  Life life{.answers = {}, .events = {}, .claim = std::move(*claim)};
  std::string cursor;
  do {
    api::Request request;
    auto history = request.root().initQuery().initHistory();
    history.setKey(key);
    history.initAsOf().setPosition(at);
    if (!cursor.empty()) history.setCursor(cursor);
    auto answer = connection.call(std::move(request));
    if (!answer) return fail(options, "connection", answer.error());
    if (answer->root().isRefused()) return print_refusal(options, answer->root().getRefused());
    for (const auto event : answer->root().getHistory().getEvents()) life.events.push_back(event);
    const auto page = api::page_of(answer->root());
    cursor = page ? page->cursor : "";
    life.answers.push_back(std::move(*answer));
  } while (!cursor.empty());
  options.json ? tell_json(life) : tell(life);
  return Exit::accepted;
}

}  // namespace holdfast::cli
