#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "tools/cli/options.h"

namespace holdfast::cli {

struct TokenOptions {
  std::string actor;
  std::string role;
  std::vector<std::string> paths;
  bool all_paths = false;
};

CLI::App* add_token(CLI::App& app, TokenOptions& token);

// Makes a token up and prints it, with the line for the server's token file. Asks no server.
Exit run_token(const Options& options, const TokenOptions& token);

}  // namespace holdfast::cli
