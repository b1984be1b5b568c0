#include "tools/scenario/answers.h"

#include <algorithm>
#include <boost/json.hpp>
#include <regex>
#include <set>
#include <string_view>

#include "api/text/fields.h"
#include "api/text/json.h"

namespace holdfast::scenario {
namespace {

using api::TimeBase;
using api::Word;

std::string reason_of(wire::Refusal::Reader refusal) {
  return api::to_text(capnp::toDynamic(refusal).get("reason").as<capnp::DynamicEnum>());
}

// Of a transaction: a word a position.
std::string positions_text(wire::Refusal::Reader refusal) {
  std::string text;
  for (const auto position : refusal.getPositions()) {
    text += " " + (position.isNone() ? "none" : reason_of(position.getRefused()));
  }
  return text;
}

std::string piece_text(wire::FreePiece::Reader piece, const TimeBase& base) {
  return to_text(Instant{piece.getFrom()}, base) + "-" + to_text(Instant{piece.getUntil()}, base) +
         ":" + std::to_string(piece.getFree());
}

// FROM-UNTIL:FREE, where RFC 3339 instants hold both signs themselves.
std::optional<std::string> canonical_piece(std::string_view text, const TimeBase& base) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view span = text.substr(0, colon);
  for (auto dash = span.find('-'); dash != std::string_view::npos;
       dash = span.find('-', dash + 1)) {
    const auto from = api::parse_instant(span.substr(0, dash), base);
    const auto until = api::parse_instant(span.substr(dash + 1), base);
    if (!from || !until) continue;
    return to_text(*from, base) + "-" + to_text(*until, base) + std::string(text.substr(colon));
  }
  return std::nullopt;
}

// PATH@DAY:holds=N,commits=N, the day as its begin; what is 0 is left out.
std::string tally_text(wire::Tally::Reader tally, const TimeBase& base) {
  std::string text =
      std::string(tally.getResource()) + "@" + to_text(Instant{tally.getDay()}, base);
  char separator = ':';
  const auto add = [&](const char* name, std::uint64_t count) {
    if (count == 0) return;
    text += std::exchange(separator, ',') + std::string(name) + "=" + std::to_string(count);
  };
  add("holds", tally.getHolds());
  add("commits", tally.getCommits());
  add("expiries", tally.getExpiries());
  add("releases", tally.getReleases());
  add("steals", tally.getSteals());
  add("cancellations", tally.getCancellations());
  return text;
}

// The answers that are lists of words.
std::vector<std::string> listed(wire::Response::Reader answer, const TimeBase& base) {
  std::vector<std::string> words;
  if (answer.isClaims()) {
    for (const auto claim : answer.getClaims().getClaims()) words.emplace_back(claim.getKey());
  } else if (answer.isHistory()) {
    for (const auto event : answer.getHistory().getEvents()) {
      std::string word = event.getType();
      if (event.hasKey()) word += ":" + std::string(event.getKey());
      words.push_back(std::move(word));
    }
  } else if (answer.isAvailability()) {
    for (const auto piece : answer.getAvailability().getPieces()) {
      words.push_back(piece_text(piece, base));
    }
  } else if (answer.isResources()) {
    for (const auto resource : answer.getResources().getResources()) {
      words.push_back(std::string(resource.getResource()) + ":" +
                      std::to_string(resource.getFree()));
    }
  } else if (answer.isTallies()) {
    for (const auto tally : answer.getTallies().getTallies()) {
      words.push_back(tally_text(tally, base));
    }
  }
  return words;
}

bool is_list(wire::Response::Reader answer) {
  return answer.isClaims() || answer.isHistory() || answer.isResources() || answer.isTallies() ||
         (answer.isAvailability() && answer.getAvailability().getFree() == wire::NONE);
}

std::string joined(const std::vector<std::string>& words) {
  if (words.empty()) return "none";
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::optional<std::string> list_mismatch(wire::Response::Reader answer,
                                         const std::vector<Word>& expected, const TimeBase& base) {
  std::vector<std::string> wanted;
  for (const Word& word : expected) {
    std::string text = word.name ? *word.name + "=" + word.value : word.value;
    if (answer.isAvailability() && text != "none") {
      const auto piece = canonical_piece(text, base);
      if (!piece) return "not a piece of free time: " + text;
      text = *piece;
    }
    wanted.push_back(std::move(text));
  }
  const std::string want = joined(wanted);
  const std::string got = joined(listed(answer, base));
  if (want == got) return std::nullopt;
  return "expected " + want + ", got " + got;
}

// The fields that an expectation names, each compared by value.
std::optional<std::string> fields_mismatch(capnp::DynamicStruct::Reader from,
                                           std::span<const Word> expected, const TimeBase& base) {
  for (const Word& word : expected) {
    if (!word.name) return "not a field: " + word.value;
    const auto equal = api::field_equals(from, *word.name, word.value, base);
    if (!equal) return equal.error().what;
    if (!*equal) {
      return "expected " + *word.name + "=" + word.value + ", got " + *word.name + "=" +
             api::field_text(from, *word.name, base).value_or("none");
    }
  }
  return std::nullopt;
}

std::optional<wire::Refusal::Reader> refusal_of(wire::Response::Reader answer) {
  if (answer.isRefused()) return answer.getRefused();
  if (answer.isOutcomes() && answer.getOutcomes().size() == 1 &&
      answer.getOutcomes()[0].isRefused()) {
    return answer.getOutcomes()[0].getRefused();
  }
  return std::nullopt;
}

std::optional<std::string> refusal_mismatch(wire::Refusal::Reader refusal,
                                            std::span<const Word> expected, const TimeBase& base) {
  const std::string got = reason_of(refusal);
  if (expected.empty() || expected.front().name) return "expected a reason behind refused";
  if (refusal.hasPositions()) {
    const auto words = static_cast<std::size_t>(
        std::find_if(expected.begin(), expected.end(), [](const Word& w) { return w.name; }) -
        expected.begin());
    std::string want;
    for (const Word& word : expected.first(words)) {
      want += " " + std::string(api::as_word(word.value));
    }
    const std::string all = api::as_word(positions_text(refusal));
    if (want != all) return "expected refused" + want + ", got refused" + all;
    return fields_mismatch(capnp::toDynamic(refusal), expected.subspan(words), base);
  }
  if (api::as_word(expected.front().value) != api::as_word(got)) {
    return "expected refused " + expected.front().value + ", got refused " + got;
  }
  return fields_mismatch(capnp::toDynamic(refusal), expected.subspan(1), base);
}

std::string fields_text(capnp::DynamicStruct::Reader from, const TimeBase& base);

std::string field_words(capnp::DynamicStruct::Reader from, const api::FieldText& field,
                        const TimeBase& base) {
  if (field.field.getType().isStruct()) {
    return fields_text(from.get(field.field).as<capnp::DynamicStruct>(), base);
  }
  const auto text = api::field_text(from, field.word, base);
  if (!text || *text == "none") return {};
  return " " + field.word + "=" + *text;
}

std::string fields_text(capnp::DynamicStruct::Reader from, const TimeBase& base) {
  std::string text;
  for (const api::FieldText& field : api::fields_of(from.getSchema())) {
    if (api::is_given(from, field)) text += field_words(from, field, base);
  }
  return text;
}

bool depends_on_sweep(std::string_view name) {
  static const std::set<std::string_view> kNames = {
      "version",     "position", "first_position",       "positions",
      "transaction", "current",  "previous_on_resource", "previous_of_claim",
      "size",        "root",     "transaction_count",    "previous_on_to"};
  return kNames.contains(name);
}

void strip(boost::json::value& value);

void strip(boost::json::object& object) {
  const auto* what = object.if_contains("what");
  if (what != nullptr && *what == "version") object.erase("actual");
  for (auto it = object.begin(); it != object.end();) {
    if (depends_on_sweep(it->key())) {
      it = object.erase(it);
    } else {
      strip(it->value());
      ++it;
    }
  }
}

bool is_expiry(const boost::json::value& value) {
  const boost::json::object* event = value.if_object();
  const boost::json::value* type = event == nullptr ? nullptr : event->if_contains("type");
  return type != nullptr && type->is_string() && type->get_string() == "expired";
}

void strip(boost::json::value& value) {
  if (boost::json::object* object = value.if_object()) return strip(*object);
  if (boost::json::array* array = value.if_array()) {
    array->erase(std::remove_if(array->begin(), array->end(), is_expiry), array->end());
    for (boost::json::value& item : *array) strip(item);
  }
}

}  // namespace

std::optional<std::string> mismatch(wire::Response::Reader answer,
                                    const std::vector<Word>& expected, const TimeBase& base) {
  const std::span<const Word> words(expected);
  const std::string_view first = words.front().name ? std::string_view{} : words.front().value;
  if (answer.isError()) return "error: " + std::string(answer.getError().getText());
  const auto refusal = refusal_of(answer);
  if (refusal) {
    if (first == "refused") return refusal_mismatch(*refusal, words.subspan(1), base);
    // A claim that nobody knows is an empty answer.
    if (first == "none" && refusal->getReason() == wire::Reason::UNKNOWN_CLAIM) return std::nullopt;
    return "expected " + std::string(first.empty() ? *words.front().name + "=" : first) + ", got " +
           as_text(answer, base);
  }
  if (first == "refused") return "expected a refusal, got " + as_text(answer, base);
  if (is_list(answer)) return list_mismatch(answer, expected, base);
  if (answer.isOutcomes()) {
    if (first != "ok") return "expected " + std::string(first) + ", got " + as_text(answer, base);
    return fields_mismatch(capnp::toDynamic(answer.getOutcomes()[0].getAccepted()),
                           words.subspan(1), base);
  }
  if (answer.isClaim()) return fields_mismatch(capnp::toDynamic(answer.getClaim()), words, base);
  if (answer.isAvailability()) {
    return fields_mismatch(capnp::toDynamic(answer.getAvailability()), words, base);
  }
  return "no expectation can be had of " + as_text(answer, base);
}

std::string as_text(wire::Response::Reader answer, const TimeBase& base) {
  if (answer.isError()) return "error: " + std::string(answer.getError().getText());
  if (const auto refusal = refusal_of(answer)) {
    const std::string reasons =
        refusal->hasPositions() ? positions_text(*refusal) : " " + reason_of(*refusal);
    return "refused" + reasons + fields_text(capnp::toDynamic(*refusal), base);
  }
  if (is_list(answer)) return joined(listed(answer, base));
  if (answer.isOutcomes()) {
    return "ok" + fields_text(capnp::toDynamic(answer.getOutcomes()[0].getAccepted()), base);
  }
  const std::string text = fields_text(capnp::toDynamic(answer), base);
  return text.empty() ? "none" : text.substr(1);
}

std::string without_sweep(wire::Response::Reader answer) {
  boost::json::value value = api::to_json(capnp::toDynamic(answer));
  strip(value);
  static const std::regex kMade("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}");
  return std::regex_replace(boost::json::serialize(value), kMade, "(made)");
}

}  // namespace holdfast::scenario
