#include <map>

#include "tests/ledger/domain/text.h"
#include "tests/model/story.h"

// Commands as lines, to be read by who looks for what went wrong.
namespace holdfast::testing {

namespace {

template <class T>
std::string word(const char* name, const std::optional<T>& text) {
  return text ? std::string(" ") + name + "=" + text->str() : "";
}
std::string word(const char* name, const std::optional<Quantity>& quantity) {
  return quantity ? std::string(" ") + name + "=" + std::to_string(quantity->units) : "";
}
std::string word(const char* name, const std::optional<Duration>& length) {
  return length ? std::string(" ") + name + "=" + std::to_string(length->ms) + "ms" : "";
}
std::string word(const char* name, const std::optional<Instant>& at) {
  return word(name, at ? std::optional(*at - kT0) : std::nullopt);
}
std::string words(const std::optional<Span>& span) {
  return span ? word("from", std::optional(span->from)) + word("until", std::optional(span->until))
              : "";
}
std::string words(const Expiry& expiry) {
  return word("ttl", expiry.ttl) + word("expires", expiry.expires_at);
}
std::string word(const char* name, const std::optional<Position>& position) {
  return position ? std::string(" ") + name + "=" + std::to_string(position->value) : "";
}

std::string word(const char* name, const std::optional<std::int64_t>& number) {
  return number ? std::string(" ") + name + "=" + std::to_string(*number) : "";
}
std::string words(const KeyOrCart& which) {
  const auto* key = std::get_if<Key>(&which);
  return key != nullptr ? " " + key->str() : " cart=" + std::get<Cart>(which).str();
}
std::string words(const Attributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) {
    text += " attr." + name.str() + "=" + value.str();
  }
  return text;
}
std::string words(const std::map<AttributeName, std::optional<Note>>& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) {
    text += " attr." + name.str() + "=" + (value ? value->str() : "");
  }
  return text;
}
template <class Fields>
std::string settings(const Fields& of) {
  return word("max_ttl", of.max_ttl) + word("default_ttl", of.default_ttl) +
         word("holder_limit", of.holder_limit) + word("extension_limit", of.extension_limit) +
         word("max_hold_time", of.max_hold_time);
}

std::string line(const Define& a) {
  const Definition& d = a.definition;
  return "define " + a.resource.str() + word("capacity", std::optional(d.capacity)) +
         word("turnaround", std::optional(d.turnaround)) + (d.parts ? " parts=true" : "") +
         settings(d) + words(d.attributes);
}
std::string line(const Change& a) {
  const DefinitionChange& c = a.change;
  const auto parts =
      c.parts ? std::optional(Path::trusted(*c.parts ? "true" : "false")) : std::nullopt;
  return "change " + a.resource.str() + word("capacity", c.capacity) +
         word("turnaround", c.turnaround) + word("parts", parts) + settings(c) +
         words(c.attributes);
}
std::string line(const Close& a) { return "close " + a.resource.str(); }
std::string line(const Open& a) { return "open " + a.resource.str(); }
std::string line(const Retire& a) {
  return "retire " + a.resource.str() + (a.force ? " force=true" : "");
}
std::string line(const Hold& a) {
  return "hold " + a.resource.str() + word("key", a.key) + words(a.span) +
         word("quantity", std::optional(a.quantity)) + word("holder", a.holder) +
         word("cart", a.cart) + word("label", a.label) + words(a.expiry) +
         word("capacity", a.capacity) + (a.bound ? " bound=true" : "");
}
std::string line(const Extend& a) {
  return "extend" + words(a.which) + word("holder", a.holder) + word("version", a.version) +
         words(a.expiry) + (a.shorten ? " shorten=true" : "");
}
std::string line(const Release& a) {
  return "release" + words(a.which) + word("holder", a.holder) + word("version", a.version) +
         word("quantity", a.quantity);
}
std::string line(const Commit& a) {
  return "commit" + words(a.which) + word("holder", a.holder) + word("version", a.version) +
         word("quantity", a.quantity) + word("label", a.label) + word("reacquire", a.reacquire) +
         word("capacity", a.capacity);
}
std::string line(const Cancel& a) {
  return "cancel " + a.key.str() + word("holder", a.holder) + word("version", a.version) +
         word("quantity", a.quantity);
}
std::string line(const Steal& a) {
  return "steal " + a.key.str() + " from-holder=" + a.from_holder.str() + word("key", a.new_key) +
         word("holder", a.holder) + word("version", a.version) + words(a.expiry) +
         word("cart", a.cart) + word("capacity", a.capacity) + (a.force ? " force=true" : "");
}
std::string line(const ChangeWindow& a) {
  const bool hours = a.change.kind == WindowKind::hours;
  return std::string(a.change.add ? "" : "un") + (hours ? "hours " : "block ") + a.resource.str() +
         words(std::optional(a.change.span));
}
std::string line(const HoldAny& a) {
  return "hold-any " + a.below.str() + word("n", std::optional(a.count)) + word("key", a.key) +
         words(a.span) + word("quantity", std::optional(a.quantity)) + word("holder", a.holder) +
         word("cart", a.cart) + words(a.expiry) + (a.bound ? " bound=true" : "");
}
std::string line(const Move& a) {
  return "move " + a.key.str() + word("holder", a.holder) + word("version", a.version) +
         word("to", a.to) + words(a.span);
}
std::string line(const EndAll& a) {
  return "end-all " + a.below.str() + " limit=" + std::to_string(a.limit) + word("begun", a.begun) +
         word("after", a.after) + (a.dry_run ? " dry_run=true" : "");
}

std::string words(const CheckOpen& c) { return " " + c.resource.str() + " open"; }
std::string words(const CheckAttribute& c) {
  return " " + c.resource.str() + " attr." + c.name.str() + "=" + c.value.str();
}
std::string words(const CheckFree& c) {
  return " " + c.resource.str() + " free=" + std::to_string(c.at_least) + words(c.span);
}
std::string words(const CheckLive& c) { return " key=" + c.key.str() + " live"; }
std::string words(const CheckVersion& c) {
  return " key=" + c.key.str() + word("version", std::optional(c.version));
}
std::string line(const Check& a) {
  std::string text = "check";
  for (const Check::Condition& condition : a.conditions) {
    text += std::visit([](const auto& c) { return words(c); }, condition);
  }
  return text;
}
std::string line(const Transact& a) {
  std::string text = "transact";
  for (const Step& step : a.steps) {
    text += "\n  " + (step.command ? text_of(*step.command) : "of bad form");
  }
  return text + "\nend";
}

}  // namespace

std::string text_of(const Command& command) {
  const Asker& asker = command.asker;
  return std::visit([](const auto& action) { return line(action); }, command.action) +
         " actor=" + asker.actor.str() + word("reason", asker.reason) +
         word("request", asker.request_id);
}

}  // namespace holdfast::testing
