// What the core's parts cost, each against what it may depend on. Google Benchmark:
//
//   core_bench [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include <string>

#include "projections/row_filter.h"
#include "tests/bench/core_work.h"

namespace holdfast::bench {
namespace {

void repeat(benchmark::State& run, auto work) {
  for (auto _ : run) {
    work();
    benchmark::ClobberMemory();
  }
}

// Admission: two decisions, and their folds.
void hold_and_release(benchmark::State& run) {
  repeat(run, HoldAndRelease(run.range(0), run.range(1) != 0));
}
BENCHMARK(hold_and_release)
    ->ArgNames({"claims", "spans"})
    ->ArgsProduct({{10, 10'000, 1'000'000}, {0, 1}});

void fold_hold_and_release(benchmark::State& run) { repeat(run, Fold(run.range(0))); }
BENCHMARK(fold_hold_and_release)->ArgName("claims")->Arg(10)->Arg(10'000)->Arg(1'000'000);

void encode(benchmark::State& run) { repeat(run, Encode()); }
BENCHMARK(encode);

void decode(benchmark::State& run) { repeat(run, Decode()); }
BENCHMARK(decode);

void hash(benchmark::State& run) { repeat(run, Hash(static_cast<std::size_t>(run.range(0)))); }
BENCHMARK(hash)->ArgName("bytes")->Arg(64)->Arg(256)->Arg(1'024)->Arg(4'096);

void occupy(benchmark::State& run) { repeat(run, Occupy(run.range(0))); }
BENCHMARK(occupy)->ArgName("claims")->Arg(10)->Arg(10'000)->Arg(1'000'000);

// Is this key new, among so many old ones.
void new_key(benchmark::State& run) {
  using projections::RowFilter;
  RowFilter filter(1 << 16);
  for (std::int64_t i = 0; i < run.range(0); ++i) {
    filter.add(RowFilter::row(1, "old-key-" + std::to_string(i)));
  }
  filter.complete();
  std::uint64_t asked = 0;
  std::uint64_t passed = 0;
  for (auto _ : run) {
    passed += filter.may_have(RowFilter::row(1, "new-key-" + std::to_string(++asked))) ? 1 : 0;
  }
  run.counters["wrongly_thought_old"] = static_cast<double>(passed) / static_cast<double>(asked);
}
BENCHMARK(new_key)->ArgName("old_keys")->Arg(10'000)->Arg(1'000'000)->Arg(20'000'000);

}  // namespace
}  // namespace holdfast::bench

BENCHMARK_MAIN();
