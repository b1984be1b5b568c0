#include "tests/model/story.h"

#include <rapidcheck.h>

#include <cstdlib>

#include "tests/ledger/domain/text.h"

namespace holdfast::testing {

namespace {

Key any_key(Choices& choices) { return Key::trusted("k" + std::to_string(choices.below(60))); }

Holder any_holder(Choices& choices) {
  static const std::vector<Holder> kHolders = {Holder::trusted("ann"), Holder::trusted("bob"),
                                               Holder::trusted("cid")};
  return choices.any(kHolders);
}

template <class T>
std::optional<T> maybe(Choices& choices, int percent, T value) {
  return choices.chance(percent) ? std::optional(std::move(value)) : std::nullopt;
}

Expiry any_expiry(Choices& choices, Instant now) {
  static const std::vector<Duration> kLengths = {
      {1}, kSecond, {10 * kSecond.ms}, kMinute, {5 * kMinute.ms}, kGrid, {2 * kHour.ms}};
  if (choices.chance(20)) return {};
  const Duration length = choices.any(kLengths);
  if (choices.chance(70)) return {length, {}};
  if (choices.chance(20)) return {{}, now + Duration{choices.below(3) - 1}};
  return {{}, choices.chance(15) ? now - length : now + length};
}

Definition any_definition(Choices& choices) {
  static const std::vector<Duration> kTurnarounds = {{0}, {0}, kGrid, {2 * kGrid.ms}};
  static const std::vector<Duration> kLongest = {kMinute, {3 * kHour.ms}};
  return {{1 + choices.below(4)},
          choices.any(kTurnarounds),
          maybe(choices, 50, choices.any(kLongest)),
          maybe(choices, 30, Duration{30 * kSecond.ms})};
}

Action any_resource_action(Choices& choices) {
  const Path path = choices.any(story_paths());
  const Definition wanted = any_definition(choices);
  switch (choices.below(10)) {
    case 0:
    case 1:
    case 2:
      return Define{path, choices.chance(30) ? Definition{} : wanted};
    case 3:
    case 4:
      return Change{path,
                    {maybe(choices, 60, wanted.capacity), maybe(choices, 30, wanted.turnaround),
                     wanted.max_ttl, wanted.default_ttl}};
    case 5:
      return Close{path};
    case 6:
    case 7:
      return Open{path};
    default:
      return Retire{path, choices.chance(40)};
  }
}

// Mostly of a claim that there is.
Key any_known_key(Choices& choices, const Known& known) {
  Key key = any_key(choices);
  for (int again = 0; again < 5 && !known(key); ++again) key = any_key(choices);
  return key;
}

Hold any_hold(Choices& choices, Instant now, const Known& known) {
  const bool again = choices.chance(20);
  const Key key = again ? any_known_key(choices, known) : any_key(choices);
  if (const auto before = known(key); before && again) {
    // Said again, as it was or nearly.
    Hold same{before->resource,
              key,
              before->span,
              before->original_quantity,
              before->holder,
              {},
              {},
              any_expiry(choices, now),
              {}};
    if (choices.chance(20)) same.quantity = {1 + choices.below(3)};
    if (choices.chance(10)) same.holder = any_holder(choices);
    return same;
  }
  return Hold{choices.any(story_paths()),
              maybe(choices, 95, key),
              maybe(choices, 90, any_span(choices)),
              {choices.chance(60) ? 1 : 1 + choices.below(4)},
              maybe(choices, 95, any_holder(choices)),
              maybe(choices, 10, Cart::trusted("cart")),
              maybe(choices, 10, Note::trusted("label")),
              any_expiry(choices, now),
              maybe(choices, 25, Quantity{choices.below(5)})};
}

Action any_action(Choices& choices, Instant now, const Known& known) {
  const std::int64_t kind = choices.below(100);
  if (kind < 36) return any_hold(choices, now, known);
  if (kind < 50) return any_resource_action(choices);
  const Key key = any_known_key(choices, known);
  const auto claim = known(key);
  const auto holder = claim && choices.chance(90) ? maybe(choices, 85, claim->holder)
                                                  : std::optional(any_holder(choices));
  const auto version =
      claim ? maybe(choices, 20, choices.chance(75) ? claim->version : Position{1}) : std::nullopt;
  const auto quantity = maybe(choices, 35, Quantity{1 + choices.below(3)});
  if (kind < 60) return Extend{key, holder, version, any_expiry(choices, now), choices.chance(30)};
  if (kind < 68) return Release{key, holder, version, quantity};
  if (kind < 80) {
    return Commit{key, holder, version, quantity, maybe(choices, 10, Note::trusted("booked"))};
  }
  if (kind < 87) return Cancel{key, holder, version, quantity};
  return Steal{key,
               holder.value_or(any_holder(choices)),
               maybe(choices, 95, any_key(choices)),
               maybe(choices, 80, any_holder(choices)),
               version,
               {},
               {},
               any_expiry(choices, now),
               maybe(choices, 15, Quantity{choices.below(4)})};
}

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

std::string line(const Define& a) {
  return "define " + a.resource.str() + " " + text_of(a.definition);
}
std::string line(const Change& a) {
  return "change " + a.resource.str() + word("capacity", a.change.capacity) +
         word("turnaround", a.change.turnaround) + word("max_ttl", a.change.max_ttl) +
         word("default_ttl", a.change.default_ttl);
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
         word("capacity", a.capacity);
}
std::string line(const Extend& a) {
  return "extend " + a.key.str() + word("holder", a.holder) + word("version", a.version) +
         words(a.expiry) + (a.shorten ? " shorten=true" : "");
}
std::string line(const Release& a) {
  return "release " + a.key.str() + word("holder", a.holder) + word("version", a.version) +
         word("quantity", a.quantity);
}
std::string line(const Commit& a) {
  return "commit " + a.key.str() + word("holder", a.holder) + word("version", a.version) +
         word("quantity", a.quantity) + word("label", a.label);
}
std::string line(const Cancel& a) {
  return "cancel " + a.key.str() + word("holder", a.holder) + word("version", a.version) +
         word("quantity", a.quantity);
}
std::string line(const Steal& a) {
  return "steal " + a.key.str() + " from-holder=" + a.from_holder.str() + word("key", a.new_key) +
         word("holder", a.holder) + word("version", a.version) + words(a.expiry) +
         word("capacity", a.capacity);
}

}  // namespace

std::int64_t Choices::below(std::int64_t n) {
  // SplitMix64 (Steele, Lea, Flood 2014).
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::int64_t>((z ^ (z >> 31)) % static_cast<std::uint64_t>(n));
}

const std::vector<Path>& story_paths() {
  static const std::vector<Path> kPaths = {Path::trusted("a"), Path::trusted("a/b"),
                                           Path::trusted("a/b/c"), Path::trusted("d")};
  return kPaths;
}

Policy any_policy(Choices& choices) {
  return {choices.chance(50) ? kHour : Duration{20 * kMinute.ms},
          choices.chance(50) ? kMinute : kGrid, choices.chance(10)};
}

Span any_span(Choices& choices) {
  const std::int64_t from = choices.below(kCells);
  const std::int64_t length = 1 + choices.below(kCells - from);
  return {kT0 + Duration{from * kGrid.ms}, kT0 + Duration{(from + length) * kGrid.ms}};
}

Instant any_later(Choices& choices, Instant now, const std::vector<Claim>& claims) {
  static const std::vector<Duration> kSteps = {
      {0}, {0}, {0}, {1}, kSecond, kSecond, {10 * kSecond.ms}, kMinute, kGrid};
  if (choices.chance(80) || claims.empty()) return now + choices.any(kSteps);
  const Instant due = choices.any(claims).expires_at;
  const Instant at = choices.chance(40) ? due - Duration{1} : due;
  return at < now ? now : at;
}

Command any_command(Choices& choices, Instant now, const Known& known) {
  static const std::vector<Actor> kActors = {Actor::trusted("app"), Actor::trusted("ann")};
  Command command{
      {choices.any(kActors), false, {}, {}, {}, {}, {}}, any_action(choices, now, known), {}};
  command.asker.reason = maybe(choices, 10, Note::trusted("reason"));
  command.asker.request_id = maybe(choices, 10, RequestId::trusted("request"));
  return command;
}

std::string text_of(const Command& command) {
  const Asker& asker = command.asker;
  return std::visit([](const auto& action) { return line(action); }, command.action) +
         " actor=" + asker.actor.str() + word("reason", asker.reason) +
         word("request", asker.request_id);
}

bool holds_for_stories(
    const std::string& name,
    const std::function<std::optional<std::string>(const std::vector<std::uint64_t>&)>& property) {
  const char* wanted = std::getenv("HOLDFAST_STORIES");
  const std::string parameters = std::string("max_success=") + (wanted ? wanted : "300");
  setenv("RC_PARAMS", parameters.c_str(), 0);  // what is set already counts: seed=... reproduces
  const auto number =
      rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
  const auto steps = rc::gen::resize(200, rc::gen::container<std::vector<std::uint64_t>>(number));
  return rc::check(name, [&] {
    const auto broken = property(*steps);
    if (broken) RC_FAIL(*broken);
  });
}

}  // namespace holdfast::testing
