#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "ledger/domain/availability.h"
#include "tests/ledger/domain/world.h"

// Writes obey exactly what availability shows: over random trees a span is listed as free for a
// quantity if and only if a hold of it is accepted at that position. HOLDFAST_STORIES: how many.
namespace holdfast::testing {
namespace {

constexpr std::array kPaths{"a", "a/1", "a/2", "a/1/x", "a/1/y", "b"};
constexpr std::int64_t kBegin = 8;  // of the window looked at, in seconds
constexpr std::int64_t kEnd = 24;
constexpr std::int64_t kMostUnits = 3;

Instant at_second(std::int64_t second) { return kT0 + Duration{second * kSecond.ms}; }

Path path_of(const char* text) { return Path::trusted(text); }

Command command_by_app(Action action) {
  Asker app{Actor::trusted("app"), {}, {}, Note::trusted("test"), {}, {}, {}, 0};
  return {std::move(app), std::move(action), {}};
}

Hold hold_of(const Path& path, const char* key, Span span, std::int64_t units) {
  return {path, Key::trusted(key), span, Quantity{units}, {}, {}, {}, {}, {}, false};
}

// Random definitions, windows, closings and claims; whatever is refused is not there.
class Tree {
 public:
  Tree(std::uint32_t seed, int commands) : random_(seed) {
    for (const char* path : kPaths) {
      if (below(5) > 0) define(path);
    }
    for (int i = 0; i < commands; ++i) command();
  }
  World& world() { return world_; }

 private:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  const char* path() { return kPaths[static_cast<std::size_t>(below(kPaths.size()))]; }
  Span span() {
    const std::int64_t from = below(30);
    return {at_second(from), at_second(from + 1 + below(8))};
  }
  void run(Action action) { world_.run(command_by_app(std::move(action))); }
  void define(const char* path) {
    Definition definition;
    definition.capacity = Quantity{1 + below(kMostUnits)};
    definition.turnaround = Duration{below(3) == 0 ? kSecond.ms * (1 + below(3)) : 0};
    definition.parts = below(3) == 0;
    run(Define{path_of(path), definition});
  }
  void command() {
    switch (below(12)) {
      case 0:
        return run(ChangeWindow{path_of(path()), {WindowKind::hours, true, wide()}});
      case 1:
        return run(ChangeWindow{path_of(path()), {WindowKind::blocked, true, span()}});
      case 2:
        return run(Cancel{last_, {}, {}, {}});
      case 3:
        return below(6) == 0 ? run(Close{path_of(path())}) : run(Open{path_of(path())});
      case 4:
        return run(Commit{last_, {}, {}, {}, {}});
      case 5:
        world_.now = world_.now + Duration{below(3)};
        return;
      default:
        return hold();
    }
  }
  Span wide() {
    const std::int64_t from = below(16);
    return {at_second(from), at_second(from + 6 + below(16))};
  }
  void hold() {
    last_ = Key::trusted("k" + std::to_string(++keys_));
    Hold hold = hold_of(path_of(path()), last_.str().c_str(), span(), 1 + below(2));
    // Some lapse as time goes on.
    hold.expiry.ttl = Duration{below(3) == 0 ? 1 + below(20) : kHour.ms};
    run(std::move(hold));
  }

