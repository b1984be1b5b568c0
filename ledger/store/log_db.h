#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/store/log_layout.h"
#include "ledger/store/storage_error.h"

namespace holdfast::store {

// What the records beside the events say.
struct Survey {
  Identity identity;
  std::vector<Head> heads;  // of the last groups, newest first; never empty
  std::optional<ImportProgress> import;
};

// The RocksDB in DATA/ledger with its families. Closed when it goes.
class LogDb {
 public:
  // Changes no byte on disk, takes no lock. RocksDB's word when it refuses.
  static tl::expected<std::unique_ptr<LogDb>, StorageError> open_read_only(
      const std::shared_ptr<rocksdb::FileSystem>& fs, const std::string& dir);
  static tl::expected<std::unique_ptr<LogDb>, StorageError> open(
      const std::shared_ptr<rocksdb::FileSystem>& fs, const std::string& dir);
  // Makes an empty log that appears in `dir` all at once, whatever happens meanwhile.
  static tl::expected<void, StorageError> create(const std::shared_ptr<rocksdb::FileSystem>& fs,
                                                 const std::string& dir, const Identity& identity,
                                                 Instant latest);

  LogDb(const LogDb&) = delete;
  LogDb& operator=(const LogDb&) = delete;
  ~LogDb();

  // Reads the records and checks that the last event is the head's, so that nothing lies beyond.
  tl::expected<Survey, StorageError> survey() const;
  // Reads the records.
  tl::expected<Survey, StorageError> unchecked_survey() const;
  // Position of the last event there is; 0: none.
  tl::expected<Position, StorageError> last_event() const;

  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* events() const { return families_[0]; }
  rocksdb::ColumnFamilyHandle* meta() const { return families_[1]; }
  // Null: opened read-only, of a ledger that no version with it has opened for writing yet.
  rocksdb::ColumnFamilyHandle* tree() const {
    return families_.size() > 2 ? families_[2] : nullptr;
  }

 private:
  LogDb() = default;
  static tl::expected<std::unique_ptr<LogDb>, StorageError> open_at(
      const std::shared_ptr<rocksdb::FileSystem>& fs, const std::string& path, bool read_only,
      bool create);

  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

// Makes the names in the folder last.
tl::expected<void, StorageError> sync_directory(rocksdb::FileSystem& fs, const std::string& dir);

// DATA/ledger.
std::string log_path(const std::string& dir);

}  // namespace holdfast::store
