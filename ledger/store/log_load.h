#pragma once

#include <rocksdb/file_system.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/store/record_log.h"

namespace holdfast::store {

// Makes a ledger of another one's records, in a folder whose server is stopped. It gets an id of
// its own that names the other as its parent, and grows in DATA/loading until it is whole: what
// was broken off is begun anew.
class LogLoad {
 public:
  // `parent`: the ledger whose records come, up to which position, with which root. Fails where
  // the folder has a ledger with events, or had one.
  static tl::expected<LogLoad, StorageError> begin(std::shared_ptr<rocksdb::FileSystem> fs,
                                                   const std::string& dir, const Parent& parent);
  LogLoad(LogLoad&&) = default;

  // The id, where an earlier load of the same has come to its end: nothing is left to do.
  const std::optional<LedgerId>& done() const { return done_; }

  // Records in order, each with the instant it was recorded at. Requires that done() is none.
  tl::expected<void, StorageError> add(std::string_view record, Instant recorded_at);
  // Puts the ledger in its place and gives its id. Fails, with the folder left as it was, when the
  // records do not have the parent's root.
  tl::expected<LedgerId, StorageError> finish();

 private:
  LogLoad(std::shared_ptr<rocksdb::FileSystem> fs, std::string dir, const Parent& parent)
      : fs_(std::move(fs)), dir_(std::move(dir)), parent_(parent) {}

  std::string staging() const { return dir_ + "/loading"; }
  tl::expected<void, StorageError> check_empty();
  std::string empty() const { return staging() + "/empty"; }
  tl::expected<void, StorageError> put_aside_empty();
  tl::expected<void, StorageError> take_place();
  tl::expected<void, StorageError> remove_staging() const;

  std::shared_ptr<rocksdb::FileSystem> fs_;
  std::string dir_;
  Parent parent_;
  std::optional<LedgerId> done_;
  std::unique_ptr<RecordLog> log_;
  std::size_t group_bytes_ = 0;
  Instant latest_;
};

}  // namespace holdfast::store
