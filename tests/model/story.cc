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

Attributes any_attributes(Choices& choices) {
  if (choices.chance(50)) return {};
  return {{AttributeName::trusted("station"), Note::trusted(choices.chance(50) ? "17" : "18")}};
}

Definition any_definition(Choices& choices) {
  static const std::vector<Duration> kTurnarounds = {{0}, {0}, kGrid, {2 * kGrid.ms}};
  static const std::vector<Duration> kLongest = {kMinute, {3 * kHour.ms}};
  return {.capacity = {1 + choices.below(4)},
          .turnaround = choices.any(kTurnarounds),
          .parts = choices.chance(30),
          .max_ttl = maybe(choices, 50, choices.any(kLongest)),
          .default_ttl = maybe(choices, 30, Duration{30 * kSecond.ms}),
          .holder_limit = maybe(choices, 30, Quantity{2 + choices.below(4)}),
          .extension_limit = maybe(choices, 60, choices.below(2)),
          .max_hold_time = maybe(choices, 20, choices.chance(50) ? kMinute : kGrid),
          .attributes = any_attributes(choices)};
}

DefinitionChange any_change(Choices& choices) {
  const Definition wanted = any_definition(choices);
  DefinitionChange change{.capacity = maybe(choices, 60, wanted.capacity),
                          .turnaround = maybe(choices, 30, wanted.turnaround),
                          .parts = maybe(choices, 30, wanted.parts),
                          .max_ttl = wanted.max_ttl,
                          .default_ttl = wanted.default_ttl,
                          .holder_limit = wanted.holder_limit,
                          .extension_limit = wanted.extension_limit,
                          .max_hold_time = wanted.max_hold_time,
                          .attributes = {}};
  for (const auto& [name, value] : wanted.attributes) {
    change.attributes.emplace(name, maybe(choices, 70, value));
  }
  return change;
}

// Few spans, so that those there are often go again; hours are long, or little would be open.
Action any_window(Choices& choices, const Path& path) {
  const WindowKind kind = choices.chance(60) ? WindowKind::hours : WindowKind::blocked;
  const bool long_one = kind == WindowKind::hours;
  const std::int64_t from = choices.below(long_one ? 3 : kCells);
  const std::int64_t length = long_one ? kCells - 3 + choices.below(3) : 1 + choices.below(2);
  const Span span{kT0 + Duration{from * kGrid.ms}, kT0 + Duration{(from + length) * kGrid.ms}};
  return ChangeWindow{path, {kind, choices.chance(45), span}};
}

Action any_resource_action(Choices& choices) {
  const Path path = choices.any(story_paths());
  switch (choices.below(14)) {
    case 0:
    case 1:
    case 2:
      return Define{path, choices.chance(30) ? Definition{} : any_definition(choices)};
    case 3:
    case 4:
      return Change{path, any_change(choices)};
    case 5:
      return Close{path};
    case 6:
    case 7:
      return Open{path};
    case 8:
    case 9:
      return Retire{path, choices.chance(40)};
    default:
      return any_window(choices, path);
  }
}

// Mostly of a claim that there is.
Key any_known_key(Choices& choices, const Known& known) {
  Key key = any_key(choices);
  for (int again = 0; again < 12 && !known(key); ++again) key = any_key(choices);
  return key;
}

Cart any_cart(Choices& choices) { return Cart::trusted(choices.chance(50) ? "cart-1" : "cart-2"); }

Hold any_hold(Choices& choices, Instant now, const Known& known) {
  const bool again = choices.chance(20);
  const Key key = again ? any_known_key(choices, known) : any_key(choices);
  if (const auto before = known(key); before && again) {
    // Said again, as it was or nearly.
    Hold same{.resource = before->resource,
              .key = key,
              .span = before->span,
              .quantity = before->original_quantity,
              .holder = before->holder,
              .cart = {},
              .label = {},
              .expiry = any_expiry(choices, now),
              .capacity = {}};
    if (before->original && choices.chance(70)) {
      same.resource = before->original->resource;
      same.span = before->original->span;
    }
    if (choices.chance(20)) same.quantity = {1 + choices.below(3)};
    if (choices.chance(10)) same.holder = any_holder(choices);
    return same;
  }
  return Hold{.resource = choices.any(story_paths()),
              .key = maybe(choices, 95, key),
              .span = maybe(choices, 90, any_span(choices)),
              .quantity = {choices.chance(60) ? 1 : 1 + choices.below(4)},
              .holder = maybe(choices, 95, any_holder(choices)),
              .cart = maybe(choices, 25, any_cart(choices)),
              .label = maybe(choices, 10, Note::trusted("label")),
              .expiry = any_expiry(choices, now),
              .capacity = maybe(choices, 20, Quantity{choices.below(5)}),
              .bound = choices.chance(15)};
}

Action any_hold_any(Choices& choices) {
  static const std::vector<Path> kAbove = {Path::trusted("a"), Path::trusted("a/b")};
  return HoldAny{.below = choices.any(kAbove),
                 .count = 1 + choices.below(3),
                 .key = maybe(choices, 90, Key::trusted("g" + std::to_string(choices.below(12)))),
                 .span = maybe(choices, 90, any_span(choices)),
                 .quantity = {choices.chance(70) ? 1 : 2},
                 .holder = maybe(choices, 95, any_holder(choices)),
                 .cart = maybe(choices, 40, any_cart(choices)),
                 .label = {},
                 .expiry = {maybe(choices, 70, kMinute), {}},
                 .bound = choices.chance(15)};
}

