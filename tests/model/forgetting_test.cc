#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/ledger/domain/world.h"
#include "tests/model/story.h"
#include "tests/model/told.h"

// A state that forgets what the projections have, and is recalled what a command needs, decides as
// one that never forgets; so does one restored from rows and the tail of the log.
namespace holdfast::testing {
namespace {

class Pair {
 public:
  explicit Pair(Policy policy) { whole_.policy = forgetful_.policy = policy; }

  std::optional<std::string> step(std::uint64_t number) {
    Choices choices(number);
    const auto known = [this](const Key& key) {
      whole_.state.advance(whole_.now);
      return whole_.state.claim(key.view());
    };
    std::vector<Claim> claims;
    for (std::int64_t k = 0; k < 60; ++k) {
      if (auto claim = known(Key::trusted("k" + std::to_string(k)))) claims.push_back(*claim);
    }
    whole_.now = forgetful_.now = any_later(choices, whole_.now, claims);
    story_ += "at " + text_of(whole_.now) + "\n";
    if (choices.chance(10)) {
      sweep(static_cast<std::size_t>(choices.below(4)));
    } else {
      run(any_command(choices, whole_.now, known));
    }
    if (choices.chance(5)) restart(choices);
    project(choices);
    expect_same("live", std::to_string(forgetful_.state.live_claims()),
                std::to_string(whole_.state.live_claims()));
    return differs_ ? std::optional(story_ + *differs_) : std::nullopt;
  }

  // When nothing stands and all is projected, nothing but definitions is kept.
  std::optional<std::string> end() {
    whole_.now = whole_.now + kDay;
    forgetful_.now = whole_.now;
    sweep(1'000'000);
    std::set<Key> keys;
    for (const Event& event : whole_.log) {
      if (event.key) keys.insert(*event.key);
    }
    for (const Key& key : keys) {
      if (whole_.state.claim(key.view())->state != ClaimState::committed) continue;
      run({{Actor::trusted("app"), {}, {}, {}, {}, {}, {}, 0}, Cancel{key, {}, {}, {}}, {}});
    }
    // Claims, then their paths, then the paths above.
    for (int round = 0; round < 6; ++round)
      forgetful_.state.forget_through(forgetful_.state.head());
    for (const Key& key : keys) {
      if (forgetful_.state.find(key.view()) != nullptr) differs_ = "not forgotten: " + key.str();
    }
    for (const char* path : {"a/b/c", "d"}) {
      const bool needed = whole_.state.definition(path) || whole_.state.is_retired(path);
      if (!needed && forgetful_.state.resource(path) != nullptr) {
        differs_ = std::string("not forgotten: ") + path;
      }
    }
    return differs_ ? std::optional(story_ + *differs_) : std::nullopt;
  }

 private:
  void expect_same(const std::string& what, const std::string& got, const std::string& expected) {
    if (got != expected && !differs_) {
      differs_ = what + "\n  got:      " + got + "\n  expected: " + expected;
    }
  }

  // The projections, which know what the whole state knew at `projected_`.
  void recall_key(const std::optional<Key>& key) {
    if (!key || forgetful_.state.find(key->view()) != nullptr) return;
    const auto claim = whole_.state.claim(key->view());
    if (!claim) return;
    if (!is_ended(claim->state) || claim->last_event > projected_) {
      differs_ = "forgotten too early: " + text_of(*claim);
      return;
    }
    forgetful_.state.recall(*claim);
    recall_path(claim->resource);
  }

  void recall_path(const Path& path) {
    if (forgetful_.state.knows_last_event(path.view())) return;
    const Position last = whole_.state.last_event(path.view());
    if (last > projected_) differs_ = "forgotten too early: " + path.str();
    forgetful_.state.recall_last_event(path, last);
  }

  void recall_path_of(const Key& key) {
    if (const auto claim = forgetful_.state.claim(key.view())) recall_path(claim->resource);
  }

