#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/options.h"

namespace holdfast::cli {

CLI::App* add_explain(CLI::App& app, std::string& key);

// The life of one claim, told in order: what happened, by whom, why, how long it stayed so.
Exit run_explain(const Options& options, const std::string& key);

}  // namespace holdfast::cli
