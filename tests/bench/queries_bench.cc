// What queries cost on the writer's thread, against the claims on one resource. Google Benchmark:
//
//   queries_bench [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ledger/domain/availability.h"
#include "ledger/domain/resource_list.h"
#include "ledger/domain/state.h"

namespace holdfast {
namespace {

constexpr Instant kBegin{1'767'225'600'000};  // 2026-01-01T00:00:00Z
constexpr Duration kYear{366 * kDay.ms};

// A booking, one of `claims` that begin one after the other through the year, each half as long
// again as it is to the next one's begin: one or two stand at every instant.
Claim booking(std::int64_t number, std::int64_t claims) {
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

State crowded(std::int64_t claims, std::int64_t capacity, Duration turnaround) {
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

void availability_of_a_year(benchmark::State& run) {
  const State state = crowded(run.range(0), 3, Duration{run.range(1) * kMinute.ms});
  const AvailabilityQuery query{Path::trusted("room"), {kBegin, kBegin + kYear}, {1}, {}};
  std::size_t pieces = 0;
  for (auto _ : run) {
    const auto found = availability(state, query, {});
    pieces = found.size();
    benchmark::DoNotOptimize(found.data());
  }
  run.counters["pieces"] = static_cast<double>(pieces);
}
BENCHMARK(availability_of_a_year)
    ->ArgNames({"claims", "turnaround_min"})
    ->ArgsProduct({{10, 10'000, 100'000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

// The first page of the same, as the server answers it.
void page_of_a_year(benchmark::State& run) {
  const State state = crowded(run.range(0), 3, kMinute);
  const AvailabilityQuery query{Path::trusted("room"), {kBegin, kBegin + kYear}, {1}, {}};
  for (auto _ : run) {
    const auto page = availability_page(state, query, 10'000, {});
    benchmark::DoNotOptimize(page.pieces.data());
  }
}
BENCHMARK(page_of_a_year)
    ->ArgName("claims")
    ->Arg(10)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMicrosecond);

// With room beside the claims the next free span is right there, without it is behind all of them.
void next_free_of_an_hour(benchmark::State& run) {
  const State state = crowded(run.range(0), run.range(1), Duration{0});
  const NextFreeQuery query{
      Path::trusted("room"), kHour, {1}, {kBegin + kDay, kBegin + Duration{3 * kYear.ms}}};
  for (auto _ : run) benchmark::DoNotOptimize(next_free(state, query, {}));
}
BENCHMARK(next_free_of_an_hour)
    ->ArgNames({"claims", "capacity"})
    ->ArgsProduct({{10, 10'000, 100'000}, {3, 1}})
    ->Unit(benchmark::kMicrosecond);

void page_of_resources(benchmark::State& run) {
  State state;
  for (int i = 0; i < 100'000; ++i) {
    state.restore_definition(Path::trusted("hall/" + std::to_string(100'000 + i)), Resource{});
  }
  const ResourcesQuery query{.resource = "hall",
                             .span = Span{kBegin, kBegin + kHour},
                             .after = "hall/150000",
                             .limit = static_cast<std::size_t>(run.range(0)),
                             .most_visited = 1'000};
  for (auto _ : run) benchmark::DoNotOptimize(list_resources(state, query, {}, kBegin));
}
BENCHMARK(page_of_resources)->ArgName("resources")->Arg(500)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace holdfast

BENCHMARK_MAIN();
