#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/cli/export_file.h"

// A folder that `holdfast backup` fills: exports of the stored bytes, each behind the one before,
// and the public key of their ledger.
namespace holdfast::cli {

struct BackupFolder {
  proof::VerifierKey key;
  std::vector<ExportPart> parts;  // from position 1 on, without a gap; one at least

  Position until() const { return parts.back().manifest.until; }
  // Of the Merkle tree over all of it.
  const Digest& root() const { return parts.back().manifest.root; }
};

// Which file is at fault, and why.
struct BackupFault {
  std::string file;
  ExportFault fault;
};

// Where the public key stands, and the part that begins at a position.
std::string backup_key_file(const std::string& dir);
std::string backup_part_file(const std::string& dir, Position from);

// Nothing where there is no backup yet. The manifests are held against the key and against each
// other; the files themselves are not read.
tl::expected<std::optional<BackupFolder>, BackupFault> read_backup(const std::string& dir);

// Gives all of its events in order. They are to be relied on when it has come to its end without a
// fault. Bounded memory.
tl::expected<void, BackupFault> check_backup(const BackupFolder& backup, const std::string& doing,
                                             const TakeRecord& take);

}  // namespace holdfast::cli
