#include "projections/generation.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <algorithm>
#include <utility>

#include "projections/folders.h"
#include "projections/tallies.h"

namespace holdfast::projections {
namespace {

constexpr std::array<std::string_view, kFamilies> kNames{
    "default", "live", "ended", "definitions", "lists", "requests", "tallies"};
constexpr std::size_t kMiB = std::size_t{1} << 20;

// Families that are asked again and again for keys that are not there.
constexpr std::array kMostlyAbsent{Family::ended, Family::lists, Family::requests};
constexpr bool mostly_absent(Family family) {
  return std::find(kMostlyAbsent.begin(), kMostlyAbsent.end(), family) != kMostlyAbsent.end();
}

constexpr std::size_t kRowsAtFirst = std::size_t{1} << 20;

std::uint64_t filter_row(Family family, std::string_view key) {
  return RowFilter::row(static_cast<std::uint8_t>(family), key);
}

rocksdb::ColumnFamilyOptions family_options(Family family,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = false;
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions options;
  // Checkpoints come every second or two under load: their files are compressed when they are first
  // merged, eight at a time, not when they are written. Measured: compaction and compression were a
  // fifth of the server's time at four files.
  options.compression = rocksdb::kLZ4Compression;
  options.compression_per_level = {rocksdb::kNoCompression, rocksdb::kLZ4Compression};
  options.level0_file_num_compaction_trigger = 8;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_write_buffer_number = 4;
  const bool small = family == Family::meta || family == Family::definitions;
  options.write_buffer_size = (small ? 16 : family == Family::lists ? 128 : 64) * kMiB;
  if (mostly_absent(family)) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.whole_key_filtering = true;
    options.memtable_whole_key_filtering = true;
    options.memtable_prefix_bloom_size_ratio = 0.02;
  }
  if (family == Family::tallies) options.merge_operator = add_counts();
  // A write's rows come in order of key: where one went is near to where the next one goes.
  options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(0));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::DBOptions database_options(rocksdb::Env* env, bool create) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = create;
  options.create_missing_column_families = create;
  options.error_if_exists = create;
  options.atomic_flush = true;  // without it several families come back torn
  options.avoid_flush_during_shutdown = true;
  options.max_open_files = -1;
  options.max_background_jobs = 2;
  options.keep_log_file_num = 2;
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  return options;
}

}  // namespace

std::string_view family_name(Family family) {
  return family == Family::meta ? "meta" : kNames[static_cast<std::size_t>(family)];
}

tl::expected<std::unique_ptr<Generation>, rocksdb::Status> Generation::open(
    std::shared_ptr<rocksdb::FileSystem> fs, const std::string& dir, bool create) {
  std::unique_ptr<Generation> opened(new Generation);
  opened->fs_ = std::move(fs);
  opened->env_ = rocksdb::NewCompositeEnv(opened->fs_);
  opened->dir_ = dir;
  const auto cache = rocksdb::NewLRUCache(64 * kMiB);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (std::size_t i = 0; i < kFamilies; ++i) {
    descriptors.emplace_back(std::string(kNames[i]), family_options(static_cast<Family>(i), cache));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(database_options(opened->env_.get(), create),
                                                   dir, descriptors, &handles, &db);
  if (!status.ok()) return tl::unexpected(status);
  opened->db_.reset(db);
  std::copy(handles.begin(), handles.end(), opened->families_.begin());
  std::size_t rows = kRowsAtFirst;
  for (const Family family : kMostlyAbsent) rows += 2 * opened->estimated_rows(family);
  opened->filter_ = std::make_unique<RowFilter>(rows);
  if (create) opened->filter_->complete();
  return opened;
}

void Generation::learn_rows() {
  if (!learning_.joinable()) learning_ = std::thread([this] { read_keys(); });
}

// After an error the filter is never complete, and whoever asks RocksDB hears of it.
void Generation::read_keys() {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  for (const Family family : kMostlyAbsent) {
    const auto row = iterate(family, options);
    for (row->SeekToFirst(); row->Valid(); row->Next()) {
      if (closing_) return;
      filter_->add(filter_row(family, view(row->key())));
    }
    if (!row->status().ok()) return;
  }
  filter_->complete();
}

void Generation::expect_row(Family family, std::string_view key) {
  if (mostly_absent(family)) filter_->add(filter_row(family, key));
}

bool Generation::may_have(Family family, std::string_view key) const {
  return !mostly_absent(family) || filter_->may_have(filter_row(family, key));
}

Generation::~Generation() {
  closing_ = true;
  if (learning_.joinable()) learning_.join();
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : families_) db_->DestroyColumnFamilyHandle(handle);
  db_->Close();
  db_.reset();
  if (given_up_) remove_folder(*fs_, dir_);  // what is left is removed at the next start
}

