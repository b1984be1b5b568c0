#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::tools {

enum class WorkloadKind : std::uint8_t {
  hold,          // holds, each of a resource of its own, or of an hour of a pool
  life,          // hold, extend, commit, cancel of the same claims
  hot,           // holds of one hour at a random time, all of one pool
  transact,      // transactions of four holds
  lookup,        // shows claims that stand
  availability,  // free spans of a resource
  history,       // the newest 100 events of a resource
  mixed,         // of ten requests seven of life, two of lookup, one of availability
};

struct BenchOptions {
  std::string server = "127.0.0.1:7420";
  std::string token;
  WorkloadKind workload = WorkloadKind::hold;
  unsigned connections = 1;
  unsigned batch = 1;             // commands or queries in one request
  unsigned pipeline = 1;          // requests of one connection under way
  std::optional<double> rate;     // commands a second, whatever the answers do; none: closed loop
  std::optional<double> seconds;  // one of the two
  std::optional<std::uint64_t> operations;
  std::uint64_t holders = 10'000;
  std::int64_t ttl_ms = 600'000;
  double left = 0;             // share of life's holds that are left to expire
  std::uint64_t parts = 0;     // of the tree, over which resources of their own are spread
  std::uint64_t pools = 0;     // resources that many claims share; 0: the workload's own number
  double skew = 0;             // Zipf's exponent for pools and for claims looked up; 0: uniform
  std::uint64_t standing = 0;  // claims before the measurement; 0: the workload's own number
  std::int64_t pool = 1'000'000'000;  // units of a pool; few: most holds are refused
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
