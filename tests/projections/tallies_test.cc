#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

using Counts = std::map<std::pair<std::string, std::uint32_t>, TallyCounts>;

// What the events say, counted by hand, and what has lapsed by now without an event.
Counts counted(const Bookkeeper& books, const std::string& above) {
  struct Hold {
    std::string path;
    Instant expires_at;
    bool held;
  };
  std::map<std::string, Hold> claims;
  Counts counts;
  const auto at = [&](const std::string& path, Instant instant) -> TallyCounts& {
    return counts[{path, static_cast<std::uint32_t>(instant.ms / 86'400'000)}];
  };
  for (const Event& event : books.events()) {
    const std::string path = event.resource.str();
    Hold* claim = event.key ? &claims[event.key->str()] : nullptr;
    if (const auto* held = std::get_if<Held>(&event.happening)) {
      *claim = {path, held->expires_at, true};
      ++at(path, event.recorded_at).holds;
    } else if (const auto* extended = std::get_if<Extended>(&event.happening)) {
      claim->expires_at = extended->expires_at;
    } else if (const auto* moved = std::get_if<Moved>(&event.happening)) {
      if (moved->to) claim->path = moved->to->str();
    } else if (std::holds_alternative<Committed>(event.happening)) {
      claim->held = false;
      ++at(path, event.recorded_at).commits;
    } else if (const auto* released = std::get_if<Released>(&event.happening)) {
      if (released->remaining.units == 0) claim->held = false;
      ++at(path, event.recorded_at).releases;
    } else if (std::holds_alternative<Cancelled>(event.happening)) {
      ++at(path, event.recorded_at).cancellations;
    } else if (std::holds_alternative<Expired>(event.happening)) {
      claim->held = false;
      ++at(path, claim->expires_at).expiries;
    } else if (std::holds_alternative<Stolen>(event.happening)) {
      if (claim->held && claim->expires_at <= event.recorded_at) {
        ++at(path, claim->expires_at).expiries;
      }
      claim->held = false;
      ++at(path, event.recorded_at).steals;
    }
  }
  for (const auto& [key, claim] : claims) {
    if (claim.held && claim.expires_at <= books.now()) ++at(claim.path, claim.expires_at).expiries;
  }
  std::erase_if(counts, [&](const auto& entry) { return !at_or_below(entry.first.first, above); });
  return counts;
}

Counts asked(const Bookkeeper& books, const Projections& projections, TalliesQuery query) {
  std::vector<Key> unrecorded;
  books.state().visit_unrecorded([&](const StandingClaim& claim) {
    if (at_or_below(claim.resource->path.view(), query.resource)) unrecorded.push_back(claim.key);
    return true;
  });
  Counts counts;
  for (bool more = true; more;) {
    const TallyPage page = value_of(projections.tallies(query, unrecorded, books.now()));
    EXPECT_LE(page.items.size(), query.limit);
    EXPECT_EQ(page.at, books.events().back().position);
    for (const Tally& tally : page.items) {
      EXPECT_TRUE(
          counts.emplace(std::pair(tally.resource.str(), tally.day.number), tally.counts).second);
    }
    more = page.more.has_value();
    query.behind = page.more;
  }
  return counts;
}

void expect_all(const Bookkeeper& books, const Projections& projections) {
  for (const std::string above : {"", "hall", "hall/a", "nowhere"}) {
    for (const std::size_t limit : {3u, 500u}) {
      EXPECT_EQ(asked(books, projections, {.resource = above, .limit = limit}),
                counted(books, above))
          << "'" << above << "' in pages of " << limit;
    }
  }
}

TEST(Tallies, AreWhatTheLogSaysDayByDay) {
  Bookkeeper books(77);
  Running running(books);
  for (int hours = 0; hours < 5 * 24; hours += 3) {
    running.committed(books.busy(40));
    books.pass(Duration{3 * kHour.ms});
  }
  ASSERT_TRUE(running->wait_for(books.events().back().position));
  expect_all(books, *running.projections);
  const auto rebuilt = value_of(running->rebuild([](Position) {}));
  EXPECT_EQ(rebuilt.differences, std::vector<std::string>{});
  expect_all(books, *running.projections);

  // Whenever what has lapsed is recorded.
  const Counts before = asked(books, *running.projections, {.limit = 500});
  running.committed(books.sweep(1'000));
  ASSERT_TRUE(running->wait_for(books.events().back().position));
  EXPECT_EQ(asked(books, *running.projections, {.limit = 500}), before);
}

TEST(Tallies, OfSomeDays) {
  Bookkeeper books(78);
  Running running(books);
  for (int day = 0; day < 5; ++day) {
    running.committed(books.busy(100));
    books.pass(kDay);
  }
  ASSERT_TRUE(running->wait_for(books.events().back().position));
  const Day first = day_of(books.events().front().recorded_at);
  Counts expected = counted(books, "");
  std::erase_if(expected, [&](const auto& entry) {
    return entry.first.second < first.number + 1 || entry.first.second >= first.number + 3;
  });
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(asked(books, *running.projections,
                  {.from = {first.number + 1}, .until = {first.number + 3}, .limit = 7}),
            expected);
}

}  // namespace
}  // namespace holdfast::projections
