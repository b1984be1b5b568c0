#include "tools/bench/bench_options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "api/text/time_text.h"

namespace holdfast::tools {

namespace {

// How much comes at once, and where.
void add_shape(CLI::App& app, BenchOptions& options) {
  app.add_option("--connections", options.connections)
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "commands in one request")
      ->check(CLI::Range(1, 8'192))
      ->capture_default_str();
  app.add_option("--pipeline", options.pipeline, "requests under way on each connection")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  app.add_option("--parts", options.parts,
                 "spreads the resources of hold and life over so many parts of the tree")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--pool", options.pool, "units of hot's pool; with 1 most holds are refused")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--watchers", options.watchers,
                 "as many more connections, each subscribed to one of the parts")
      ->check(CLI::Range(1, 4'000));
}

}  // namespace

ParsedBench parse_bench_options(int argc, char** argv) {
  ParsedBench parsed;
  BenchOptions& options = parsed.options;
  const std::map<std::string, WorkloadKind> workloads{{"hold", WorkloadKind::hold},
                                                      {"life", WorkloadKind::life},
                                                      {"lookup", WorkloadKind::lookup},
                                                      {"transact", WorkloadKind::transact},
                                                      {"hot", WorkloadKind::hot}};
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
  app.add_option(
         "--workload", workload,
         "hold: each of a resource of its own; life: hold, extend, commit, cancel; lookup: "
         "shows claims of 10,000; transact: transactions of four such holds; hot: holds of one "
         "pool at random times")
      ->check(CLI::IsMember({"hold", "life", "lookup", "transact", "hot"}))
      ->capture_default_str();
  add_shape(app, options);
  auto* seconds = app.add_option("--seconds", options.seconds, "how long (default 10)")
                      ->check(CLI::PositiveNumber);
  app.add_option("--operations", options.operations, "how many commands, instead of how long")
      ->check(CLI::PositiveNumber)
      ->excludes(seconds);
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
  app.add_option("--acks", options.acks,
                 "file to which KEY POSITION is appended for each command as it is acknowledged");
  app.add_flag("--json", options.json, "one JSON object instead of a table");
  try {
    app.parse(argc, argv);
    options.workload = workloads.at(workload);
    if (options.workload == WorkloadKind::lookup && options.batch != 1) {
      throw CLI::ValidationError("--batch", "a lookup is a request of its own: --pipeline N");
    }
    if (options.watchers > options.parts) {
      throw CLI::ValidationError("--watchers", "there must be as many --parts");
    }
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
    return parsed;
  }
  if (!options.seconds && !options.operations) options.seconds = 10;
  return parsed;
}

}  // namespace holdfast::tools
