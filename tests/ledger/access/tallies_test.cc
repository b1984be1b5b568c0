#include "ledger/access/tallies.h"

#include <gtest/gtest.h>
#include <string>

namespace holdfast::access {
namespace {

constexpr Instant kNoon{1'767'268'800'000};

Entry query_of(const std::string& actor) {
  return {.actor = actor, .what = Asked{.kind = "query.claim"}};
}
Entry refusal_of(const std::string& actor) { return {.actor = actor, .what = Refused{}}; }

class TalliesOfThree : public testing::Test {
 protected:
  TalliesOfThree() { tallies_.turn(kNoon); }
  int admitted(const Entry& entry, int times) {
    int count = 0;
    for (int i = 0; i < times; ++i) count += tallies_.admit(entry, false) ? 1 : 0;
    return count;
  }
  Tallies tallies_{3};
};

TEST_F(TalliesOfThree, BoundEachActorAndKind) {
  EXPECT_EQ(admitted(query_of("ann"), 10), 3);
  EXPECT_EQ(admitted(query_of("bob"), 10), 3);
  EXPECT_EQ(admitted(refusal_of("ann"), 10), 3);
  EXPECT_EQ(admitted({.actor = "ann", .what = Asked{.kind = "query.history"}}, 10), 0);
  EXPECT_EQ(admitted({.actor = "ann", .what = Asked{.kind = "admin.sweep"}}, 2), 2);
}

TEST_F(TalliesOfThree, NeverDropWhatIsDoneToTheServer) {
  EXPECT_EQ(admitted({.what = Started{}}, 10), 10);
  EXPECT_EQ(admitted({.actor = "ann", .what = ConfigurationChanged{}}, 10), 10);
  EXPECT_TRUE(tallies_.admit({.what = Stopped{}}, true));
}

TEST_F(TalliesOfThree, SayAtTheMinutesEndWhatWasDropped) {
  admitted(query_of("ann"), 10);
  admitted(refusal_of("ann"), 3);
  EXPECT_TRUE(tallies_.turn(kNoon + Duration{59'999}).empty());
  const auto dropped = tallies_.turn(kNoon + kMinute);
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].actor, "ann");
  EXPECT_EQ(std::get<Dropped>(dropped[0].what), (Dropped{"query", kNoon, 7}));
  EXPECT_TRUE(tallies_.turn(kNoon + kMinute).empty());
  EXPECT_EQ(admitted(query_of("ann"), 10), 3);
}

TEST_F(TalliesOfThree, EndAMinuteEarlyAtAStop) {
  admitted(query_of("ann"), 4);
  EXPECT_EQ(tallies_.turn(kNoon, true).size(), 1u);
}

TEST_F(TalliesOfThree, CountWhatTheQueueHadNoRoomFor) {
  EXPECT_FALSE(tallies_.admit(query_of("ann"), true));
  EXPECT_TRUE(tallies_.admit(query_of("ann"), false));
  const auto dropped = tallies_.turn(kNoon + kMinute);
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(std::get<Dropped>(dropped[0].what).count, 1u);
}

TEST_F(TalliesOfThree, OfVeryManyActorsTheLastShareOneCount) {
  for (std::size_t i = 0; i < Tallies::kMaxCounted; ++i) {
    EXPECT_TRUE(tallies_.admit(query_of("actor-" + std::to_string(i)), false));
  }
  EXPECT_EQ(admitted(query_of("one"), 2) + admitted(query_of("other"), 2), 3);
  const auto dropped = tallies_.turn(kNoon + kMinute);
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].actor, "");
}

}  // namespace
}  // namespace holdfast::access
