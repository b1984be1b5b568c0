#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "ledger/domain/availability.h"
#include "tests/ledger/domain/world.h"

namespace holdfast::testing {
namespace {

// Units come back by every way in which claims end, exactly as many as were taken.
TEST(Counter, IsTheSumOfLiveClaimsAfterAnyCommands) {
  constexpr int kCommands = 100'000;
  constexpr int kKeys = 40;  // the last ones made up
  World world;
  std::mt19937 random(17);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  int keys = 0;
  std::size_t refused = 0;
  const auto any_key = [&] { return "k" + std::to_string(keys - below(kKeys)); };
  const auto command = [&]() -> std::string {
    switch (below(12)) {
      case 0:
        return "release " + any_key() + " holder=ann";
      case 1:
        return "release " + any_key() + " holder=ann quantity=1";
      case 2:
        return "commit " + any_key() + " holder=ann quantity=" + std::to_string(1 + below(3));
      case 3:
        return "cancel " + any_key() + " holder=ann";
      case 4:
        return "cancel " + any_key() + " holder=ann quantity=1";
      case 5:
        return "steal " + any_key() + " from-holder=ann holder=ann key=k" + std::to_string(++keys);
      case 6:
        return "extend " + any_key() + " holder=ann ttl=2s";
      case 7:
        if (below(400) == 0) return "retire p force=true reason=test";
        return "define p capacity=10";
      default:
        return "hold p key=k" + std::to_string(++keys) +
               " holder=ann ttl=" + std::to_string(1 + below(3)) +
               "s quantity=" + std::to_string(1 + below(4));
    }
  };
  for (int i = 0; i < kCommands; ++i) {
    world.now = world.now + Duration{below(100)};
    if (world.run(command()).substr(0, 2) != "ok") ++refused;
    if (below(50) == 0) world.sweep(static_cast<std::size_t>(below(20)));
    if (i % 100 != 0 || world.state.definition("p") == nullptr) continue;
    world.state.advance(world.now);
    std::int64_t taken = 0;
    world.state.visit_subtree({}, [&](const StandingClaim& claim) {
      taken += claim.quantity;
      return true;
    });
    ASSERT_EQ(free_at(world.state, Path::trusted("p"), world.now, world.policy), 10 - taken)
        << "after " << i << " commands";
  }
  // All of it was tried, and much of it done.
  EXPECT_GT(refused, kCommands / 10u);
  EXPECT_LT(refused, kCommands * 9u / 10u);
}

}  // namespace
}  // namespace holdfast::testing
