#include <fmt/format.h>
#include <algorithm>
#include <exception>
#include <iterator>

#include "tools/bench/load.h"

// Load for a server: how many commands a second, how long they take.
namespace holdfast::tools {

namespace {

constexpr double kShares[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
constexpr const char* kNames[] = {"p50", "p90", "p99", "p99.9", "p99.99"};
constexpr const char* kKeys[] = {"p50_us", "p90_us", "p99_us", "p999_us", "p9999_us"};

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

std::uint64_t operations(const LoadResult& result) { return result.accepted + result.queries; }

void print_latency_json(const Histogram& latency) {
  for (std::size_t i = 0; i < std::size(kShares); ++i) {
    fmt::print("\"{}\": {:.1f}, ", kKeys[i], microseconds(latency.percentile(kShares[i])));
  }
  fmt::print("\"max_us\": {:.1f}, \"requests\": {}", microseconds(latency.largest()),
             latency.total());
}

// The percentiles of a run of queries only are theirs.
void print_json(const BenchOptions& options, const LoadResult& result) {
  const bool commands = result.command_ns.total() > 0;
  fmt::print("{{\"operations_per_s\": {:.1f}, ",
             static_cast<double>(operations(result)) / result.seconds);
  print_latency_json(commands ? result.command_ns : result.query_ns);
  if (commands && result.query_ns.total() > 0) {
    fmt::print(", \"queries\": {{");
    print_latency_json(result.query_ns);
    fmt::print("}}");
  }
  fmt::print(
      ", \"operations\": {}, \"refused\": {}, \"errors\": {}, \"unsent\": {}, \"watched\": {}, "
      "\"seconds\": {:.3f}, \"connections\": {}, \"batch\": {}, \"pipeline\": {}, "
      "\"by_second\": [",
      operations(result), result.refused, result.errors, result.unsent, result.watched,
      result.seconds, options.connections, options.batch, options.pipeline);
  const char* separator = "";
  for (const Second& second : result.by_second) {
    fmt::print("{}{{\"accepted\": {}, \"p99_us\": {:.1f}}}", separator, second.accepted,
               microseconds(second.p99_ns));
    separator = ", ";
  }
  fmt::print("]}}\n");
}

void print_latency(const char* what, const Histogram& latency) {
  if (latency.total() == 0) return;
  fmt::print("{} answered in microseconds:", what);
  for (std::size_t i = 0; i < std::size(kShares); ++i) {
    fmt::print(" {} {:.0f},", kNames[i], microseconds(latency.percentile(kShares[i])));
  }
  fmt::print(" longest {:.0f}\n", microseconds(latency.largest()));
}

void print_seconds(std::vector<Second> seconds) {
  if (seconds.size() < 2) return;
  std::sort(seconds.begin(), seconds.end(),
            [](const Second& a, const Second& b) { return a.accepted < b.accepted; });
  fmt::print("by second: least {}, median {}, most {}\n", seconds.front().accepted,
             seconds[seconds.size() / 2].accepted, seconds.back().accepted);
}

void print_table(const BenchOptions& options, const LoadResult& result) {
  fmt::print("{} connections, {} requests under way on each, {} commands in each\n",
             options.connections, options.pipeline, options.batch);
  fmt::print("accepted   {:>12}   {:.0f} a second for {:.1f} s\n", operations(result),
             static_cast<double>(operations(result)) / result.seconds, result.seconds);
  fmt::print("refused    {:>12}\n", result.refused);
  fmt::print("errors     {:>12}\n", result.errors);
  if (options.rate) fmt::print("unsent     {:>12}   due, and not begun in time\n", result.unsent);
  if (options.watchers > 0) fmt::print("watched    {:>12}\n", result.watched);
  print_seconds(result.by_second);
  print_latency("requests with commands", result.command_ns);
  print_latency("queries", result.query_ns);
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
