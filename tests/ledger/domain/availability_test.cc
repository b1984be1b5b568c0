#include "ledger/domain/availability.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/ledger/domain/seed.h"
#include "tests/ledger/domain/world.h"

namespace holdfast::testing {
namespace {

std::string pieces(const World& world, const char* path, Span window, std::int64_t quantity = 1,
                   std::optional<Duration> duration = {}) {
  std::string text;
  for (const FreePiece& piece : availability(
           world.state, {Path::trusted(path), window, {quantity}, duration}, world.policy)) {
    if (!text.empty()) text += " ";
    text += text_of(std::optional(piece.span)) + ":" + std::to_string(piece.free);
  }
  return text.empty() ? "none" : text;
}

Span hours(std::int64_t from, std::int64_t until) {
  return {kT0 + Duration{from * kHour.ms}, kT0 + Duration{until * kHour.ms}};
}

TEST(Availability, OfAnOpenResource) {
  World w;
  EXPECT_EQ(pieces(w, "r", hours(1, 5)), "1h-5h:1");
  EXPECT_EQ(pieces(w, "r", hours(1, 5), 2), "none");
  w.given({"hold r from=2h until=3h"});
  EXPECT_EQ(pieces(w, "r", hours(1, 5)), "1h-2h:1 3h-5h:1");
  EXPECT_EQ(pieces(w, "r", hours(2, 3)), "none");
  w.given({"policy strict=true"});
  EXPECT_EQ(pieces(w, "r", hours(1, 5)), "none");
}

TEST(Availability, OfAPool) {
  World w;
  w.given({"define p capacity=5", "hold p from=1h until=3h quantity=2", "hold p from=2h until=4h",
           "hold p key=x from=4h until=5h", "commit x holder=app"});
  EXPECT_EQ(pieces(w, "p", hours(0, 6)), "0s-1h:5 1h-2h:3 2h-3h:2 3h-5h:4 5h-6h:5")
      << "neighbours with equal numbers are one piece";
  EXPECT_EQ(pieces(w, "p", hours(0, 6), 4), "0s-1h:5 3h-5h:4 5h-6h:5");
  EXPECT_EQ(pieces(w, "p", hours(0, 6), 3, kHour), "0s-1h:5 1h-2h:3 3h-5h:4 5h-6h:5");
  EXPECT_EQ(pieces(w, "p", hours(0, 6), 4, Duration{2 * kHour.ms}), "3h-5h:4 5h-6h:5")
      << "pieces of an unbroken run that is long enough";
  EXPECT_EQ(pieces(w, "p", hours(0, 6), 3, Duration{3 * kHour.ms}), "3h-5h:4 5h-6h:5");
  EXPECT_EQ(pieces(w, "p", hours(0, 6), 1, Duration{6 * kHour.ms}),
            "0s-1h:5 1h-2h:3 2h-3h:2 3h-5h:4 5h-6h:5");
  EXPECT_EQ(pieces(w, "p", hours(0, 6), 1, Duration{7 * kHour.ms}), "none");
  EXPECT_EQ(pieces(w, "p", hours(0, 6), 6), "none");
}

TEST(Availability, TurnaroundEatsBothSides) {
  World w;
  w.given({"define r turnaround=30m", "hold r key=h from=10h until=11h"});
  EXPECT_EQ(pieces(w, "r", hours(9, 12)), "9h-34200s:1 41400s-12h:1");
  // The window's end is no end of what a hold would occupy.
  w.given({"hold r key=g from=12h until=13h"});
  EXPECT_EQ(pieces(w, "r", hours(9, 12)), "9h-34200s:1") << "11h30m-12h would need 12h30m";
}

TEST(Availability, ClosedAndRetired) {
  World w;
  w.given({"define t", "define t/r capacity=2", "close t"});
  EXPECT_EQ(pieces(w, "t/r", hours(0, 1)), "none");
  EXPECT_EQ(free_at(w.state, Path::trusted("t/r"), kT0, w.policy), 0);
  w.given({"open t"});
  EXPECT_EQ(pieces(w, "t/r", hours(0, 1)), "0s-1h:2");
  w.given({"retire t/r"});
  EXPECT_EQ(pieces(w, "t/r", hours(0, 1)), "none");
  EXPECT_EQ(free_at(w.state, Path::trusted("t/r"), kT0, w.policy), 0);
}

TEST(Availability, LoweredCapacityIsNeverBelowNone) {
  World w;
  w.given({"define p capacity=5", "hold p from=1h until=2h quantity=5", "change p capacity=2"});
  EXPECT_EQ(pieces(w, "p", hours(0, 3)), "0s-1h:2 2h-3h:2");
  EXPECT_EQ(free_at(w.state, Path::trusted("p"), kT0 + kHour, w.policy), 0);
}

TEST(Availability, NeverWaitsForTheSweep) {
  World w;
  w.given({"define p capacity=10", "hold p key=h quantity=10 ttl=5s", "at 10s"});
  w.state.advance(w.now);
  EXPECT_EQ(pieces(w, "p", hours(0, 1)), "0s-1h:10");
  EXPECT_EQ(free_at(w.state, Path::trusted("p"), w.now, w.policy), 10);
  w.given({"sweep 9"});
  EXPECT_EQ(pieces(w, "p", hours(0, 1)), "0s-1h:10");
}

// A span is listed exactly when a hold of it would be accepted, to the millisecond.
TEST(Availability, ListedIfAndOnlyIfAccepted) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE(seed_trace(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const auto any_span = [&] {
    const std::int64_t from = below(20);
    return Span{kT0 + Duration{from}, kT0 + Duration{from + 1 + below(20 - from)}};
  };
  for (int round = 0; round < 100; ++round) {
    World w;
    w.given({"define p capacity=3 turnaround=" + std::to_string(below(4)) + "ms"});
    for (int i = 0; i < 8; ++i) {
      Command hold = command_of("hold p quantity=" + std::to_string(1 + below(2)));
      std::get<Hold>(hold.action).span = any_span();
      w.run(hold);
    }
    const std::int64_t quantity = 1 + below(3);
    const auto listed = availability(
        w.state, {Path::trusted("p"), {kT0, kT0 + Duration{20}}, {quantity}, {}}, w.policy);
    for (std::int64_t from = 0; from < 20; ++from) {
      for (std::int64_t until = from + 1; until <= 20; ++until) {
        const Span span{kT0 + Duration{from}, kT0 + Duration{until}};
        std::int64_t covered = 0;
        for (const FreePiece& piece : listed) {
          covered += std::max<std::int64_t>(0, std::min(piece.span.until, span.until).ms -
                                                   std::max(piece.span.from, span.from).ms);
        }
        Command hold = command_of("hold p quantity=" + std::to_string(quantity));
        std::get<Hold>(hold.action).span = span;
        const bool accepted = w.would_accept(hold);
        ASSERT_EQ(accepted, covered == until - from) << from << "-" << until << " x" << quantity;
      }
    }
  }
}

// What is looked at for a page does not grow with what stands behind it.
TEST(Availability, APageOfACrowdedYearHasItsLimit) {
  World w;
  w.given({"define p capacity=2"});
  for (int i = 0; i < 300; ++i) {
    Command hold = command_of("hold p");
    std::get<Hold>(hold.action).span = Span{kT0 + Duration{10 * i}, kT0 + Duration{10 * i + 5}};
    w.run(hold);
  }
  AvailabilityQuery query{Path::trusted("p"), {kT0, kT0 + Duration{3'000}}, {1}, {}};
  const auto first = availability_page(w.state, query, 100, w.policy);
  EXPECT_EQ(first.pieces.size(), 99u);  // the hundredth may go on
  ASSERT_TRUE(first.rest);
  EXPECT_EQ(first.rest->window_from, kT0 + Duration{495});
  EXPECT_EQ(first.rest->run_from, kT0);

  // A run counts from where it began on an earlier page.
  query.window.from = first.rest->window_from;
  query.duration = Duration{3'000};
  EXPECT_TRUE(availability(w.state, query, w.policy).empty());
  query.run_from = first.rest->run_from;
  EXPECT_EQ(availability_page(w.state, query, 1'000, w.policy).pieces.size(), 501u);
}

}  // namespace
}  // namespace holdfast::testing
