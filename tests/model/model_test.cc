#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "tests/model/aftermath.h"
#include "tests/model/oracle.h"
#include "tests/model/story.h"
#include "tests/model/told.h"

// The ledger's core against the oracle, step by step: the same answers, the same events, the same
// claims, the same availability.
namespace holdfast::testing {
namespace {

class Comparison {
 public:
  explicit Comparison(Policy policy) : oracle_(policy) { world_.policy = policy; }

  // How often each answer was given, over all stories.
  static std::map<std::string, int>& answers() {
    static std::map<std::string, int> counts;
    return counts;
  }

  // What differs after the step; none: nothing.
  std::optional<std::string> step(std::uint64_t number) {
    Choices choices(number);
    world_.lapsed_at_once = static_cast<std::size_t>(choices.below(3));
    world_.now = any_later(choices, world_.now, oracle_.claims(world_.now));
    story_ += "at " + std::to_string((world_.now - kT0).ms) + "ms\n";
    if (choices.chance(10)) {
      sweep(static_cast<std::size_t>(choices.below(5)));
    } else if (choices.chance(2)) {
      disconnect();
    } else {
      Command command = any_command(
          choices, world_.now, [this](const Key& key) { return oracle_.claim(key, world_.now); });
      auto* end = std::get_if<EndAll>(&command.action);
      if (end != nullptr && !end->dry_run && choices.chance(50)) {
        end_in_steps(command, 1 + static_cast<std::size_t>(choices.below(3)));
      } else {
        run(command);
      }
    }
    compare_claims();
    compare_paths();
    compare_availability(choices);
    if (!differs_ && choices.chance(5)) moments_.push_back({oracle_, world_.now});
    if (!differs_) return std::nullopt;
    return story_ + *differs_;
  }

  // At the end of a story: what its events leave behind on a disk, in rows and in states.
  std::optional<std::string> end() {
    try {
      if (auto broken = aftermath(world_, oracle_, moments_)) return story_ + *broken;
      return std::nullopt;
    } catch (const std::runtime_error& fault) {
      return story_ + fault.what();
    }
  }

 private:
  void expect_same(const std::string& what, const std::string& got, const std::string& expected) {
    if (got != expected && !differs_) {
      differs_ = what + "\n  got:      " + got + "\n  expected: " + expected;
    }
  }

  void expect_same(const std::vector<Event>& got, const std::vector<Event>& expected) {
    expect_same("events", text_of(got), text_of(expected));
    if (got != expected && !differs_) differs_ = "events differ in what has no text";
  }

  Accepted run(const Command& command) {
    story_ += text_of(command) + "\n";
    const Outcome got = world_.run(command);
    // As World makes them up.
    const std::string prefix = "fresh-" + std::to_string(++commands_);
    std::vector<Key> fresh{Key::trusted(prefix)};
    while (fresh.size() < fresh_keys_needed(command.action)) {
      fresh.push_back(Key::trusted(prefix + "-" + std::to_string(fresh.size() + 1)));
    }
    std::vector<Key> named;
    for (const Accepted& part : got.accepted.parts) {
      if (part.claim) named.push_back(part.claim->key);
    }
    const Outcome expected = oracle_.run(command, world_.now, std::move(fresh), std::move(named));
    const std::string text = told(got);
    expect_same("answer", text, told(expected));
    count(got);
    expect_same(got.events, expected.events);
    return got.accepted;
  }

  static void count(const Outcome& got) {
    if (!got.refusal) {
      const Accepted& accepted = got.accepted;
      ++answers()[accepted.replayed ? "replayed" : accepted.changed() ? "ok" : "unchanged"];
      return;
    }
    ++answers()[std::string(reason_name(got.refusal->reason))];
    for (const Refusal& one : got.refusal->refused) {
      ++answers()["in a transaction: " + std::string(reason_name(one.reason))];
    }
  }

  // A few at a time, until nothing is left.
  void end_in_steps(Command command, std::size_t limit) {
    EndAll& end = std::get<EndAll>(command.action);
    end.limit = limit;
    command.asker.request_id.reset();  // each step says something else
    do {
      end.begun = run(command).begun;
    } while (end.begun && !differs_);
  }

  void disconnect() {
    story_ += "disconnect\n";
    const std::vector<Event> expected = oracle_.disconnect(world_.now);
    expect_same(world_.disconnect(), expected);
  }

  void sweep(std::size_t limit) {
    story_ += "sweep " + std::to_string(limit) + "\n";
    const std::vector<Event> expected = oracle_.sweep(world_.now, limit);
    expect_same(world_.sweep(limit), expected);
  }

