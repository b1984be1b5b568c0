#pragma once

#include <CLI/App.hpp>
#include <string>

#include "api/client.h"
#include "tools/cli/options.h"

namespace holdfast::cli {

// Adds the file of steps to the subcommand that the schema gives.
void add_steps(CLI::App& transact, std::string& file);

// Sends a transaction whose steps stand in a file (`-`: stdin), a command in JSON a line, and says
// position by position what became of it. The request's command is filled but for its steps.
Exit run_transact(const Options& options, api::Request request, const std::string& file);

}  // namespace holdfast::cli
