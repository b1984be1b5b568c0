#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ledger/domain/state.h"

// A resource, `room`, on which many bookings stand.
namespace holdfast::bench {

inline constexpr Instant kBegin{1'767'225'600'000};  // 2026-01-01T00:00:00Z
inline constexpr Duration kYear{366 * kDay.ms};

// One of `claims` that begin one after the other through the year, each half as long again as it
// is to the next one's begin: one or two stand at every instant.
inline Claim booking(std::int64_t number, std::int64_t claims) {
  const Duration distance{kYear.ms / claims};
  const Instant from = kBegin + Duration{number * distance.ms};
  return Claim{.key = Key::trusted("k" + std::to_string(number)),
               .resource = Path::trusted("room"),
               .span = Span{from, from + Duration{distance.ms * 3 / 2}},
               .quantity = {1},
               .holder = Holder::trusted("ann"),
               .cart = {},
               .label = {},
               .state = ClaimState::committed,
               .held_at = kBegin,
               .expires_at = kBegin,
               .version = Position{static_cast<std::uint64_t>(number) + 2}};
}

inline State crowded(std::int64_t claims, std::int64_t capacity, Duration turnaround) {
  State state;
  state.restore_definition(
      Path::trusted("room"),
      Resource{.definition = {.capacity = {capacity}, .turnaround = turnaround}});
  std::vector<std::int64_t> order(static_cast<std::size_t>(claims));
  for (std::int64_t i = 0; i < claims; ++i) order[static_cast<std::size_t>(i)] = i;
  // In the order of a busy year, not of the calendar.
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (const std::int64_t number : order) state.restore_claim(booking(number, claims));
  return state;
}

}  // namespace holdfast::bench
