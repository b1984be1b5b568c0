#include "tools/bench/histogram.h"

#include <gtest/gtest.h>

namespace holdfast::tools {
namespace {

TEST(Histogram, OfNothingIsNothing) {
  const Histogram none;
  EXPECT_EQ(none.percentile(0.5), 0u);
  EXPECT_EQ(none.largest(), 0u);
}

TEST(Histogram, PercentilesAreAtMostASixtyFourthTooLarge) {
  Histogram of;
  constexpr std::uint64_t kCount = 1'000'000;
  for (std::uint64_t value = 1; value <= kCount; ++value) of.record(value * 1'000);
  for (const double share : {0.001, 0.5, 0.9, 0.99, 0.999, 0.9999}) {
    const double exact = share * kCount * 1'000;
    const auto found = static_cast<double>(of.percentile(share));
    EXPECT_GE(found, exact) << share;
    EXPECT_LE(found, (exact + 1'000) * (1 + 1.0 / 64)) << share;
  }
  EXPECT_EQ(of.percentile(1), kCount * 1'000);
  EXPECT_EQ(of.largest(), kCount * 1'000);
}

TEST(Histogram, SmallAndLargestValuesHaveTheirPlace) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{64}, ~std::uint64_t{0}}) {
    Histogram of;
    of.record(value);
    EXPECT_EQ(of.percentile(0.5), value);
  }
}

TEST(Histogram, ClearedIsEmpty) {
  Histogram of;
  of.record(5);
  of.clear();
  EXPECT_EQ(of.total(), 0u);
  EXPECT_EQ(of.largest(), 0u);
}

}  // namespace
}  // namespace holdfast::tools
