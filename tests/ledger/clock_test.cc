#include "ledger/clock.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/ledger/domain/seed.h"
#include "tests/ledger/fake_time.h"

namespace holdfast {
namespace {

constexpr Instant kT0{1'767'225'600'000};

Instant after(std::int64_t ms) { return kT0 + Duration{ms}; }

TEST(LedgerClock, FollowsTheWallClock) {
  FakeTime time(kT0);
  LedgerClock clock(time, kMinInstant);
  EXPECT_EQ(clock.now(), kT0);
  time.pass({250});
  EXPECT_EQ(clock.now(), after(250));
  time.step_wall(kMinute);
  EXPECT_EQ(clock.now(), after(60'250)) << "ahead of it, the wall clock is followed at once";
}

TEST(LedgerClock, GoesAtHalfSpeedUntilTheyMeet) {
  FakeTime time(kT0);
  LedgerClock clock(time, kMinInstant);
  clock.now();
  time.step_wall({-10});
  EXPECT_EQ(clock.now(), kT0);
  time.pass({7});
  EXPECT_EQ(clock.now(), after(3));
  time.pass({1});
  EXPECT_EQ(clock.now(), after(4)) << "the half millisecond was owed";
  time.pass({11});
  EXPECT_EQ(clock.now(), after(9));
  time.pass({1});
  EXPECT_EQ(clock.now(), after(10)) << "they have met";
  time.pass({100});
  EXPECT_EQ(clock.now(), time.wall());
}

TEST(LedgerClock, MeetsTheWallClockExactlyHoweverOftenItIsAsked) {
  for (const std::int64_t step : {1, 2, 3, 7, 20}) {
    FakeTime time(kT0);
    LedgerClock clock(time, after(1'000));
    std::int64_t passed = 0;
    while (passed < 2'000) {
      time.pass({step});
      passed += step;
      EXPECT_EQ(clock.now(), after(std::max(passed, 1'000 + passed / 2))) << "step " << step;
    }
    EXPECT_EQ(clock.now(), time.wall());
  }
}

TEST(LedgerClock, StartsAgainFromTheLatestInstant) {
  FakeTime time(kT0);
  LedgerClock clock(time, after(5'000));
  EXPECT_EQ(clock.now(), after(5'000));
  time.pass({1'000});
  EXPECT_EQ(clock.now(), after(5'500));
}

TEST(LedgerClock, ALeapInEitherDirectionIsUnsafeUntilConfirmed) {
  for (const std::int64_t leap_ms : {kHour.ms + 1, -kHour.ms - 1}) {
    FakeTime time(kT0);
    LedgerClock clock(time, kMinInstant);
    clock.now();
    time.step_wall({leap_ms > 0 ? kHour.ms : -kHour.ms});
    clock.now();
    EXPECT_FALSE(clock.unsafe()) << "an hour is not more than an hour";
    const Instant before = clock.now();
    time.step_wall({leap_ms});
    time.pass({40});
    EXPECT_EQ(clock.now(),
              before + Duration{leap_ms > 0 ? 40 : 20} + Duration{leap_ms > 0 ? 0 : 20})
        << "with the steady clock alone";
    EXPECT_TRUE(clock.unsafe());
    time.pass({1'000});
    clock.now();
    EXPECT_TRUE(clock.unsafe()) << "latched";
    clock.confirm();
    EXPECT_FALSE(clock.unsafe());
    time.pass({2});
    const Instant now = clock.now();
    EXPECT_EQ(now, leap_ms > 0 ? time.wall() : before + Duration{1'041});
    EXPECT_FALSE(clock.unsafe());
  }
}

TEST(LedgerClock, SuspendedTimeIsNoLeap) {
  FakeTime time(kT0);
  LedgerClock clock(time, kMinInstant);
  clock.now();
  time.pass(kDay);
  EXPECT_EQ(clock.now(), kT0 + kDay);
  EXPECT_FALSE(clock.unsafe());
}

TEST(LedgerClock, PinnedToAFileOfThePastThenTheWallClock) {
  FakeTime time(kT0);
  LedgerClock clock(time, kMinInstant);
  clock.now();
  const Instant past = kT0 - Duration{400 * kDay.ms};
  clock.pin(past);
  time.pass(kMinute);
  EXPECT_EQ(clock.now(), past);
  time.step_wall(kDay);
  EXPECT_EQ(clock.now(), past);
  clock.release();
  EXPECT_EQ(clock.now(), time.wall());
  EXPECT_FALSE(clock.unsafe()) << "the wall clock meant nothing while the file's counted";
}

TEST(LedgerClock, PinnedToAFileOfTheFutureStaysAhead) {
  FakeTime time(kT0);
  LedgerClock clock(time, kMinInstant);
  const Instant future = kT0 + Duration{1'000 * kDay.ms};
  clock.pin(future);
  clock.release();
  time.pass({10});
  EXPECT_EQ(clock.now(), future + Duration{5});
}

TEST(LedgerClock, NeverGoesBackWhateverTheMachineDoes) {
  const std::uint64_t seed = testing::any_seed();
  SCOPED_TRACE(testing::seed_trace(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 100; ++round) {
    FakeTime time(kT0);
    LedgerClock clock(time, after(below(20'000) - 10'000));
    Instant last = clock.now();
    for (int i = 0; i < 300; ++i) {
      const std::int64_t passed = below(5'000);
      time.pass({passed});
      if (below(10) == 0) time.step_wall({below(60'000) - 30'000});
      const Instant now = clock.now();
      EXPECT_GE(now, last + Duration{passed / 2});
      EXPECT_GE(now, time.wall());
      last = now;
    }
    EXPECT_FALSE(clock.unsafe());
  }
}

TEST(LedgerClock, StaysWithinTheValidInstants) {
  FakeTime time(kMaxInstant + kHour);
  LedgerClock clock(time, kMinInstant);
  EXPECT_EQ(clock.now(), kMaxInstant);
  time.pass(kHour);
  EXPECT_EQ(clock.now(), kMaxInstant);
}

}  // namespace
}  // namespace holdfast
