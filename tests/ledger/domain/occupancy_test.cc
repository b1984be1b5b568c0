#include "ledger/domain/occupancy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "tests/ledger/domain/seed.h"

namespace holdfast {
namespace {

constexpr std::int64_t kEnd = 60;  // spans lie in [0, kEnd)

// U(t) as an array.
struct Naive {
  std::vector<std::int64_t> at = std::vector<std::int64_t>(kEnd, 0);
  std::int64_t always = 0;

  void add(Span span, std::int64_t units) {
    if (span == kAllOfTime) {
      always += units;
      return;
    }
    for (std::int64_t t = span.from.ms; t < span.until.ms; ++t)
      at[static_cast<std::size_t>(t)] += units;
  }
  std::int64_t level(std::int64_t t) const {
    return always + (t >= 0 && t < kEnd ? at[static_cast<std::size_t>(t)] : 0);
  }
  Occupancy::Peak peak(Span span) const {
    Occupancy::Peak best{level(span.from.ms), span.from};
    for (std::int64_t t = span.from.ms; t < span.until.ms; ++t) {
      if (level(t) > best.units) best = {level(t), {t}};
    }
    return best;
  }
};

struct Piece {
  Span span;
  std::int64_t units;
  bool operator==(const Piece&) const = default;
};

std::vector<Piece> pieces(const Occupancy& occupancy, Span span) {
  std::vector<Piece> all;
  occupancy.visit_steps(span, [&](Span piece, std::int64_t units) {
    all.push_back({piece, units});
    return true;
  });
  return all;
}

std::vector<Piece> pieces(const Naive& naive, Span span) {
  std::vector<Piece> all;
  for (std::int64_t t = span.from.ms; t < span.until.ms; ++t) {
    if (all.empty() || all.back().units != naive.level(t))
      all.push_back({{{t}, {t}}, naive.level(t)});
    all.back().span.until = {t + 1};
  }
  return all;
}

TEST(Occupancy, AgainstAnArray) {
  const std::uint64_t seed = testing::any_seed();
  SCOPED_TRACE(testing::seed_trace(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const auto any_span = [&](std::int64_t lowest, std::int64_t highest) {
    const std::int64_t from = lowest + below(highest - lowest - 1);
    return Span{{from}, {from + 1 + below(highest - from - 1)}};
  };
  for (int round = 0; round < 200; ++round) {
    Occupancy occupancy;
    Naive naive;
    std::vector<Piece> standing;
    for (int step = 0; step < 120; ++step) {
      if (!standing.empty() && below(5) < 2) {
        const auto victim = static_cast<std::size_t>(below(std::ssize(standing)));
        occupancy.remove(standing[victim].span, standing[victim].units);
        naive.add(standing[victim].span, -standing[victim].units);
        standing.erase(standing.begin() + static_cast<std::ptrdiff_t>(victim));
      } else {
        const Span span = below(10) == 0 ? kAllOfTime : any_span(0, kEnd);
        standing.push_back({span, 1 + below(3)});
        occupancy.add(span, standing.back().units);
        naive.add(span, standing.back().units);
      }
      const Span asked = any_span(-5, kEnd + 10);
      const Occupancy::Peak peak = occupancy.peak(asked);
      const Occupancy::Peak expected = naive.peak(asked);
      ASSERT_EQ(peak.units, expected.units);
      ASSERT_EQ(peak.at, expected.at) << "the earliest instant";
      const std::vector<Piece> steps = pieces(naive, asked);
      ASSERT_EQ(pieces(occupancy, asked), steps);
      const std::int64_t units = below(8);
      const auto last = std::find_if(steps.rbegin(), steps.rend(),
                                     [&](const Piece& piece) { return piece.units > units; });
      ASSERT_EQ(occupancy.last_above(asked, units),
                last == steps.rend() ? std::nullopt : std::optional(last->span.from));
      std::int64_t at = asked.from.ms;
      while (at < kEnd + 10 && naive.level(at) > units) ++at;
      ASSERT_EQ(occupancy.first_not_above(asked.from, units),
                at == kEnd + 10 ? std::nullopt : std::optional(Instant{at}));
      ASSERT_EQ(occupancy.empty(), standing.empty());
    }
    for (const Piece& piece : standing) occupancy.remove(piece.span, piece.units);
    ASSERT_TRUE(occupancy.empty());
  }
}

TEST(Occupancy, WithinAllOfTime) {
  Occupancy occupancy;
  EXPECT_EQ(occupancy.peak(kAllOfTime).units, 0);
  EXPECT_EQ(occupancy.peak(kAllOfTime).at, kAllOfTime.from);
  occupancy.add({{10}, {20}}, 2);
  EXPECT_EQ(occupancy.peak(kAllOfTime).units, 2);
  EXPECT_EQ(occupancy.peak(kAllOfTime).at, Instant{10});
  occupancy.add(kAllOfTime, 1);
  EXPECT_EQ(occupancy.peak({{0}, {5}}).units, 1);
  EXPECT_EQ(occupancy.peak({{0}, {5}}).at, Instant{0});
  EXPECT_EQ(occupancy.peak(kAllOfTime).units, 3);
}

TEST(Occupancy, StepsCanStop) {
  Occupancy occupancy;
  for (int i = 0; i < 10; ++i) occupancy.add({{10 * i}, {10 * i + 5}}, 1);
  int seen = 0;
  occupancy.visit_steps({{0}, {100}}, [&](Span, std::int64_t) { return ++seen < 3; });
  EXPECT_EQ(seen, 3);
}

// A million claims on one resource, in the order that would bend a plain tree into a list.
TEST(Occupancy, AMillionClaims) {
  constexpr std::int64_t kClaims = 1'000'000;
  Occupancy occupancy;
  for (std::int64_t i = 0; i < kClaims; ++i) occupancy.add({{i * 10}, {i * 10 + 15}}, 1);
  for (std::int64_t i = 0; i < kClaims; ++i) {
    const Occupancy::Peak peak = occupancy.peak({{i * 10 + 5}, {i * 10 + 100}});
    ASSERT_EQ(peak.units, i + 1 < kClaims ? 2 : 1);
  }
  EXPECT_EQ(occupancy.peak(kAllOfTime).at, Instant{10});
  for (std::int64_t i = 0; i < kClaims; ++i) occupancy.remove({{i * 10}, {i * 10 + 15}}, 1);
  EXPECT_TRUE(occupancy.empty());
}

}  // namespace
}  // namespace holdfast
