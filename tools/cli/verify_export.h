#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/export_file.h"
#include "tools/cli/options.h"

namespace holdfast::cli {

struct VerifyExportOptions {
  std::string file;
  std::string manifest;  // empty: beside the file
  std::string public_key;
};

// The options of whoever reads an export.
void add_export_options(CLI::App& sub, VerifyExportOptions& options);
CLI::App* add_verify_export(CLI::App& app, VerifyExportOptions& options);

// Checks a file of `holdfast export` by its manifest and the ledger's public key, without a server.
Exit run_verify_export(const Options& options, const VerifyExportOptions& what);

// Says that the file is not what it should be, or why it could not be read.
Exit print_fault(const Options& options, const std::string& file, const ExportFault& fault);

}  // namespace holdfast::cli
