#include <gtest/gtest.h>

#include "ledger/domain/availability.h"
#include "tests/ledger/domain/world.h"

// Very many holds may lapse at one instant: the state then takes them out of its indexes a piece at
// a time, and nobody can tell.
namespace holdfast::testing {
namespace {

constexpr std::size_t kHolds = 3 * State::kLapsedAtOnce;

class LapsingAtOnce : public ::testing::Test {
 protected:
  LapsingAtOnce() {
    for (std::size_t i = 0; i < kHolds; ++i) {
      const std::string number = std::to_string(i);
      w_.given({"hold seat-" + number + " key=h" + number + " holder=ann ttl=60s cart=c" +
                std::to_string(i % 7)});
    }
    w_.now = kT0 + kMinute;
    w_.state.advance(w_.now);
  }

  static std::string last() { return std::to_string(kHolds - 1); }

  World w_;
};

TEST_F(LapsingAtOnce, OnlyAPieceIsTakenOutAtOnce) {
  EXPECT_EQ(w_.state.lapsed_claims(), State::kLapsedAtOnce);
  EXPECT_EQ(w_.state.unrecorded_claims(), kHolds);
  w_.state.advance(w_.now);
  EXPECT_EQ(w_.state.lapsed_claims(), 2 * State::kLapsedAtOnce);
}

TEST_F(LapsingAtOnce, WhatIsLookedAtHasLapsed) {
  for (std::size_t i = 0; i < kHolds; i += 97) {
    const Path seat = Path::trusted("seat-" + std::to_string(i));
    EXPECT_EQ(free_at(w_.state, seat, w_.now, w_.policy), 1) << seat.str();
  }
  EXPECT_EQ(w_.state.claim("h" + last())->state, ClaimState::expired);
  EXPECT_EQ(w_.run("extend h" + last() + " holder=ann ttl=1m").substr(0, 7), "expired");
  EXPECT_EQ(w_.run("hold seat-" + last() + " key=new holder=bob").substr(0, 2), "ok");
}

TEST_F(LapsingAtOnce, AWholeLooksNoFurtherThanItsParts) {
  World apart;
  apart.given({"define whole parts=true", "define whole/limited holder_limit=1"});
  for (std::size_t i = 0; i < kHolds; ++i) {
    const std::string number = std::to_string(i);
    apart.given({"hold seat-" + number + " key=h" + number + " holder=ann ttl=60s"});
  }
  apart.given({"hold whole/limited key=part holder=ann ttl=60s"});
  apart.now = kT0 + kMinute;
  apart.state.advance(apart.now);
  ASSERT_EQ(apart.state.lapsed_claims(), State::kLapsedAtOnce);
  EXPECT_EQ(free_at(apart.state, Path::trusted("whole"), apart.now, apart.policy), 1);
  EXPECT_EQ(apart.state.lapsed_claims(), State::kLapsedAtOnce + 1) << "its part's hold";
  // And again for what is held there while the rest has yet to lapse.
  apart.lapsed_at_once = 0;
  apart.given({"hold whole/limited key=again holder=ann ttl=1s"});
  EXPECT_EQ(apart.run("hold whole/limited key=more holder=bob").substr(0, 8), "conflict");
  apart.now = apart.now + kSecond;
  apart.given({"hold whole/limited key=late holder=ann ttl=1s"});
  EXPECT_EQ(apart.state.live_at_or_below("whole"), 1);
  EXPECT_LE(apart.state.lapsed_claims(), State::kLapsedAtOnce + 1) << "recorded as they were met";
}

TEST_F(LapsingAtOnce, ListsHoldNothingThatHasLapsed) {
  std::size_t seen = 0;
  const auto count = [&](const StandingClaim&) {
    ++seen;
    return true;
  };
  w_.state.visit_subtree({}, count);
  w_.state.visit_holder("ann", count);
  EXPECT_EQ(seen, 0u);
  EXPECT_EQ(w_.state.cart("c3"), nullptr);
  EXPECT_EQ(w_.state.live_at_or_below("seat-" + last()), 0);
}

TEST_F(LapsingAtOnce, EachIsRecordedOnceInDueOrder) {
  // One far back in the order is looked at, and so taken out, before those in front of it.
  ASSERT_NE(w_.state.find("h" + last()), nullptr);
  std::vector<std::string> recorded;
  for (;;) {
    const std::vector<Event> events = w_.sweep(500);
    if (events.empty()) break;
    for (const Event& event : events) recorded.push_back(event.key->str());
  }
  EXPECT_EQ(recorded.size(), kHolds);
  EXPECT_TRUE(std::is_sorted(recorded.begin(), recorded.end()));
  EXPECT_EQ(w_.state.unrecorded_claims(), 0u);
}

}  // namespace
}  // namespace holdfast::testing
