#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/event_filter.h"
#include "tools/cli/options.h"

namespace holdfast::cli {

struct ExportOptions {
  std::string out;       // `-`: standard output
  std::string manifest;  // empty: beside the file; of standard output none
  std::string format = "jsonl";
  bool bytes = false;  // format bytes
  std::uint64_t from = 1;
  std::optional<std::uint64_t> until;
  std::string public_key;  // empty: what the server says is its own
  EventFilter filter;
};

CLI::App* add_export(CLI::App& app, ExportOptions& options);

// Writes the events of the log, as it is when it begins, to a file, and checks meanwhile that they
// are the log that a signed head states.
Exit run_export(const Options& options, const ExportOptions& what);

}  // namespace holdfast::cli
