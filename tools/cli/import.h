#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/options.h"

namespace holdfast::cli {

struct ImportOptions {
  std::string file;
  bool more = false;     // another file follows
  std::string refusals;  // where to write them; empty: nowhere
};

CLI::App* add_import(CLI::App& app, ImportOptions& import);

// Checks the whole file, then sends it from the line on that the server has not judged yet. Refused
// commands are counted and do not stop it.
Exit run_import(const Options& options, const ImportOptions& import);

}  // namespace holdfast::cli
