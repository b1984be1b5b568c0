// What queries cost on the writer's thread, against the claims on one resource. Google Benchmark:
//
//   queries_bench [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include <string>

#include "ledger/domain/availability.h"
#include "ledger/domain/resource_list.h"
#include "ledger/domain/state.h"
#include "tests/bench/crowd.h"

namespace holdfast {
namespace {

using bench::crowded;
using bench::kBegin;
using bench::kYear;

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
