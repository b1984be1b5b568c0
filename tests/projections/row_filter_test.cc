#include "projections/row_filter.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace holdfast::projections {
namespace {

std::uint64_t row(int number) { return RowFilter::row(1, "bench/" + std::to_string(number)); }

TEST(RowFilter, DeniesNothingThatWasAddedHoweverManyWere) {
  RowFilter filter(1'000);
  filter.complete();
  for (int i = 0; i < 100'000; ++i) {
    filter.add(row(i));
    ASSERT_TRUE(filter.may_have(row(i)));
  }
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(filter.may_have(row(i))) << i;
}

TEST(RowFilter, DeniesNearlyAllThatWasNot) {
  RowFilter filter(1'000);
  filter.complete();
  for (int i = 0; i < 100'000; ++i) filter.add(row(i));
  int wrong = 0;
  for (int i = 100'000; i < 200'000; ++i) wrong += filter.may_have(row(i));
  EXPECT_LT(wrong, 3'000);  // seven layers
}

TEST(RowFilter, TellsFamiliesApart) {
  RowFilter filter(1'000);
  filter.complete();
  int wrong = 0;
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = std::to_string(i);
    filter.add(RowFilter::row(2, key));
    wrong += filter.may_have(RowFilter::row(4, key));
  }
  EXPECT_LT(wrong, 30);
}

TEST(RowFilter, DeniesNothingBeforeItIsComplete) {
  RowFilter filter(1'000);
  EXPECT_TRUE(filter.may_have(row(1)));
  filter.complete();
  EXPECT_FALSE(filter.may_have(row(1)));
}

TEST(RowFilter, TwoThreadsAddAndAThirdAsks) {
  RowFilter filter(1'000);
  filter.complete();
  std::atomic<int> added = -1;
  const auto add = [&](int from) {
    for (int i = from; i < 200'000; i += 2) {
      filter.add(row(i));
      if (from == 0) added.store(i, std::memory_order_release);
    }
  };
  std::thread even(add, 0);
  std::thread odd(add, 1);
  for (int i = 0; i < 199'998;) {
    i = added.load(std::memory_order_acquire);
    EXPECT_TRUE(i < 0 || filter.may_have(row(i)));
  }
  even.join();
  odd.join();
  for (int i = 0; i < 200'000; ++i) ASSERT_TRUE(filter.may_have(row(i))) << i;
}

}  // namespace
}  // namespace holdfast::projections
