#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <tl/expected.hpp>

#include "api/client.h"
#include "tools/cli/options.h"
#include "tools/cli/subcommands.h"

namespace holdfast::cli {

struct WatchOptions {
  std::unique_ptr<FieldOptions> subscribe;
  bool until_caught_up = false;
};

CLI::App* add_watch(CLI::App& app, WatchOptions& watch);

// Prints events as they happen until it is interrupted, across lost connections; with --json an
// object a line. The first connection must succeed at once.
Exit run_watch(const Options& options, api::Request request, bool until_caught_up);

}  // namespace holdfast::cli
