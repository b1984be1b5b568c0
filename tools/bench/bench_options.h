#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::tools {

enum class WorkloadKind : std::uint8_t {
  hold,      // holds, each of a resource of its own
  life,      // hold, extend, commit, cancel of the same claims
  lookup,    // shows random claims of 10,000
  transact,  // transactions of four such holds
  hot,       // holds of one hour at a random time, all of one pool
};

struct BenchOptions {
  std::string server = "127.0.0.1:7420";
  std::string token;
  WorkloadKind workload = WorkloadKind::hold;
  unsigned connections = 1;
  unsigned batch = 1;             // commands in one request
  unsigned pipeline = 1;          // requests of one connection under way
  std::optional<double> seconds;  // one of the two
  std::optional<std::uint64_t> operations;
  std::uint64_t holders = 10'000;
  std::int64_t ttl_ms = 600'000;
  std::uint64_t parts = 0;  // of the tree, over which resources of their own are spread; 0: flat
  std::int64_t pool = 1'000'000'000;  // units of hot's pool; few: most holds are refused
  unsigned watchers = 0;              // each subscribed to a part of its own
  std::string acks;                   // file; empty: none
  bool json = false;
};

struct ParsedBench {
  BenchOptions options;
  std::optional<int> exit_code;  // the program is not to run
};
ParsedBench parse_bench_options(int argc, char** argv);

}  // namespace holdfast::tools
