#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/options.h"

namespace holdfast::cli {

CLI::App* add_verify(CLI::App& app, std::string& data);

// Reads the whole log of a folder, server or not, and checks it: watermark, hashes, chains.
Exit run_verify(const Options& options, const std::string& data);

}  // namespace holdfast::cli
