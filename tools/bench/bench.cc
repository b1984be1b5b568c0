#include <fmt/format.h>
#include <algorithm>
#include <exception>

#include "tools/bench/load.h"

// Load for a server: how many commands a second, how long they take.
namespace holdfast::tools {

namespace {

struct Percentile {
  double share;
  const char* name;
  const char* key;  // in JSON
};
constexpr Percentile kPercentiles[] = {{0.5, "p50", "p50_us"},
                                       {0.9, "p90", "p90_us"},
                                       {0.99, "p99", "p99_us"},
                                       {0.999, "p99.9", "p999_us"},
                                       {0.9999, "p99.99", "p9999_us"}};

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

void print_latency_json(const Histogram& latency) {
  for (const auto& [share, name, key] : kPercentiles) {
    fmt::print("\"{}\": {:.1f}, ", key, microseconds(latency.percentile(share)));
  }
  fmt::print("\"max_us\": {:.1f}, \"requests\": {}", microseconds(latency.largest()),
             latency.total());
}

// The percentiles of a run of queries only are theirs.
void print_json(const BenchOptions& options, const LoadResult& result) {
  const bool commands = result.command_ns.total() > 0;
  fmt::print("{{\"operations_per_s\": {:.1f}, ",
             static_cast<double>(result.operations()) / result.seconds);
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
      result.operations(), result.refused, result.errors, result.unsent, result.watched,
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
  for (const auto& [share, name, key] : kPercentiles) {
    fmt::print(" {} {:.0f},", name, microseconds(latency.percentile(share)));
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
  fmt::print("accepted   {:>12}   {:.0f} a second for {:.1f} s\n", result.operations(),
             static_cast<double>(result.operations()) / result.seconds, result.seconds);
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
