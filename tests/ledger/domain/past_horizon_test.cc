#include <gtest/gtest.h>
#include <random>
#include <string>

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

std::string some_command(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return std::to_string(random() % n); };
  const std::string key = "k" + below(30);
  const std::string path = random() % 3 == 0 ? "p/a" : random() % 2 == 0 ? "p" : "q";
  switch (random() % 8) {
    case 0:
    case 1:
    case 2: {
      const std::uint64_t from = random() % 60;
      return "hold " + path + " key=" + key + " from=" + std::to_string(from) +
             "m until=" + std::to_string(from + 1 + random() % 5) + "m ttl=1m";
    }
    case 3:
    case 4:
      return "commit " + key;
    case 5:
      return "cancel " + key;
    case 6:
      return "retire " + path;
    default:
      return "define " + path + " capacity=2 turnaround=" + below(3) +
             "m holder_limit=" + std::to_string(2 + random() % 5);
  }
}

// Beside a state that lets nobody leave before it has to.
TEST(PastHorizon, NobodyIsToldWhetherABookingHasLeft) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE(seed_trace(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    World leaving = with_horizon(Duration{10 * kMinute.ms});
    World staying = with_horizon(Duration{10 * kMinute.ms});
    staying.lapsed_at_once = 0;
    for (World* world : {&leaving, &staying}) {
      world->given({"define p capacity=2 parts=true turnaround=1m", "define q capacity=3"});
    }
    for (int step = 0; step < 200; ++step) {
      if (random() % 4 == 0) leaving.now = leaving.now + Duration{20 * kSecond.ms};
      staying.now = leaving.now;
      const std::string command = some_command(random);
      ASSERT_EQ(leaving.run(command), staying.run(command)) << command;
      const AvailabilityQuery query{
          Path::trusted("p/a"), {kT0, kT0 + kHour}, {1 + step % 2}, std::nullopt};
      ASSERT_EQ(availability(leaving.state, query, {}), availability(staying.state, query, {}));
    }
  }
}

}  // namespace
}  // namespace holdfast::testing
