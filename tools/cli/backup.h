#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/cli/options.h"

namespace holdfast::cli {

struct BackupOptions {
  std::string dir;
  std::string public_key;  // empty: the folder's or, of a new one, what the server says is its own
};

CLI::App* add_backup(CLI::App& app, BackupOptions& options);

// Adds to the folder what the server's log has had since the last backup into it, and checks that
// the log has only grown.
Exit run_backup(const Options& options, const BackupOptions& what);

struct RestoreOptions {
  std::string backup;
  std::string data;
  std::string to;          // empty: all of it; @POSITION, or an instant
  std::string public_key;  // empty: the folder's
  bool dry_run = false;
};

CLI::App* add_restore(CLI::App& app, RestoreOptions& options);

// Makes a ledger of a backup, once all of it is verified, in the folder of a stopped server that
// has none. No server is asked.
Exit run_restore(const Options& options, const RestoreOptions& what);

}  // namespace holdfast::cli