  std::mt19937 random_;
  World world_;
  Key last_ = Key::trusted("none");
  int keys_ = 0;
};

bool hold_accepted(World& world, const Path& path, Span span, std::int64_t units) {
  return world.would_accept(command_by_app(hold_of(path, "probe", span, units)));
}

// Pieces beside each other cover the span.
bool listed(const std::vector<FreePiece>& pieces, Span span) {
  Instant reached = span.from;
  for (const FreePiece& piece : pieces) {
    if (piece.span.until <= reached) continue;
    if (piece.span.from > reached) return false;
    reached = piece.span.until;
    if (reached >= span.until) return true;
  }
  return false;
}

void check_listing(World& world, const Path& path, std::int64_t units) {
  const auto pieces = availability(
      world.state, {path, {at_second(kBegin), at_second(kEnd)}, Quantity{units}, {}}, world.policy);
  for (std::int64_t from = kBegin; from < kEnd; ++from) {
    for (std::int64_t until = from + 1; until <= kEnd; ++until) {
      const Span span{at_second(from), at_second(until)};
      RC_ASSERT(listed(pieces, span) == hold_accepted(world, path, span, units));
    }
  }
  // The edges are where they are said to be, to the millisecond.
  for (const FreePiece& piece : pieces) {
    RC_ASSERT(piece.free >= units);
    RC_ASSERT(hold_accepted(world, path, piece.span, units));
    const Span earlier{piece.span.from - Duration{1}, piece.span.until};
    const Span later{piece.span.from, piece.span.until + Duration{1}};
    if (earlier.from >= at_second(kBegin)) {
      RC_ASSERT(listed(pieces, earlier) == hold_accepted(world, path, earlier, units));
    }
    if (later.until <= at_second(kEnd)) {
      RC_ASSERT(listed(pieces, later) == hold_accepted(world, path, later, units));
    }
    RC_ASSERT(!hold_accepted(world, path, piece.span, piece.free + 1));
  }
}

// Page after page the same as in one.
void check_pages(World& world, const Path& path, std::int64_t units, std::int64_t seconds) {
  const AvailabilityQuery whole{
      path,
      {at_second(kBegin), at_second(kEnd)},
      Quantity{units},
      seconds > 0 ? std::optional(Duration{seconds * kSecond.ms}) : std::nullopt};
  const auto expected = availability(world.state, whole, world.policy);
  for (std::size_t limit = 1; limit <= 4; ++limit) {
    std::vector<FreePiece> joined;
    AvailabilityQuery query = whole;
    for (;;) {
      const auto page = availability_page(world.state, query, limit, world.policy);
      RC_ASSERT(page.pieces.size() <= limit);
      joined.insert(joined.end(), page.pieces.begin(), page.pieces.end());
      if (!page.rest) break;
      RC_ASSERT(page.rest->window_from > query.window.from);
      query.window.from = page.rest->window_from;
      query.run_from = page.rest->run_from;
    }
    RC_ASSERT(joined == expected);
  }
}

void check_next_free(World& world, const Path& path, std::int64_t units, std::int64_t seconds) {
  const auto found = next_free(
      world.state,
      {path, Duration{seconds * kSecond.ms}, Quantity{units}, {at_second(kBegin), at_second(kEnd)}},
      world.policy);
  // All that happens happens at full seconds: so does the first chance.
  std::optional<Span> first;
  for (std::int64_t from = kBegin; from + seconds <= kEnd && !first; ++from) {
    const Span span{at_second(from), at_second(from + seconds)};
    if (hold_accepted(world, path, span, units)) first = span;
  }
  RC_ASSERT(found.has_value() == first.has_value());
  if (found) RC_ASSERT(found->span == *first);
}

int stories() {
  const char* text = std::getenv("HOLDFAST_STORIES");
  return text == nullptr ? 200 : std::atoi(text);
}

TEST(FreeSpans, AreThoseThatAHoldIsAcceptedOn) {
  for (int hundreds = 0; hundreds < stories(); hundreds += 100) {
    const bool held = rc::check([] {
      const auto seed = *rc::gen::arbitrary<std::uint32_t>().as("seed");
      const int commands = *rc::gen::inRange(0, 40).as("commands");
      Tree tree(seed, commands);
      World& world = tree.world();
      world.state.advance(world.now);
      for (const char* text : kPaths) {
        const Path path = Path::trusted(text);
        for (std::int64_t units = 1; units <= kMostUnits; ++units) {
          check_listing(world, path, units);
          check_next_free(world, path, units, 1 + static_cast<std::int64_t>(seed % 5));
          check_pages(world, path, units, static_cast<std::int64_t>(seed % 6));
        }
      }
    });
    ASSERT_TRUE(held);
  }
}

}  // namespace
}  // namespace holdfast::testing
