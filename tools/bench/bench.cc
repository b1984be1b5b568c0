#include <fmt/format.h>
#include <exception>

#include "tools/bench/load.h"

// Load for a server: how many commands a second, how long they take.
namespace holdfast::tools {

namespace {

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

void print_json(const BenchOptions& options, const LoadResult& result) {
  const Histogram& latency = result.latency_ns;
  fmt::print(
      "{{\"operations_per_s\": {:.1f}, \"p50_us\": {:.1f}, \"p90_us\": {:.1f}, \"p99_us\": {:.1f}, "
      "\"max_us\": {:.1f}, \"operations\": {}, \"refused\": {}, \"errors\": {}, \"requests\": {}, "
      "\"watched\": {}, "
      "\"seconds\": {:.3f}, \"connections\": {}, \"batch\": {}, \"pipeline\": {}}}\n",
      static_cast<double>(result.accepted) / result.seconds, microseconds(latency.percentile(0.50)),
      microseconds(latency.percentile(0.90)), microseconds(latency.percentile(0.99)),
      microseconds(latency.largest()), result.accepted, result.refused, result.errors,
      result.requests, result.watched, result.seconds, options.connections, options.batch,
      options.pipeline);
}

void print_table(const BenchOptions& options, const LoadResult& result) {
  const Histogram& latency = result.latency_ns;
  fmt::print("{} connections, {} requests under way on each, {} commands in each\n",
             options.connections, options.pipeline, options.batch);
  fmt::print("accepted   {:>12}   {:.0f} a second for {:.1f} s\n", result.accepted,
             static_cast<double>(result.accepted) / result.seconds, result.seconds);
  fmt::print("refused    {:>12}\n", result.refused);
  fmt::print("errors     {:>12}\n", result.errors);
  if (options.watchers > 0) fmt::print("watched    {:>12}\n", result.watched);
  fmt::print("answers in microseconds: p50 {:.0f}, p90 {:.0f}, p99 {:.0f}, longest {:.0f}\n",
             microseconds(latency.percentile(0.50)), microseconds(latency.percentile(0.90)),
             microseconds(latency.percentile(0.99)), microseconds(latency.largest()));
}

int run(const BenchOptions& options) {
  const auto result = Load(options).run();
  if (!result) {
    fmt::print(stderr, "holdfast-bench: {}\n", result.error());
    return 2;
  }
  if (options.json) {
    print_json(options, *result);
  } else {
    print_table(options, *result);
  }
  if (result->errors == 0) return 0;
  fmt::print(stderr, "holdfast-bench: {}\n", result->first_error);
  return 2;
}

}  // namespace

}  // namespace holdfast::tools

int main(int argc, char** argv) {
  try {
    const auto parsed = holdfast::tools::parse_bench_options(argc, argv);
    return parsed.exit_code ? *parsed.exit_code : holdfast::tools::run(parsed.options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast-bench: {}\n", error.what());
    return 2;
  }
}
