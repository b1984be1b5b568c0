#include <gtest/gtest.h>
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ledger/domain/availability.h"
#include "tests/ledger/domain/seed.h"
#include "tests/ledger/domain/world.h"

// Bookings that ended longer ago than the horizon leave memory, and nobody is told otherwise.
namespace holdfast::testing {
namespace {

World with_horizon(Duration horizon) {
  World world;
  world.state = State(horizon);
  return world;
}

void at(World& world, Duration later) {
  world.now = kT0 + later;
  world.state.advance(world.now);
}

TEST(PastHorizon, ABookingLeavesOnceItsTurnaroundLiesBehindIt) {
  World world = with_horizon(kDay);
  world.given({"define p turnaround=1h", "hold p key=h from=1h until=2h", "commit h"});
  const Duration leaves{3 * kHour.ms + kDay.ms};
  at(world, leaves - Duration{1});
  EXPECT_EQ(world.state.live_claims(), 1u);
  at(world, leaves);
  EXPECT_EQ(world.state.live_claims(), 0u);
  EXPECT_EQ(world.show("h").substr(0, 11), "h committed");
  world.state.forget_through(world.state.head());
  EXPECT_EQ(world.state.find("h"), nullptr);
}

TEST(PastHorizon, WhatStandsForAllTimeOrIsStillHeldStays) {
  World world = with_horizon(kHour);
  world.given({"hold p key=h", "commit h", "hold q key=i from=1h until=2h ttl=60s"});
  at(world, Duration{4'000 * kDay.ms});
  world.state.forget_through(world.state.head());
  EXPECT_NE(world.state.find("h"), nullptr);
  EXPECT_NE(world.state.find("i"), nullptr);  // until its end is recorded
}

// A part may be defined with any turnaround while the whole is booked.
TEST(PastHorizon, AWholeWaitsForTheLongestTurnaroundThatAPartMayHave) {
  World world = with_horizon(kHour);
  world.given({"define p parts=true", "hold p key=h from=1h until=2h", "commit h",
               "define p/a turnaround=10h"});
  at(world, Duration{5 * kHour.ms});
  EXPECT_EQ(world.run("hold p/a key=i from=11h until=12h").substr(0, 8), "conflict");
  at(world, Duration{3 * kHour.ms + kMaxSetting.ms - 1});
  EXPECT_EQ(world.state.live_claims(), 1u);
  at(world, Duration{3 * kHour.ms + kMaxSetting.ms});
  EXPECT_EQ(world.state.live_claims(), 0u);
}

// However far the leaving has come, and although a hold without a span stands for all of time.
TEST(PastHorizon, WhatEndedBeforeItIsInNobodysWay) {
  World world = with_horizon(kHour);
  world.lapsed_at_once = 0;
  world.given({"define p parts=true turnaround=1h", "hold p/a key=h from=1h until=2h", "commit h"});
  at(world, Duration{4 * kHour.ms - 1});
  EXPECT_EQ(world.run("hold p key=i").substr(0, 8), "conflict");
  world.now = kT0 + Duration{4 * kHour.ms};
  EXPECT_EQ(world.run("hold p key=i").substr(0, 2), "ok");
}

// A turnaround set after a booking has left does not bring it back.
TEST(PastHorizon, WhatHasLeftStaysAway) {
  World world = with_horizon(kHour);
  world.given({"define p", "hold p key=h from=1h until=2h", "commit h"});
  at(world, Duration{3 * kHour.ms});
  const Claim claim = world.state.claim("h").value();
  EXPECT_TRUE(world.state.has_left(claim, world.now));
  world.given({"change p turnaround=10h"});
  EXPECT_TRUE(world.state.has_left(claim, world.now));
  EXPECT_EQ(world.run("retire p").substr(0, 2), "ok");
}

TEST(PastHorizon, WhereAWholeIsRetiredItsTurnaroundIsNotWaitedFor) {
  World world = with_horizon(kHour);
  world.given({"define p parts=true turnaround=10h", "hold p/a key=h from=1h until=2h", "commit h",
               "retire p"});
  at(world, Duration{3 * kHour.ms - 1});
  EXPECT_EQ(world.state.live_claims(), 1u);
  at(world, Duration{3 * kHour.ms});
  EXPECT_EQ(world.state.live_claims(), 0u);
}

TEST(PastHorizon, ManyLeaveAThousandAtATime) {
  World world = with_horizon(kHour);
  world.given({"define p capacity=2500"});
  for (int i = 0; i < 2'500; ++i) {
    const std::string key = "k" + std::to_string(i);
    world.run("hold p key=" + key + " from=1h until=2h");
    world.run("commit " + key);
  }
  at(world, Duration{3 * kHour.ms});
  EXPECT_EQ(world.state.live_claims(), 1'500u);
  // A command that asks what stands does not depend on it.
  EXPECT_EQ(world.run("retire p").substr(0, 2), "ok");
  EXPECT_EQ(world.state.live_claims(), 0u);
}

constexpr int kKeys = 60;

// Most are bookings that end soon.
std::vector<std::string> some_commands(std::mt19937_64& random, int minute) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::string key = "k" + std::to_string(below(kKeys));
  const std::string path = below(2) == 0 ? "q" : below(2) == 0 ? "p" : "p/a";
  const std::string minutes = std::to_string(below(6)) + "m";
  switch (below(10)) {
    case 0:
      return {"cancel " + key};
    case 1:
      return {"retire " + path};
    case 2:
    case 3:
      return {"change " + path + " turnaround=" + minutes};
    case 4:
      return {"hold " + path + " key=" + key + " ttl=1m"};
    case 5:
      return {"define " + path + " capacity=2 turnaround=" + minutes +
              (below(2) == 0 ? " parts=true" : " holder_limit=3")};
    default: {
      const int from = std::max(0, minute - 11 + below(13));
      return {"hold " + path + " key=" + key + " from=" + std::to_string(from) +
                  "m until=" + std::to_string(from + 1 + below(3)) + "m ttl=1m",
              "commit " + key};
    }
  }
}

// As after a restart: from the definitions, and from all claims as rows have them.
State restored(const World& world, Duration horizon) {
  State state(horizon);
  state.set_head(world.state.head());
  state.advance(world.now);
  for (const char* path : {"p", "p/a", "q"}) {
    const Resource* defined = world.state.definition(path);
    const bool known = defined != nullptr || world.state.is_retired(path);
    const auto resource = defined == nullptr ? std::nullopt : std::optional(*defined);
    if (known) state.restore_definition(Path::trusted(path), resource);
    state.recall_last_event(Path::trusted(path), world.state.last_event(path));
  }
  for (int k = 0; k < kKeys; ++k) {
    const StandingClaim* known = world.state.find("k" + std::to_string(k));
    if (known == nullptr) continue;
    Claim claim = State::snapshot(*known);
    claim.state = known->state;
    const bool forgotten = is_ended(claim.state) || state.has_left(claim, world.now);
    forgotten ? state.recall(claim) : state.restore_claim(claim);
  }
  return state;
}

// Beside a state that lets nobody leave before it has to, and one that is restored now and then.
TEST(PastHorizon, NobodyIsToldWhetherABookingHasLeft) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE(seed_trace(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    const Duration horizon{10 * kMinute.ms};
    World leaving = with_horizon(horizon);
    World staying = with_horizon(horizon);
    World restarted = with_horizon(horizon);
    staying.lapsed_at_once = 0;
    for (World* world : {&leaving, &staying, &restarted}) {
      world->given({"define p capacity=2 parts=true turnaround=1m", "define q capacity=3"});
    }
    int minute = 0;
    for (int step = 0; step < 300; ++step) {
      if (random() % 4 == 0) ++minute;
      leaving.now = staying.now = restarted.now = kT0 + Duration{minute * kMinute.ms};
      if (random() % 4 == 0) {
        leaving.state.advance(leaving.now);
        restarted.state = restored(leaving, horizon);
      }
      for (const std::string& command : some_commands(random, minute)) {
        const std::string answer = leaving.run(command);
        ASSERT_EQ(answer, staying.run(command)) << command;
        ASSERT_EQ(answer, restarted.run(command)) << command;
      }
      const AvailabilityQuery query{
          Path::trusted(step % 2 == 0 ? "q" : "p/a"), {kT0, kT0 + kHour}, {1}, std::nullopt};
      const auto pieces = availability(leaving.state, query, {});
      ASSERT_EQ(pieces, availability(staying.state, query, {}));
      ASSERT_EQ(pieces, availability(restarted.state, query, {}));
    }
  }
}

}  // namespace
}  // namespace holdfast::testing
