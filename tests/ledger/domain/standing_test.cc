#include "ledger/domain/standing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/ledger/domain/seed.h"
#include "tests/ledger/domain/world.h"

// What is looked up among the claims of one resource, against a scan of all claims.
namespace holdfast::testing {
namespace {

constexpr std::int64_t kHorizon = 40;  // spans lie in the first minutes after kT0

std::vector<std::string> keys(const std::vector<const StandingClaim*>& claims) {
  std::vector<std::string> all;
  for (const StandingClaim* claim : claims) all.push_back(claim->key.str());
  return all;
}

class Pool {
 public:
  explicit Pool(std::uint64_t seed) : random_(seed) {
    turnaround_ = Duration{below(3) * kMinute.ms};
    world.given({"define p capacity=1000 turnaround=" + std::to_string(turnaround_.ms) + "ms"});
  }

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }

  Span any_span() {
    const std::int64_t from = below(kHorizon - 1);
    const std::int64_t until = from + 1 + below(std::min<std::int64_t>(kHorizon - from - 1, 8) + 1);
    return {kT0 + Duration{from * kMinute.ms}, kT0 + Duration{until * kMinute.ms}};
  }

  void step() {
    const std::string key = "k" + std::to_string(below(40));
    switch (below(8)) {
      case 0:
        world.run("release " + key + "");
        break;
      case 1:
        world.run("commit " + key + "");
        break;
      case 2:
        world.run("extend " + key + " ttl=" + std::to_string(1 + below(90)) + "s");
        break;
      case 3:
        world.run("cancel " + key + "");
        break;
      case 4:
        world.now = world.now + Duration{below(5) * kSecond.ms};
        world.state.advance(world.now);
        break;
      default: {
        Command hold = command_of("hold p quantity=" + std::to_string(1 + below(4)) +
                                  " ttl=" + std::to_string(1 + below(60)) + "s");
        auto& action = std::get<Hold>(hold.action);
        action.key = Key::trusted(key + "." + std::to_string(world.log.size()));
        if (world.state.find(key) == nullptr) action.key = Key::trusted(key);
        if (below(10) != 0) action.span = any_span();
        if (!world.run(hold).refusal) all_.push_back(action.key->str());
      }
    }
  }

  std::vector<Claim> live() const {
    std::vector<Claim> claims;
    for (const std::string& key : all_) {
      const auto claim = world.state.claim(key);
      if (claim && !is_ended(claim->state)) claims.push_back(*claim);
    }
    std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
      const Instant from_a = occupied(a.span, {}).from;
      const Instant from_b = occupied(b.span, {}).from;
      return from_a != from_b ? from_a < from_b : a.key < b.key;
    });
    return claims;
  }

  std::vector<std::string> meeting_keys(Span span) const {
    std::vector<std::string> found;
    for (const Claim& claim : live()) {
      if (meets(occupied(claim.span, turnaround_), span)) found.push_back(claim.key.str());
    }
    return found;
  }

  std::int64_t peak(Span span, Instant lapsed) const {
    std::int64_t highest = 0;
    for (Instant t = span.from; t < span.until; t = t + kMinute) {
      std::int64_t units = 0;
      for (const Claim& claim : live()) {
        if (claim.state == ClaimState::held && claim.expires_at <= lapsed) continue;
        if (meets(occupied(claim.span, turnaround_), {t, t + Duration{1}})) {
          units += claim.quantity.units;
        }
      }
      highest = std::max(highest, units);
    }
    return highest;
  }

  std::optional<Instant> room(Span span, std::int64_t allowed) const {
    std::vector<Instant> ends = {world.now};
    for (const Claim& claim : live()) {
      if (claim.state == ClaimState::held) ends.push_back(claim.expires_at);
    }
    std::sort(ends.begin(), ends.end());
    for (const Instant end : ends) {
      if (peak(span, end) <= allowed) return end;
    }
    return std::nullopt;
  }

  // earliest_room moves nothing that can be seen, but asks for what it can change.
  ResourceNode& node() { return *const_cast<ResourceNode*>(world.state.resource("p")); }

  World world;

 private:
  std::mt19937_64 random_;
  Duration turnaround_;
  std::vector<std::string> all_;
};

std::vector<const StandingClaim*> meeting(const ResourceNode& node, Span span, std::size_t limit) {
  std::vector<const StandingClaim*> found;
  visit_meeting(node, span, [&](const StandingClaim& claim) {
    found.push_back(&claim);
    return found.size() < limit;
  });
  return found;
}

TEST(Standing, AgainstAScan) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE(seed_trace(seed));
  for (std::uint64_t round = 0; round < 30; ++round) {
    Pool pool(seed + round);
    for (int step = 0; step < 100; ++step) {
      pool.step();
      const Span span = pool.any_span();
      const std::vector<std::string> expected = pool.meeting_keys(span);
      std::vector<std::string> found = keys(meeting(pool.node(), span, 1000));
      std::sort(found.begin(), found.end());
      std::vector<std::string> sorted = expected;
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(found, sorted);
      ASSERT_EQ(meeting(pool.node(), span, 3).size(), std::min<std::size_t>(3, expected.size()));

      const std::vector<std::string> at = pool.meeting_keys({span.from, span.from + Duration{1}});
      ASSERT_EQ(keys(covering(pool.node(), span.from, 1000)), at);
      ASSERT_EQ(keys(covering(pool.node(), span.from, 2)),
                std::vector<std::string>(at.begin(),
                                         at.begin() + std::min<std::ptrdiff_t>(2, std::ssize(at))));

      const std::int64_t now_peak = pool.peak(span, pool.world.now);
      ASSERT_EQ(pool.node().occupancy.peak(span).units, now_peak);
      if (now_peak > 0) {
        const std::int64_t allowed = pool.below(now_peak);
        ASSERT_EQ(earliest_room(pool.node(), span, allowed), pool.room(span, allowed));
        ASSERT_EQ(pool.node().occupancy.peak(span).units, now_peak) << "nothing has moved";
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::testing
