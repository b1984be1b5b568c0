#pragma once

#include <rocksdb/file_system.h>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "ledger/store/log_db.h"
#include "ledger/store/watermark.h"

// Opening: what is on disk is compared with what was acknowledged before anything is changed.
namespace holdfast::store {

struct Recovery {
  std::shared_ptr<rocksdb::FileSystem> fs;
  std::string dir;                           // DATA
  bool read_only = false;                    // leaves everything as it is
  std::optional<Position> accept_loss_from;  // the operator's word
  std::string accept_option;                 // how he gives it
};

struct Recovered {
  std::unique_ptr<LogDb> db;
  Survey survey;
  Position last;                       // of the last event
  Instant latest;                      // latest instant known to have been used
  std::optional<Watermark> watermark;  // none: read-only
};

// DESIGN 2: creates a ledger where there is none; refuses, with every file left as it is, when
// the log holds less than the watermark says or something else; begins a new ledger id when told
// to accept exactly that loss.
tl::expected<Recovered, StorageError> recover(const Recovery& recovery);

// Random, for a ledger that begins.
LedgerId fresh_ledger_id();

// Why a log must not be served beside this watermark (none: no file); nothing when it may.
std::optional<std::string> difference(const Survey& log, const std::optional<Mark>& mark);

}  // namespace holdfast::store
