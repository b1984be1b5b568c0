#include "ledger/store/log_db.h"

#include <rocksdb/cache.h>
#include <rocksdb/table.h>
#include <algorithm>
#include <utility>

#include "ledger/store/silent_logger.h"

namespace holdfast::store {
namespace {

tl::unexpected<StorageError> failed(const std::string& what, const rocksdb::Status& status) {
  return tl::unexpected(StorageError{what + ": " + status.ToString()});
}

rocksdb::DBOptions db_options(rocksdb::Env* env, bool read_only, bool create) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = create;
  options.create_missing_column_families = !read_only;
  // Ends at the first damaged record instead of refusing: what is missing then is the watermark's
  // to say, which knows it by position.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // The families go to disk together: the small one never keeps an old WAL alive, and the heads
  // in the tables are those of the events in the tables.
  options.atomic_flush = true;
  // Bounds what a restart has to read again.
  options.max_total_wal_size = 256 << 20;
  // Tables are written out steadily, so that a flush does not stand in the way of a group's sync.
  options.bytes_per_sync = 1 << 20;
  options.skip_stats_update_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.max_log_file_size = 4 << 20;
  options.keep_log_file_num = 4;
  // A read-only open must not leave so much as a line in RocksDB's LOG file.
  if (read_only) options.info_log = std::make_shared<SilentLogger>();
  return options;
}

// Events come in order of their keys and are never overwritten: tables never overlap, so that
// level compaction only moves them down by name, and nothing is ever written twice. Positions are
// dense: no bloom filter would ever say no. The memtables hold the last few hundred thousand
// events, which are those most often read.
rocksdb::ColumnFamilyOptions events_options() {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 64 << 20;
  options.max_write_buffer_number = 4;
  options.compression = rocksdb::kLZ4Compression;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16 << 10;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(64 << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::ColumnFamilyOptions meta_options() {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 64 << 20;
  options.compression = rocksdb::kNoCompression;
  return options;
}

// As the events: ever later keys, never overwritten. Digests cannot be compressed.
rocksdb::ColumnFamilyOptions tree_options() {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 16 << 20;
  options.compression = rocksdb::kNoCompression;
  return options;
}

constexpr auto kTreeFamily = "tree";

// Whether the database has the family, which earlier versions did not make.
bool has_tree(const rocksdb::DBOptions& options, const std::string& path) {
  std::vector<std::string> families;
  const auto status = rocksdb::DB::ListColumnFamilies(options, path, &families);
  return !status.ok() || std::ranges::find(families, kTreeFamily) != families.end();
}

}  // namespace

tl::expected<void, StorageError> sync_directory(rocksdb::FileSystem& fs, const std::string& dir) {
  std::unique_ptr<rocksdb::FSDirectory> directory;
  auto status = fs.NewDirectory(dir, {}, &directory, nullptr);
  if (status.ok()) status = directory->Fsync({}, nullptr);
  if (!status.ok()) return failed("cannot sync " + dir, status);
  return {};
}

std::string log_path(const std::string& dir) { return dir + "/ledger"; }

LogDb::~LogDb() {
  for (auto* family : families_) db_->DestroyColumnFamilyHandle(family);
}

tl::expected<std::unique_ptr<LogDb>, StorageError> LogDb::open_at(
    const std::shared_ptr<rocksdb::FileSystem>& fs, const std::string& path, bool read_only,
    bool create) {
  std::unique_ptr<LogDb> log(new LogDb);
  log->env_ = rocksdb::NewCompositeEnv(fs);
  const auto options = db_options(log->env_.get(), read_only, create);
  std::vector<rocksdb::ColumnFamilyDescriptor> families{
      {rocksdb::kDefaultColumnFamilyName, events_options()}, {"meta", meta_options()}};
  if (!read_only || has_tree(options, path)) families.emplace_back(kTreeFamily, tree_options());
  rocksdb::DB* db = nullptr;
  const auto status =
      read_only ? rocksdb::DB::OpenForReadOnly(options, path, families, &log->families_, &db)
                : rocksdb::DB::Open(options, path, families, &log->families_, &db);
  log->db_.reset(db);
  if (!status.ok()) return failed("RocksDB cannot open " + path, status);
  return log;
}

tl::expected<std::unique_ptr<LogDb>, StorageError> LogDb::open_read_only(
    const std::shared_ptr<rocksdb::FileSystem>& fs, const std::string& dir) {
  return open_at(fs, log_path(dir), true, false);
}

tl::expected<std::unique_ptr<LogDb>, StorageError> LogDb::open(
    const std::shared_ptr<rocksdb::FileSystem>& fs, const std::string& dir) {
  return open_at(fs, log_path(dir), false, false);
}

tl::expected<void, StorageError> LogDb::create(const std::shared_ptr<rocksdb::FileSystem>& fs,
                                               const std::string& dir, const Identity& identity,
                                               Instant latest) {
  // Made aside and renamed: a creation that was broken off leaves only the folder aside.
  const std::string aside = log_path(dir) + ".new";
  if (auto status = fs->CreateDirIfMissing(dir, {}, nullptr); !status.ok()) {
    return failed("cannot create " + dir, status);
  }
  if (fs->FileExists(aside, {}, nullptr).ok()) {
    const auto env = rocksdb::NewCompositeEnv(fs);
    rocksdb::Options options;
    options.env = env.get();
    options.info_log = std::make_shared<SilentLogger>();
    if (auto status = rocksdb::DestroyDB(aside, options); !status.ok()) {
      return failed("cannot remove " + aside, status);
    }
  }
  {
    auto log = open_at(fs, aside, false, true);
    if (!log) return tl::unexpected(log.error());
    rocksdb::WriteBatch batch;
    batch.Put((*log)->meta(), kIdentityKey, encode(identity));
    batch.Put((*log)->meta(), head_key(0), encode(Head{.group = 0, .latest = latest, .tree = {}}));
    rocksdb::WriteOptions write;
    write.sync = true;
    auto status = (*log)->db().Write(write, &batch);
    // In a table, so that the ledger's id outlives the loss of any WAL.
    if (status.ok()) status = (*log)->db().Flush({}, (*log)->families_);
    if (!status.ok()) return failed("cannot write " + aside, status);
  }
  if (auto status = fs->RenameFile(aside, log_path(dir), {}, nullptr); !status.ok()) {
    return failed("cannot rename " + aside, status);
  }
  return sync_directory(*fs, dir);
}

tl::expected<Survey, StorageError> LogDb::survey() const {
  auto survey = unchecked_survey();
  if (!survey) return survey;
  const auto last = last_event();
  if (!last) return tl::unexpected(last.error());
  if (*last != survey->heads.front().position()) {
    return fail("the log's last event is at " + at_position(*last) + " but its head is at " +
                at_position(survey->heads.front().position()));
  }
  return survey;
}

tl::expected<Position, StorageError> LogDb::last_event() const {
  const std::unique_ptr<rocksdb::Iterator> last(db_->NewIterator({}, events()));
  last->SeekToLast();
  if (!last->status().ok()) return failed("the log's last event cannot be read", last->status());
  if (!last->Valid()) return Position{};
  const auto at = position_of_key(last->key().ToStringView());
  if (!at) return fail("the log has a key that is no position");
  return *at;
}

tl::expected<Survey, StorageError> LogDb::unchecked_survey() const {
  Survey survey;
  std::string value;
  auto status = db_->Get({}, meta(), kIdentityKey, &value);
  if (!status.ok()) return failed("the log does not say which ledger it is", status);
  const auto identity = decode_identity(value);
  if (!identity) {
    return tl::unexpected(StorageError{"the log is of a format that this version does not know"});
  }
  survey.identity = *identity;
  for (std::uint64_t slot = 0; slot < kHeadSlots; ++slot) {
    status = db_->Get({}, meta(), head_key(slot), &value);
    if (status.IsNotFound()) continue;
    if (!status.ok()) return failed("the log's head cannot be read", status);
    auto head = decode_head(value);
    if (!head)
      return tl::unexpected(StorageError{"the log's record " + head_key(slot) + " is damaged"});
    survey.heads.push_back(std::move(*head));
  }
  std::ranges::sort(survey.heads, std::ranges::greater{}, &Head::group);
  if (survey.heads.empty()) return tl::unexpected(StorageError{"the log has no head"});
  status = db_->Get({}, meta(), kImportKey, &value);
  if (status.ok()) {
    survey.import = decode_import(value);
    if (!survey.import) return tl::unexpected(StorageError{"the log's import record is damaged"});
  } else if (!status.IsNotFound()) {
    return failed("the log's import record cannot be read", status);
  }
  return survey;
}

}  // namespace holdfast::store
