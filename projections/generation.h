#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/store/log.h"
#include "projections/row_filter.h"
#include "projections/rows.h"

namespace holdfast::projections {

using store::StorageError;

// Column families: meta holds format, ledger id and checkpoint; live the claims that are held or
// committed; ended all others; definitions what was ever defined; lists positions
// (position_list.h); requests the first position of each transaction that carried a request id;
// tallies how often what happened, by path and day (tallies.h).
enum class Family : std::uint8_t { meta, live, ended, definitions, lists, requests, tallies };
inline constexpr std::size_t kFamilies = 7;
std::string_view family_name(Family family);
// All that is made from the log: every family but meta.
constexpr std::array<Family, kFamilies - 1> derived_families() {
  std::array<Family, kFamilies - 1> derived{};
  for (std::size_t i = 0; i < derived.size(); ++i) derived[i] = static_cast<Family>(i + 1);
  return derived;
}

// One folder of rows: a RocksDB of its own, written without a WAL. All families become durable
// together, at a flush. Reads from any thread, writes from one at a time.
class Generation {
 public:
  // Opens the folder or, with `create`, makes it. Says why not.
  static tl::expected<std::unique_ptr<Generation>, rocksdb::Status> open(
      std::shared_ptr<rocksdb::FileSystem> fs, const std::string& dir, bool create);
  // Closes; what was not flushed is gone. Deletes the folder if it was given up.
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  const std::string& dir() const { return dir_; }
  // Whether the folder goes with its last user.
  void give_up() { given_up_ = true; }
  void keep() { given_up_ = false; }

  rocksdb::ColumnFamilyHandle* family(Family family) const {
    return families_[static_cast<std::size_t>(family)];
  }
  // Rows of families that are mostly asked for what they do not have are looked for in memory
  // first: of a folder that was made here at once, of another when all its keys have been read,
  // which this begins, on a thread of its own.
  void learn_rows();
  // Says that a row is there, before it is written.
  void expect_row(Family family, std::string_view key);

  // With nothing read the result is rocksdb::Status::NotFound.
  rocksdb::Status get(Family family, std::string_view key, rocksdb::PinnableSlice& value,
                      const rocksdb::Snapshot* at = nullptr) const;
  // Values and outcomes by place. Keys that ascend are found faster: say so with `sorted`.
  void get(Family family, std::span<const std::string_view> keys, bool sorted,
           std::vector<rocksdb::PinnableSlice>& values,
           std::vector<rocksdb::Status>& outcomes) const;
  std::unique_ptr<rocksdb::Iterator> iterate(Family family,
                                             const rocksdb::ReadOptions& options) const;
  std::uint64_t estimated_rows(Family family) const;

  rocksdb::Status write(rocksdb::WriteBatch& batch);
  // Makes everything written so far durable, all families as one; without `wait` it is begun.
  rocksdb::Status flush(bool wait);

  rocksdb::DB& db() const { return *db_; }
  StorageError error(const rocksdb::Status& status) const;
  StorageError unreadable(Family family, std::string_view key) const;

 private:
  Generation() = default;
  void read_keys();
  bool may_have(Family family, std::string_view key) const;

  std::shared_ptr<rocksdb::FileSystem> fs_;
  std::unique_ptr<rocksdb::Env> env_;
  std::string dir_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> families_{};
  std::unique_ptr<RowFilter> filter_;
  std::thread learning_;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> given_up_ = false;
};

// All rows as they were at one moment.
class Moment {
 public:
  explicit Moment(const Generation& rows) : rows_(rows), snapshot_(rows.db().GetSnapshot()) {}
  ~Moment() { rows_.db().ReleaseSnapshot(snapshot_); }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

  const Generation& rows() const { return rows_; }
  rocksdb::ReadOptions options() const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    return options;
  }
  tl::expected<Checkpoint, StorageError> checkpoint() const;
  // Live or ended.
  tl::expected<std::optional<Claim>, StorageError> claim(std::string_view key) const;

 private:
  const Generation& rows_;
  const rocksdb::Snapshot* snapshot_;
};

inline rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kLedgerKey = "ledger";
inline constexpr std::string_view kCheckpointKey = "checkpoint";

}  // namespace holdfast::projections
