#include "tools/bench/zipf.h"

#include <gtest/gtest.h>

namespace holdfast::tools {
namespace {

constexpr int kDraws = 400'000;

std::vector<int> counts(std::uint64_t count, double skew) {
  std::mt19937_64 random(1);
  const Zipf zipf(count, skew);
  std::vector<int> found(count);
  for (int i = 0; i < kDraws; ++i) ++found.at(zipf(random));
  return found;
}

TEST(Zipf, WithoutSkewAllAreAlike) {
  for (const int found : counts(10, 0)) EXPECT_NEAR(found, kDraws / 10, 1'500);
}

TEST(Zipf, WithSkewOneTheSecondComesHalfAsOften) {
  const auto found = counts(4, 1);
  const double whole = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(found[k], kDraws / whole / (k + 1), 1'500) << k;
}

TEST(Zipf, OfOneIsThatOne) {
  EXPECT_EQ(counts(1, 1), std::vector<int>{kDraws});
  EXPECT_EQ(counts(1, 0), std::vector<int>{kDraws});
}

}  // namespace
}  // namespace holdfast::tools
