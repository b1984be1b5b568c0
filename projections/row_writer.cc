#include "projections/row_writer.h"

#include <utility>

namespace holdfast::projections {

void BatchWriter::put(Family family, std::string_view key, std::string_view row) {
  rows_.expect_row(family, key);
  batch_.Put(rows_.family(family), slice(key), slice(row));
}

void BatchWriter::add(Family family, std::string_view key, std::string_view row) {
  batch_.Merge(rows_.family(family), slice(key), slice(row));
}

void BatchWriter::remove(Family family, std::string_view key) {
  batch_.Delete(rows_.family(family), slice(key));
}

tl::expected<void, StorageError> BatchWriter::write(const Checkpoint& checkpoint) {
  std::string row;
  append_row(row, checkpoint);
  put(Family::meta, kCheckpointKey, row);
  const rocksdb::Status status = rows_.write(batch_);
  batch_.Clear();
  if (!status.ok()) return tl::unexpected(rows_.error(status));
  return {};
}

struct BulkWriter::File {
  std::string name;
  rocksdb::SstFileWriter writer;
};

BulkWriter::BulkWriter(Generation& rows) : rows_(rows) {}
BulkWriter::~BulkWriter() = default;

BulkWriter::File& BulkWriter::file(Family family) {
  std::unique_ptr<File>& file = files_[static_cast<std::size_t>(family)];
  if (file == nullptr) {
    file.reset(new File{rows_.dir() + "/bulk-" + std::to_string(files_made_++) + ".sst",
                        {rocksdb::EnvOptions(), rows_.db().GetOptions(rows_.family(family)),
                         rows_.family(family)}});
    if (failed_.ok()) failed_ = file->writer.Open(file->name);
  }
  return *file;
}

void BulkWriter::put(Family family, std::string_view key, std::string_view row) {
  rows_.expect_row(family, key);
  File& to = file(family);
  if (failed_.ok()) failed_ = to.writer.Put(slice(key), slice(row));
}

void BulkWriter::add(Family family, std::string_view key, std::string_view row) {
  File& to = file(family);
  if (failed_.ok()) failed_ = to.writer.Merge(slice(key), slice(row));
}

void BulkWriter::remove(Family family, std::string_view key) {
  File& to = file(family);
  if (failed_.ok()) failed_ = to.writer.Delete(slice(key));
}

tl::expected<void, StorageError> BulkWriter::write(const Checkpoint& checkpoint) {
  std::string row;
  append_row(row, checkpoint);
  put(Family::meta, kCheckpointKey, row);
  // What stands in the memtables is older: with this checkpoint it must not be lost.
  if (failed_.ok()) failed_ = rows_.flush(true);
  std::vector<rocksdb::IngestExternalFileArg> ingested;
  for (std::size_t i = 0; i < kFamilies; ++i) {
    if (files_[i] == nullptr) continue;
    if (failed_.ok()) failed_ = files_[i]->writer.Finish();
    rocksdb::IngestExternalFileArg& arg = ingested.emplace_back();
    arg.column_family = rows_.family(static_cast<Family>(i));
    arg.external_files = {files_[i]->name};
    arg.options.move_files = true;
    arg.options.write_global_seqno = false;
    files_[i].reset();
  }
  if (failed_.ok()) failed_ = rows_.db().IngestExternalFiles(ingested);
  if (!failed_.ok()) return tl::unexpected(rows_.error(failed_));
  return {};
}

}  // namespace holdfast::projections