  template <class Action>
  void recall_for(const Action& action) {
    if constexpr (requires { action.key; }) recall_claim(action.key);
    if constexpr (requires { action.which; }) {
      if (const auto* key = std::get_if<Key>(&action.which)) recall_claim(*key);
    }
    if constexpr (requires { action.new_key; }) recall_key(action.new_key);
    if constexpr (requires { action.reacquire; }) recall_key(action.reacquire);
    if constexpr (requires { action.resource; }) recall_path(action.resource);
    if constexpr (requires { action.to; }) {
      if (action.to) recall_path(*action.to);
    }
  }
  void recall_for(const HoldAny& any) {
    if (!any.key) return;
    for (std::int64_t i = 1; i <= any.count + 1; ++i) {
      recall_claim(Key::trusted(any.key->str() + "/" + std::to_string(i)));
    }
  }
  void recall_for(const Check& check) {
    for (const Check::Condition& condition : check.conditions) {
      if (const auto* live = std::get_if<CheckLive>(&condition)) recall_claim(live->key);
      if (const auto* version = std::get_if<CheckVersion>(&condition)) recall_claim(version->key);
    }
  }
  void recall_for(const Transact& transact) {
    for (const Step& step : transact.steps) {
      if (step.command) recall_for_any(step.command->action);
    }
  }
  void recall_for_any(const Action& action) {
    std::visit([this](const auto& one) { recall_for(one); }, action);
  }
  void recall_claim(const std::optional<Key>& key) {
    recall_key(key);
    if (key) recall_path_of(*key);
  }

  void run(const Command& command) {
    story_ += text_of(command) + "\n";
    recall_for_any(command.action);
    const Outcome expected = whole_.run(command);
    const Outcome got = forgetful_.run(command);
    expect_same("answer", told(got), told(expected));
    expect_same("events", text_of(got.events), text_of(expected.events));
    if (got.events != expected.events && !differs_) differs_ = "what has no text differs in events";
  }

  void sweep(std::size_t limit) {
    story_ += "sweep\n";
    whole_.state.advance(whole_.now);
    whole_.state.lapsed().for_each([this](const StandingClaim& claim) {
      recall_path(claim.resource->path);
      return true;
    });
    const std::vector<Event> expected = whole_.sweep(limit);
    expect_same("sweep", text_of(forgetful_.sweep(limit)), text_of(expected));
  }

  void project(Choices& choices) {
    if (choices.chance(30)) return;
    const std::uint64_t ahead = whole_.state.head().value - projected_.value;
    projected_ = projected_ +
                 static_cast<std::uint64_t>(choices.below(static_cast<std::int64_t>(ahead + 1)));
    forgetful_.state.forget_through(projected_);
  }

  // The forgetful one starts anew, from rows as they were at `projected_` and the log's tail.
  void restart(Choices& choices) {
    story_ += "restart from " + std::to_string(projected_.value) + "\n";
    State rows;
    for (std::size_t i = 0; i < projected_.value; ++i) rows.evolve(whole_.log[i]);
    State fresh;
    fresh.set_head(projected_);
    std::set<Key> keys;
    std::set<Path> paths;
    for (std::size_t i = 0; i < projected_.value; ++i) {
      if (whole_.log[i].key) keys.insert(*whole_.log[i].key);
      paths.insert(whole_.log[i].resource);
    }
    for (const Path& path : paths) {
      if (const Resource* resource = rows.definition(path.view())) {
        fresh.restore_definition(path, *resource);
      } else if (rows.is_retired(path.view())) {
        fresh.restore_definition(path, std::nullopt);
      }
    }
    for (const Key& key : keys) {
      Claim claim = rows.claim(key.view()).value();
      const StandingClaim* standing = rows.find(key.view());
      // A row knows nothing of now: what has lapsed is still held in it.
      claim.state = standing->state;
      if (!is_ended(claim.state)) fresh.restore_claim(claim);
    }
    forgetful_.state = std::move(fresh);
    for (std::size_t i = projected_.value; i < whole_.log.size(); ++i) {
      const Event& event = whole_.log[i];
      if (event.key && !forgetful_.state.find(event.key->view())) {
        if (const auto claim = rows.claim(event.key->view())) forgetful_.state.recall(*claim);
      }
      forgetful_.state.evolve(event);
    }
    forgetful_.state.advance(forgetful_.now);
    if (choices.chance(50)) forgetful_.state.forget_through(projected_);
  }

  World whole_;
  World forgetful_;
  Position projected_;
  std::string story_ = "story:\n";
  std::optional<std::string> differs_;
};

std::optional<std::string> tell_of_forgetting(const std::vector<std::uint64_t>& steps) {
  Choices choices(steps.empty() ? 0 : steps.front());
  Pair pair(any_policy(choices));
  for (const std::uint64_t number : steps) {
    if (auto broken = pair.step(number)) return broken;
  }
  return pair.end();
}

TEST(Forgetting, ChangesNoAnswer) {
  EXPECT_TRUE(holds_for_stories("the same answers whatever is forgotten, recalled and restored",
                                tell_of_forgetting));
}

}  // namespace
}  // namespace holdfast::testing