rocksdb::Status Generation::get(Family of, std::string_view key, rocksdb::PinnableSlice& value,
                                const rocksdb::Snapshot* at) const {
  if (!may_have(of, key)) return rocksdb::Status::NotFound();
  rocksdb::ReadOptions options;
  options.snapshot = at;
  return db_->Get(options, family(of), slice(key), &value);
}

void Generation::get(Family of, std::span<const std::string_view> keys, bool sorted,
                     std::vector<rocksdb::PinnableSlice>& values,
                     std::vector<rocksdb::Status>& outcomes) const {
  values.clear();  // a PinnableSlice is not used twice without a reset
  values.resize(keys.size());
  outcomes.assign(keys.size(), rocksdb::Status::NotFound());
  std::vector<std::size_t> places;
  std::vector<rocksdb::Slice> asked;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!may_have(of, keys[i])) continue;
    places.push_back(i);
    asked.push_back(slice(keys[i]));
  }
  if (asked.empty()) return;
  std::vector<rocksdb::PinnableSlice> found(asked.size());
  std::vector<rocksdb::Status> said(asked.size());
  db_->MultiGet(rocksdb::ReadOptions(), family(of), asked.size(), asked.data(), found.data(),
                said.data(), sorted);
  for (std::size_t i = 0; i < places.size(); ++i) {
    values[places[i]] = std::move(found[i]);
    outcomes[places[i]] = std::move(said[i]);
  }
}

std::unique_ptr<rocksdb::Iterator> Generation::iterate(Family of,
                                                       const rocksdb::ReadOptions& options) const {
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, family(of)));
}

std::uint64_t Generation::estimated_rows(Family of) const {
  std::uint64_t rows = 0;
  db_->GetIntProperty(family(of), rocksdb::DB::Properties::kEstimateNumKeys, &rows);
  return rows;
}

rocksdb::Status Generation::write(rocksdb::WriteBatch& batch) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return db_->Write(options, &batch);
}

rocksdb::Status Generation::flush(bool wait) {
  rocksdb::FlushOptions options;
  options.wait = wait;
  // The memtables are switched at once; writes stall only if too many wait to be flushed.
  options.allow_write_stall = true;
  return db_->Flush(options, {families_.begin(), families_.end()});
}

StorageError Generation::error(const rocksdb::Status& status) const {
  return {"the projections in " + dir_ + " failed: " + status.ToString() +
          "; they can be deleted with the server stopped, and are then rebuilt"};
}

StorageError Generation::unreadable(Family family, std::string_view key) const {
  return {"the projections in " + dir_ + " have a row that cannot be read, " +
          std::string(family_name(family)) + " \"" + std::string(key) +
          "\"; they can be deleted with the server stopped, and are then rebuilt"};
}

tl::expected<Checkpoint, StorageError> Moment::checkpoint() const {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = rows_.get(Family::meta, kCheckpointKey, value, snapshot_);
  if (status.IsNotFound()) return Checkpoint{};
  if (!status.ok()) return tl::unexpected(rows_.error(status));
  const auto found = read_checkpoint(view(value));
  if (!found) return tl::unexpected(rows_.unreadable(Family::meta, kCheckpointKey));
  return *found;
}

tl::expected<std::optional<Claim>, StorageError> Moment::claim(std::string_view key) const {
  for (const Family family : {Family::live, Family::ended}) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = rows_.get(family, key, value, snapshot_);
    if (status.IsNotFound()) continue;
    if (!status.ok()) return tl::unexpected(rows_.error(status));
    std::optional<Claim> found = read_claim(key, view(value));
    if (!found) return tl::unexpected(rows_.unreadable(family, key));
    return found;
  }
  return std::nullopt;
}

}  // namespace holdfast::projections
