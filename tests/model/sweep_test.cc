#include <gtest/gtest.h>

#include <array>
#include <map>

#include "ledger/domain/availability.h"
#include "tests/ledger/domain/world.h"
#include "tests/model/story.h"
#include "tests/model/told.h"

// What a client is told never depends on how far the sweep has come.
namespace holdfast::testing {
namespace {

Claim without_positions(Claim claim) {
  claim.version = claim.last_event = claim.placed = {};
  return claim;
}

Refusal without_positions(Refusal refusal) {
  refusal.current.reset();
  if (refusal.what == "version") refusal.actual.clear();
  if (refusal.claim) refusal.claim = without_positions(*refusal.claim);
  for (Claim& blocker : refusal.blockers) blocker = without_positions(blocker);
  for (Refusal& one : refusal.refused) one = without_positions(one);
  return refusal;
}

// What has changed has a position of 1 and a count of 1.
Accepted without_positions(Accepted accepted) {
  if (accepted.count != 0) accepted.first = {accepted.count = 1};
  if (accepted.claim) accepted.claim = without_positions(*accepted.claim);
  if (accepted.begun) accepted.begun = Position{};
  for (Accepted& part : accepted.parts) part = without_positions(part);
  return accepted;
}

// The answer but for what may differ: positions.
std::string told_without_positions(Outcome outcome) {
  if (outcome.refusal) outcome.refusal = without_positions(*outcome.refusal);
  outcome.accepted = without_positions(outcome.accepted);
  return told(outcome);
}

std::vector<std::string> visible(const World& world) {
  std::vector<std::string> lines;
  for (const Event& event : world.log) {
    if (std::holds_alternative<Expired>(event.happening)) continue;
    Event shown = event;
    shown.position = shown.transaction = {};
    shown.transaction_count = 0;
    shown.previous_on_resource = shown.previous_of_claim = {};
    if (auto* moved = std::get_if<Moved>(&shown.happening)) moved->previous_on_to = {};
    lines.push_back(text_of(shown));
  }
  return lines;
}

// Worlds in which the same is said, and only the sweep is another.
class Worlds {
 public:
  explicit Worlds(Policy policy) {
    for (World& world : worlds_) world.policy = policy;
  }

  std::optional<std::string> step(std::uint64_t number) {
    std::array<std::string, 3> answers;
    for (std::size_t i = 0; i < worlds_.size(); ++i) {
      World& world = worlds_[i];
      Choices choices(number);
      const auto known = [&](const Key& key) {
        world.state.advance(world.now);
        return world.state.claim(key.view());
      };
      std::vector<Claim> claims;
      for (std::int64_t k = 0; k < 60; ++k) {
        if (auto claim = known(Key::trusted("k" + std::to_string(k)))) claims.push_back(*claim);
      }
      world.now = any_later(choices, world.now, claims);
      const auto limit = static_cast<std::size_t>(choices.below(3));
      if (i == 1) world.sweep(1'000'000);
      if (i == 2) world.sweep(limit);
      const Command command = any_command(choices, world.now, known);
      if (i == 0) story_ += "at " + text_of(world.now) + "\n" + text_of(command) + "\n";
      answers[i] = told_without_positions(world.run(command)) + "\n";
      for (const Path& path : story_paths()) {
        answers[i] += " " + std::to_string(free_now(world, path));
      }
    }
    for (const std::string& answer : answers) {
      if (answer != answers[0]) return story_ + "off: " + answers[0] + "\non:  " + answer;
    }
    return std::nullopt;
  }

  // In the end each hold that lapsed has one end, and all else happened alike.
  std::optional<std::string> end() {
    for (World& world : worlds_) world.sweep(1'000'000);
    const std::vector<std::string> expected = visible(worlds_[0]);
    for (World& world : worlds_) {
      if (visible(world) != expected) return story_ + "other events";
      std::map<std::string, int> expired;
      for (const Event& event : world.log) {
        if (std::holds_alternative<Expired>(event.happening) && ++expired[event.key->str()] > 1) {
          return story_ + "two ends: " + text_of(event);
        }
      }
      if (world.state.lapsed_claims() != 0) return story_ + "a lapsed hold without end";
    }
    return std::nullopt;
  }

 private:
  static std::int64_t free_now(const World& world, const Path& path) {
    return free_at(world.state, path, world.now, world.policy);
  }

  std::array<World, 3> worlds_;  // sweep off, on, and on but slow
  std::string story_ = "story:\n";
};

std::optional<std::string> tell_of_sweeps(const std::vector<std::uint64_t>& steps) {
  Choices choices(steps.empty() ? 0 : steps.front());
  Worlds worlds(any_policy(choices));
  for (const std::uint64_t number : steps) {
    if (auto broken = worlds.step(number)) return broken;
  }
  return worlds.end();
}

TEST(Sweep, TellsNobody) {
  EXPECT_TRUE(
      holds_for_stories("the same answers with the sweep off, on and slow", tell_of_sweeps));
}

}  // namespace
}  // namespace holdfast::testing
