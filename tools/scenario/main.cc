#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/scenario/runner.h"

// Runs scenario files against the real ledger and store, with a clock that they set.
namespace holdfast::scenario {
namespace {

std::optional<std::string> contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  return in && !in.bad() ? std::optional(std::move(text)) : std::nullopt;
}

// Lines whose answers differ with the sweep on and off.
void compare(const std::vector<Step>& steps, Run& as_written) {
  const Run on = run_script(steps, SweepMode::always_on, &as_written);
  const Run off = run_script(steps, SweepMode::always_off, &as_written);
  for (const Run* run : {&on, &off}) {
    as_written.failures.insert(as_written.failures.end(), run->failures.begin(),
                               run->failures.end());
  }
  for (const auto& [line, answer] : on.answers) {
    const auto other = off.answers.find(line);
    if (other == off.answers.end() || other->second == answer) continue;
    as_written.failures.push_back({line, "the answer depends on the sweep\n    on:  " + answer +
                                             "\n    off: " + other->second});
  }
}

bool run_file(const std::string& file, bool twice) {
  const auto text = contents(file);
  if (!text) {
    fmt::print("{}: cannot be read\n", file);
    return false;
  }
  const auto steps = parse_script(*text);
  if (!steps) {
    fmt::print("{}:{}: {}\n", file, steps.error().line, steps.error().what);
    return false;
  }
  Run run = run_script(*steps, SweepMode::as_written);
  if (twice) compare(*steps, run);
  for (const Failure& failure : run.failures) {
    fmt::print("{}:{}: {}\n", file, failure.line, failure.what);
  }
  if (run.failures.empty()) fmt::print("{}: ok, {} expectations\n", file, run.expectations);
  return run.failures.empty();
}

}  // namespace
}  // namespace holdfast::scenario

int main(int argc, char** argv) {
  CLI::App app("Runs scenario files against the real ledger and store. Exit 1 if any failed.");
  app.set_version_flag("--version", "holdfast-scenario " HOLDFAST_VERSION);
  std::vector<std::string> files;
  bool twice = false;
  app.add_option("FILE", files, "scenario files")->required();
  app.add_flag("--twice", twice, "run with the sweep on and off too, and compare the answers");
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::warn);
  std::size_t failed = 0;
  for (const std::string& file : files) {
    failed += holdfast::scenario::run_file(file, twice) ? 0 : 1;
    std::fflush(stdout);
  }
  fmt::print("{} passed, {} failed\n", files.size() - failed, failed);
  return failed == 0 ? 0 : 1;
}
