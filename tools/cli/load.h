#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/options.h"
#include "tools/cli/verify_export.h"

namespace holdfast::cli {

struct LoadOptions {
  VerifyExportOptions from;
  std::string data;
};

CLI::App* add_load(CLI::App& app, LoadOptions& options);

// Makes a ledger of an export of stored bytes, once all of it is verified, in the folder of a
// stopped server that has none. No server is asked.
Exit run_load(const Options& options, const LoadOptions& what);

}  // namespace holdfast::cli
