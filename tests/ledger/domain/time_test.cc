#include "ledger/domain/time.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(Time, Range) {
  EXPECT_TRUE(in_range(kMinInstant));
  EXPECT_TRUE(in_range(kMaxInstant));
  EXPECT_FALSE(in_range({-1}));
  EXPECT_FALSE(in_range({253'402'300'800'000}));
}

TEST(Time, SpansAreHalfOpen) {
  const Span span{{10}, {20}};
  EXPECT_TRUE(meets(span, {{19}, {30}}));
  EXPECT_TRUE(meets(span, {{0}, {11}}));
  EXPECT_TRUE(meets(span, {{12}, {13}}));
  EXPECT_TRUE(meets(span, {{0}, {30}}));
  EXPECT_TRUE(meets(span, span));
  EXPECT_FALSE(meets(span, {{20}, {30}}));
  EXPECT_FALSE(meets(span, {{0}, {10}}));
}

TEST(Time, AllOfTimeMeetsWhateverAClaimCanOccupy) {
  const Span last{{kMaxInstant.ms - 1}, kMaxInstant};
  EXPECT_TRUE(meets(kAllOfTime, last));
  EXPECT_TRUE(meets(kAllOfTime, {{0}, {1}}));
  EXPECT_LT(kAllOfTime.from, kMinInstant);
  EXPECT_EQ(occupied(std::nullopt, kDay), kAllOfTime);
  EXPECT_EQ(occupied(Span{{1}, {2}}, kSecond), (Span{{1}, {1002}}));
}

}  // namespace
}  // namespace holdfast
