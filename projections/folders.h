#pragma once

#include <rocksdb/file_system.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "ledger/store/log.h"

// DATA/projections: a folder for each generation, named by its number, and the file CURRENT, which
// names the one in use. Anything else there is left from a rebuild that was cut off.
namespace holdfast::projections {

// Deletes the folder and the files in it.
rocksdb::IOStatus remove_folder(rocksdb::FileSystem& fs, const std::string& dir);

class Folders {
 public:
  Folders(std::shared_ptr<rocksdb::FileSystem> fs, const std::string& data_dir)
      : fs_(std::move(fs)), dir_(data_dir + "/projections") {}

  const std::shared_ptr<rocksdb::FileSystem>& fs() const { return fs_; }
  std::string of(std::uint64_t generation) const { return dir_ + "/" + std::to_string(generation); }

  // Makes DATA/projections.
  tl::expected<void, store::StorageError> create();
  // none: there is no CURRENT file, or it names no generation.
  tl::expected<std::optional<std::uint64_t>, store::StorageError> current() const;
  // Durable when it returns.
  tl::expected<void, store::StorageError> set_current(std::uint64_t generation);
  // Deletes every generation but this one (none: all).
  tl::expected<void, store::StorageError> remove_others(std::optional<std::uint64_t> kept);
  // A number that no folder has.
  tl::expected<std::uint64_t, store::StorageError> fresh() const;

 private:
  tl::expected<std::vector<std::uint64_t>, store::StorageError> generations() const;
  store::StorageError error(const rocksdb::IOStatus& status) const;

  std::shared_ptr<rocksdb::FileSystem> fs_;
  std::string dir_;
};

}  // namespace holdfast::projections
