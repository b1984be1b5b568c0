#include "tools/bench/bench_options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "api/text/time_text.h"

namespace holdfast::tools {

namespace {

struct NamedWorkload {
  WorkloadKind kind;
  std::uint64_t pools;     // where the options do not say
  std::uint64_t standing;  // likewise
  unsigned batch;          // the largest
};

constexpr unsigned kCommands = 8'192;

const std::map<std::string, NamedWorkload> kWorkloads{
    {"hold", {WorkloadKind::hold, 0, 0, kCommands}},
    {"life", {WorkloadKind::life, 0, 0, kCommands}},
    {"hot", {WorkloadKind::hot, 1, 0, kCommands}},
    {"transact", {WorkloadKind::transact, 0, 0, kCommands}},
    {"lookup", {WorkloadKind::lookup, 0, 10'000, 1'000}},
    {"availability", {WorkloadKind::availability, 1, 100, 100}},
    {"history", {WorkloadKind::history, 1, 1'000, 1}},
    {"mixed", {WorkloadKind::mixed, 10, 1'000, kCommands}}};

constexpr const char* kAboutWorkloads =
    "hold: each of a resource of its own, or with --pools of an hour of one of them; "
    "life: hold, extend, commit, cancel; hot: holds of hours of one pool; "
    "transact: transactions of four holds; lookup: shows claims that stand; "
    "availability: free spans of a pool among the hours taken; history: the newest 100 events of "
    "a pool; mixed: of ten requests seven of life, two of lookup, one of availability";

// How much comes at once, and when.
void add_flow(CLI::App& app, BenchOptions& options) {
  app.add_option("--connections", options.connections)
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--batch", options.batch,
                 "commands, lookups or availability queries in one request")
      ->check(CLI::Range(1u, kCommands))
      ->capture_default_str();
  app.add_option("--pipeline", options.pipeline, "requests under way on each connection")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  app.add_option("--rate", options.rate,
                 "commands a second, begun on time whether or not earlier ones are answered; "
                 "latency counts from when each was to begin (default: as fast as answers come)")
      ->check(CLI::PositiveNumber);
  auto* seconds = app.add_option("--seconds", options.seconds, "how long (default 10)")
                      ->check(CLI::PositiveNumber);
  app.add_option("--operations", options.operations, "how many commands, instead of how long")
      ->check(CLI::PositiveNumber)
      ->excludes(seconds);
}

// On what.
void add_objects(CLI::App& app, BenchOptions& options) {
  app.add_option("--pools", options.pools,
                 "resources that many claims share, each for hours of ten years (default: as the "
                 "workload says)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--pool", options.pool, "units of each pool; with 1 many holds are refused")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--skew", options.skew,
                 "how unevenly pools and claims to look up are chosen: the exponent of Zipf's "
                 "law, 0 for evenly, about 1 for what is usual")
      ->check(CLI::Range(0.0, 5.0))
      ->capture_default_str();
  app.add_option("--standing", options.standing,
                 "claims made before the measurement, on the pools where there are any (default: "
                 "lookup 10000, availability 100, history and mixed 1000, else none)")
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--parts", options.parts,
                 "spreads the resources of hold and life over so many parts of the tree")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--holders", options.holders, "how many distinct holders")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--ttl",
         [&](const std::string& text) {
           const auto ttl = api::parse_duration(text);
           if (!ttl) throw CLI::ValidationError("--ttl", ttl.error());
           options.ttl_ms = ttl->ms;
         },
         "time to expiry of the holds, 1d2h30m")
      ->type_name("DURATION")
      ->default_str("10m");
  app.add_option("--left", options.left,
                 "share of life's holds that nothing follows: they are left to expire")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  app.add_option("--watchers", options.watchers,
                 "as many more connections, each subscribed to one of the parts")
      ->check(CLI::Range(1, 4'000));
}

// What CLI11 cannot say of one option alone.
void settle(BenchOptions& options, const NamedWorkload& workload) {
  options.workload = workload.kind;
  if (options.batch > workload.batch) {
    throw CLI::ValidationError("--batch", "of this workload a request has at most " +
                                              std::to_string(workload.batch) + ": --pipeline N");
  }
  if (options.watchers > options.parts) {
    throw CLI::ValidationError("--watchers", "there must be as many --parts");
  }
  if (options.pools == 0) options.pools = workload.pools;
  if (options.standing == 0) options.standing = workload.standing;
  if (options.standing < options.pools && workload.standing > 0) {
    throw CLI::ValidationError("--standing", "there must be at least one claim to each pool");
  }
  if (!options.seconds && !options.operations) options.seconds = 10;
}

}  // namespace

ParsedBench parse_bench_options(int argc, char** argv) {
  ParsedBench parsed;
  BenchOptions& options = parsed.options;
  CLI::App app{
      "holdfast-bench, load for a Holdfast server. Every run takes fresh keys and resources.",
      "holdfast-bench"};
  app.set_version_flag("--version", "holdfast-bench " HOLDFAST_VERSION);
  app.add_option("--server", options.server, "HOST:PORT")
      ->envname("HOLDFAST_SERVER")
      ->capture_default_str();
  app.add_option("--token", options.token, "token, where the server has them")
      ->envname("HOLDFAST_TOKEN");
  std::string workload = "hold";
  app.add_option("--workload", workload, kAboutWorkloads)
      ->check(CLI::IsMember(kWorkloads))
      ->type_name("NAME")
      ->capture_default_str();
  add_flow(app, options);
  add_objects(app, options);
  app.add_option("--acks", options.acks,
                 "file to which KEY POSITION is appended for each command as it is acknowledged");
  app.add_flag("--json", options.json, "one JSON object instead of a table");
  try {
    app.parse(argc, argv);
    settle(options, kWorkloads.at(workload));
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
    return parsed;
  }
  return parsed;
}

}  // namespace holdfast::tools
