#pragma once

#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "projections/generation.h"

namespace holdfast::projections {

// Takes rows, each family's in order of key and no key twice, and writes them.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void put(Family family, std::string_view key, std::string_view row) = 0;
  // Added to what the row has, by its family's merge operator.
  virtual void add(Family family, std::string_view key, std::string_view row) = 0;
  virtual void remove(Family family, std::string_view key) = 0;
  // Writes what it was given since the last time, and the checkpoint.
  virtual tl::expected<void, StorageError> write(const Checkpoint& checkpoint) = 0;
};

// One batch into the memtables, checkpoint and all.
class BatchWriter final : public RowWriter {
 public:
  explicit BatchWriter(Generation& rows) : rows_(rows) {}
  void put(Family family, std::string_view key, std::string_view row) override;
  void add(Family family, std::string_view key, std::string_view row) override;
  void remove(Family family, std::string_view key) override;
  tl::expected<void, StorageError> write(const Checkpoint& checkpoint) override;

 private:
  Generation& rows_;
  rocksdb::WriteBatch batch_;
};

// Sorted files past the memtables: they, the checkpoint and all that was written before are durable
// together when write() returns. Needs no more than half the processor's time for as many rows.
class BulkWriter final : public RowWriter {
 public:
  explicit BulkWriter(Generation& rows);
  ~BulkWriter() override;
  void put(Family family, std::string_view key, std::string_view row) override;
  void add(Family family, std::string_view key, std::string_view row) override;
  void remove(Family family, std::string_view key) override;
  tl::expected<void, StorageError> write(const Checkpoint& checkpoint) override;

 private:
  struct File;
  File& file(Family family);

  Generation& rows_;
  std::uint64_t files_made_ = 0;
  std::array<std::unique_ptr<File>, kFamilies> files_;
  rocksdb::Status failed_;
};

}  // namespace holdfast::projections
