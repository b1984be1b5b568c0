#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/options.h"

namespace holdfast::cli {

struct ProveOptions {
  std::string what;      // a claim's key, or a position; or
  std::string resource;  // a path, whose whole history is proved
  std::string out;       // empty: stdout
};

CLI::App* add_prove(CLI::App& app, ProveOptions& options);

// Asks the server for events and their proofs, checks them, and writes a bundle.
Exit run_prove(const Options& options, const ProveOptions& prove);

}  // namespace holdfast::cli