  void compare_claims() {
    std::size_t live = 0;
    for (const Claim& claim : oracle_.claims(world_.now)) {
      expect_same("claim", world_.show(claim.key.view()), text_of(claim));
      if (world_.state.claim(claim.key.view()) != claim && !differs_) {
        differs_ = "what has no text differs in claim " + claim.key.str();
      }
      if (!is_ended(claim.state)) ++live;
    }
    expect_same("live", std::to_string(world_.state.live_claims()), std::to_string(live));
  }

  void compare_paths() {
    expect_same("head", std::to_string(world_.state.head().value),
                std::to_string(oracle_.head().value));
    for (const Path& path : story_paths()) {
      const Resource* defined = world_.state.definition(path.view());
      const std::optional<Resource> expected = oracle_.resource(path);
      if ((defined == nullptr) != !expected || (expected && *defined != *expected)) {
        expect_same("definition of " + path.str(), "another", "the oracle's");
      }
      expect_same("last event on " + path.str(),
                  std::to_string(world_.state.last_event(path.view()).value),
                  std::to_string(oracle_.last_event(path).value));
    }
  }

  static std::string text_of_pieces(const std::vector<FreePiece>& pieces) {
    std::string text;
    for (const FreePiece& piece : pieces) {
      text += text_of(std::optional(piece.span)) + ":" + std::to_string(piece.free) + " ";
    }
    return text;
  }

  void compare_availability(Choices& choices) {
    const Path path = choices.any(story_paths());
    const Quantity quantity{1 + choices.below(2)};
    const Span window{kT0, kT0 + Duration{(kCells + 4) * kGrid.ms}};
    const std::vector<FreePiece> pieces =
        availability(world_.state, {path, window, quantity, {}}, world_.policy);
    expect_same("availability of " + path.str(), text_of_pieces(pieces),
                text_of_pieces(oracle_.availability(path, window, kGrid, quantity, world_.now)));
    // Listed exactly when a hold of it would be accepted.
    const Span span = any_span(choices);
    std::int64_t listed = 0;
    for (const FreePiece& piece : pieces) {
      const std::int64_t from = std::max(piece.span.from, span.from).ms;
      listed += std::max<std::int64_t>(0, std::min(piece.span.until, span.until).ms - from);
    }
    const Hold hold{.resource = path,
                    .key = Key::trusted("probe"),
                    .span = span,
                    .quantity = quantity,
                    .holder = Holder::trusted("probe"),
                    .cart = {},
                    .label = {},
                    .expiry = {},
                    .capacity = {}};
    const Command command{{Actor::trusted("app"), {}, {}, {}, {}, {}, {}, 0}, hold, {}};
    const bool accepted = world_.would_accept(command);
    expect_same("accepted as listed: " + text_of(command), accepted ? "yes" : "no",
                listed == (span.until - span.from).ms ? "yes" : "no");
  }

  World world_;
  Oracle oracle_;
  std::vector<Moment> moments_;
  int commands_ = 0;
  std::string story_ = "story:\n";
  std::optional<std::string> differs_;
};

std::optional<std::string> tell(const std::vector<std::uint64_t>& steps) {
  Choices choices(steps.empty() ? 0 : steps.front());
  Comparison comparison(any_policy(choices));
  for (const std::uint64_t number : steps) {
    if (auto broken = comparison.step(number)) return broken;
  }
  return comparison.end();
}

TEST(Model, TheCoreIsTheOracle) {
  EXPECT_TRUE(holds_for_stories("judge, sweep and availability say what the oracle says", tell));
  // Stories that never come to a refusal show nothing about it.
  for (const auto& [answer, count] : Comparison::answers()) {
    std::cout << "  " << answer << " " << count << "\n";
  }
  for (const char* answer : {"ok",           "replayed",          "unchanged",
                             "key_reused",   "unknown_resource",  "unknown_claim",
                             "not_holder",   "already_defined",   "in_use",
                             "terminal",     "already_committed", "not_committed",
                             "expired",      "not_expired",       "stale_version",
                             "bad_quantity", "bad_ttl",           "capacity_mismatch",
                             "closed",       "conflict",          "holder_limit",
                             "blocked",      "outside_hours",     "extension_limit",
                             "check_failed"}) {
    EXPECT_GT(Comparison::answers()[answer], 0) << answer;
  }
}

}  // namespace
}  // namespace holdfast::testing
