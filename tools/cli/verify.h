#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/options.h"

namespace holdfast::cli {

struct VerifyOptions {
  std::string file;        // a bundle, or
  std::string data;        // a ledger's folder
  std::string public_key;  // as holdfast head prints it, or a file with it
  std::string heads;       // file of published heads
};

CLI::App* add_verify(CLI::App& app, VerifyOptions& options);

// Needs no server: reads a bundle, or the whole log of a folder, and checks it.
Exit run_verify(const Options& options, const VerifyOptions& what);

}  // namespace holdfast::cli