Action any_cart_action(Choices& choices, Instant now) {
  const Cart cart = any_cart(choices);
  const auto holder = maybe(choices, 20, any_holder(choices));
  switch (choices.below(4)) {
    case 0:
      return Release{cart, holder, {}, {}};
    case 1:
      return Commit{cart, holder, {}, {}, maybe(choices, 20, Note::trusted("booked"))};
    default:
      return Extend{cart, holder, {}, any_expiry(choices, now), choices.chance(20)};
  }
}

Check any_check(Choices& choices, const Known& known) {
  const Path path = choices.any(story_paths());
  const Key key = any_known_key(choices, known);
  const auto claim = known(key);
  Check check;
  if (choices.chance(40)) check.conditions.emplace_back(CheckOpen{path});
  if (choices.chance(20)) {
    check.conditions.emplace_back(
        CheckAttribute{path, AttributeName::trusted("station"), Note::trusted("17")});
  }
  if (choices.chance(40)) {
    check.conditions.emplace_back(
        CheckFree{path, choices.below(3), maybe(choices, 70, any_span(choices))});
  }
  if (choices.chance(20)) check.conditions.emplace_back(CheckLive{key});
  if (choices.chance(20)) {
    const bool right = claim && choices.chance(80);
    check.conditions.emplace_back(CheckVersion{key, right ? claim->version : Position{1}});
  }
  if (check.conditions.empty()) check.conditions.emplace_back(CheckOpen{path});
  return check;
}

Action any_end_all(Choices& choices, const Known& known) {
  const bool dry_run = choices.chance(50);
  const auto claim = known(any_known_key(choices, known));
  return EndAll{.below = choices.any(story_paths()),
                .limit = static_cast<std::size_t>(dry_run ? 1 + choices.below(4) : 1'000),
                .begun = claim ? maybe(choices, 40, claim->placed) : std::nullopt,
                .after = dry_run ? maybe(choices, 30, any_key(choices)) : std::nullopt,
                .dry_run = dry_run};
}

// What is said of one claim, by its key.
Action any_claim_action(Choices& choices, Instant now, const Known& known) {
  const Key key = any_known_key(choices, known);
  const auto claim = known(key);
  const auto holder = claim && choices.chance(90) ? maybe(choices, 85, claim->holder)
                                                  : std::optional(any_holder(choices));
  const auto version =
      claim ? maybe(choices, 20, choices.chance(75) ? claim->version : Position{1}) : std::nullopt;
  const auto quantity = maybe(choices, 35, Quantity{1 + choices.below(3)});
  const std::int64_t kind = choices.below(100);
  if (kind < 20) return Extend{key, holder, version, any_expiry(choices, now), choices.chance(30)};
  if (kind < 34) return Release{key, holder, version, quantity};
  if (kind < 56) {
    Commit commit{key, holder, version, quantity, maybe(choices, 10, Note::trusted("booked"))};
    commit.reacquire = maybe(choices, 35, any_key(choices));
    if (commit.reacquire) commit.capacity = maybe(choices, 15, Quantity{choices.below(4)});
    return commit;
  }
  if (kind < 66) return Cancel{key, holder, version, quantity};
  if (kind < 82) {
    return Move{key, holder, version, maybe(choices, 70, choices.any(story_paths())),
                maybe(choices, 70, any_span(choices))};
  }
  return Steal{.key = key,
               .from_holder = holder.value_or(any_holder(choices)),
               .new_key = maybe(choices, 95, any_key(choices)),
               .holder = maybe(choices, 80, any_holder(choices)),
               .version = version,
               .cart = maybe(choices, 10, any_cart(choices)),
               .label = {},
               .expiry = any_expiry(choices, now),
               .capacity = maybe(choices, 15, Quantity{choices.below(4)}),
               .force = choices.chance(30)};
}

Action any_single(Choices& choices, Instant now, const Known& known) {
  const std::int64_t kind = choices.below(100);
  if (kind < 34) return any_hold(choices, now, known);
  if (kind < 54) return any_resource_action(choices);
  if (kind < 59) return any_hold_any(choices);
  if (kind < 64) return any_cart_action(choices, now);
  if (kind < 67) return any_check(choices, known);
  if (kind < 69) return any_end_all(choices, known);
  return any_claim_action(choices, now, known);
}

Action any_transact(Choices& choices, Instant now, const Known& known, const Asker& asker) {
  Transact transact;
  for (std::int64_t steps = 1 + choices.below(5); steps > 0; --steps) {
    if (choices.chance(2)) {
      transact.steps.push_back({tl::unexpected(Refusal{.reason = Reason::bad_quantity})});
    } else if (choices.chance(15)) {
      transact.steps.push_back({Command{asker, any_check(choices, known), {}}});
    } else {
      transact.steps.push_back({Command{asker, any_single(choices, now, known), {}}});
    }
  }
  return transact;
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
                                           Path::trusted("a/b/c"), Path::trusted("a/d"),
                                           Path::trusted("e")};
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
  Asker asker{choices.any(kActors), {}, {}, {}, {}, {}, {}, 0};
  asker.reason = maybe(choices, 10, Note::trusted("reason"));
  asker.request_id =
      maybe(choices, 10, RequestId::trusted("request-" + std::to_string(choices.below(kDay.ms))));
  Action action = choices.chance(12) ? any_transact(choices, now, known, asker)
                                     : any_single(choices, now, known);
  return {std::move(asker), std::move(action), {}};
}

bool holds_for_stories(
    const std::string& name,
    const std::function<std::optional<std::string>(const std::vector<std::uint64_t>&)>& property) {
  const char* wanted = std::getenv("HOLDFAST_STORIES");
  const std::string parameters = std::string("max_success=") + (wanted ? wanted : "200");
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
