#include <gtest/gtest.h>

#include <random>

#include "ledger/domain/admission.h"
#include "ledger/domain/availability.h"
#include "ledger/domain/resource_list.h"
#include "tests/ledger/domain/seed.h"
#include "tests/ledger/domain/world.h"

namespace holdfast::testing {
namespace {

constexpr std::int64_t kEnd = 24;  // claims and windows lie in the first milliseconds

// A tree of wholes and parts with windows, turnarounds and claims, so crowded that most of it is
// taken.
class Crowded {
 public:
  explicit Crowded(std::uint64_t seed) : random_(seed) {
    for (const char* path : {"t", "t/a", "t/a/1", "t/a/2"}) {
      world.given({"define " + std::string(path) + " capacity=" + std::to_string(1 + below(3)) +
                   " turnaround=" + std::to_string(below(4)) + "ms" +
                   (below(3) == 0 ? " parts=true" : "")});
    }
    for (std::int64_t n = below(4); n > 0; --n) add_window(WindowKind::hours, 12);
    for (std::int64_t n = below(3); n > 0; --n) add_window(WindowKind::blocked, 3);
    for (int n = 0; n < 8; ++n) {
      Command hold = command_of("hold " + any_path() + (below(9) == 0 ? " ttl=1s" : " ttl=1h"));
      auto& action = std::get<Hold>(hold.action);
      if (below(12) != 0) action.span = any_span(5);
      action.quantity = {1 + below(2)};
      world.run(hold);
    }
    world.now = kT0 + Duration{2'000};
    world.state.advance(world.now);
  }

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  std::string any_path() {
    static const char* const kPaths[] = {"t", "t/a", "t/a/1", "t/a/2", "t/a/1/undefined"};
    return kPaths[below(5)];
  }
  Span any_span(std::int64_t longest) {
    const std::int64_t from = below(kEnd);
    return {kT0 + Duration{from}, kT0 + Duration{from + 1 + below(longest)}};
  }
  bool accepts(const std::string& path, Span span, std::int64_t quantity) {
    Command hold = command_of("hold " + path);
    std::get<Hold>(hold.action).span = span;
    std::get<Hold>(hold.action).quantity = {quantity};
    return world.would_accept(hold);
  }

  World world;

 private:
  void add_window(WindowKind kind, std::int64_t longest) {
    Command command = command_of("open " + any_path());
    const Path path = std::get<Open>(command.action).resource;
    command.action = ChangeWindow{path, {kind, true, any_span(longest)}};
    world.run(command);
  }

  std::mt19937_64 random_;
};

// The earliest span that a hold is accepted on, to the millisecond, found by trying all of them.
TEST(NextFree, IsTheEarliestThatAHoldIsAcceptedOn) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE(seed_trace(seed));
  int found = 0;
  int later = 0;
  for (std::uint64_t round = 0; round < 300; ++round) {
    Crowded crowded(seed + round);
    for (int question = 0; question < 8; ++question) {
      const std::string path = crowded.any_path();
      const Duration duration{1 + crowded.below(6)};
      const std::int64_t quantity = 1 + crowded.below(3);
      const Span within{kT0 + Duration{crowded.below(kEnd)}, kT0 + Duration{kEnd + 20}};
      std::optional<Span> expected;
      for (Instant t = within.from; !expected && t + duration <= within.until;
           t = t + Duration{1}) {
        const Span span{t, t + duration};
        if (crowded.accepts(path, span, quantity)) expected = span;
      }
      const auto piece =
          next_free(crowded.world.state, {Path::trusted(path), duration, {quantity}, within},
                    crowded.world.policy);
      ASSERT_EQ(piece ? std::optional(piece->span) : std::nullopt, expected)
          << path << " x" << quantity << " for " << duration.ms << " from "
          << (within.from - kT0).ms << " in round " << round;
      if (!piece) continue;
      ++found;
      if (piece->span.from > within.from) ++later;
      EXPECT_TRUE(crowded.accepts(path, piece->span, piece->free));
      EXPECT_FALSE(crowded.accepts(path, piece->span, piece->free + 1));
    }
  }
  EXPECT_GT(found, 500);
  EXPECT_GT(later, 200) << "not all of it at once";
}

TEST(ResourceList, ListsExactlyWhatAHoldIsAcceptedOn) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE(seed_trace(seed));
  int listed = 0;
  int left_out = 0;
  for (std::uint64_t round = 0; round < 300; ++round) {
    Crowded crowded(seed + round);
    const Span span = crowded.any_span(6);
    const std::int64_t quantity = 1 + crowded.below(3);
    const ResourceList list = list_resources(
        crowded.world.state,
        {.resource = "t", .span = span, .at_least = quantity, .limit = 10, .most_visited = 10},
        crowded.world.policy, crowded.world.now);
    std::vector<std::string> expected;
    for (const char* path : {"t", "t/a", "t/a/1", "t/a/2"}) {
      if (crowded.accepts(path, span, quantity)) expected.push_back(path);
    }
    std::vector<std::string> got;
    for (const ListedResource& resource : list.resources) {
      got.push_back(resource.path.str());
      EXPECT_TRUE(crowded.accepts(resource.path.str(), span, resource.free));
      EXPECT_FALSE(crowded.accepts(resource.path.str(), span, resource.free + 1));
    }
    ASSERT_EQ(got, expected) << "in round " << round;
    listed += static_cast<int>(got.size());
    left_out += static_cast<int>(4 - got.size());
  }
  EXPECT_GT(listed, 100);
  EXPECT_GT(left_out, 100);
}

std::string paths(const World& world, const ResourcesQuery& query) {
  const ResourceList list = list_resources(world.state, query, world.policy, world.now);
  std::string text;
  for (const ListedResource& resource : list.resources) text += resource.path.str() + " ";
  return text + "| " + list.more;
}

TEST(ResourceList, GoesOnBehindWhatWasLookedAt) {
  World w;
  w.given(
      {"define a", "define a-b", "define a/1", "define a/2 capacity=2", "define a/3", "define b"});
  EXPECT_EQ(paths(w, {.resource = "a"}), "a a/1 a/2 a/3 | ");
  EXPECT_EQ(paths(w, {}), "a a-b a/1 a/2 a/3 b | ");
  EXPECT_EQ(paths(w, {.resource = "a", .limit = 2}), "a a/1 | a/1");
  EXPECT_EQ(paths(w, {.resource = "a", .after = "a", .limit = 2}), "a/1 a/2 | a/2");
  EXPECT_EQ(paths(w, {.resource = "a", .after = "a-b", .limit = 4}), "a/1 a/2 a/3 | ");
  EXPECT_EQ(paths(w, {.resource = "a", .after = "a/2", .limit = 1}), "a/3 | ");
  EXPECT_EQ(paths(w, {.resource = "a", .after = "b"}), "| ");
  EXPECT_EQ(paths(w, {.after = "a/3"}), "b | ");
  EXPECT_EQ(paths(w, {.resource = "a", .through = "a/1"}), "a a/1 | ");
  EXPECT_EQ(paths(w, {.at_least = 2, .most_visited = 3}), "| a/1");
  EXPECT_EQ(paths(w, {.at_least = 2, .after = "a/1", .most_visited = 3}), "a/2 | ");
  EXPECT_EQ(paths(w, {.resource = "c"}), "| ");
}

TEST(ResourceList, CountsTheLiveClaimsOfEach) {
  World w;
  w.given({"define p capacity=5", "define p/1", "hold p key=a ttl=1s", "hold p key=b ttl=1h",
           "hold p/1 key=c ttl=1h", "commit b holder=app"});
  const auto claims = [&] {
    w.state.advance(w.now);
    const auto list = list_resources(w.state, {}, w.policy, w.now).resources;
    return std::pair(list.at(0).claims, list.at(1).claims);
  };
  EXPECT_EQ(claims(), std::pair(2L, 1L));
  w.given({"at 1s"});
  EXPECT_EQ(claims(), std::pair(1L, 1L)) << "lapsed";
  w.given({"cancel b holder=app", "release c holder=app"});
  EXPECT_EQ(claims(), std::pair(0L, 0L));
}

}  // namespace
}  // namespace holdfast::testing
