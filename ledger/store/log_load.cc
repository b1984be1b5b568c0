#include "ledger/store/log_load.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <algorithm>
#include <utility>

#include "ledger/store/log_recovery.h"
#include "ledger/store/silent_logger.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kGroupBytes = 4 << 20;

tl::unexpected<StorageError> failed(const std::string& what, const rocksdb::IOStatus& status) {
  return fail(what + ": " + status.ToString());
}

bool exists(rocksdb::FileSystem& fs, const std::string& path) {
  return fs.FileExists(path, {}, nullptr).ok();
}

tl::expected<void, StorageError> remove_db(const std::shared_ptr<rocksdb::FileSystem>& fs,
                                           const std::string& path) {
  if (!exists(*fs, path)) return {};
  const auto env = rocksdb::NewCompositeEnv(fs);
  rocksdb::Options options;
  options.env = env.get();
  options.info_log = std::make_shared<SilentLogger>();
  const auto status = rocksdb::DestroyDB(path, options);
  if (!status.ok()) return fail("cannot remove " + path + ": " + status.ToString());
  return {};
}

// The id of the ledger that has grown there, if one can be read.
std::optional<LedgerId> id_of(const std::shared_ptr<rocksdb::FileSystem>& fs,
                              const std::string& dir) {
  if (!exists(*fs, log_path(dir))) return std::nullopt;
  const auto db = LogDb::open_read_only(fs, dir);
  if (!db) return std::nullopt;
  const auto survey = (*db)->survey();
  if (!survey) return std::nullopt;
  return survey->identity.id;
}

bool same(const std::optional<Parent>& a, const Parent& b) {
  return a && a->id == b.id && a->position == b.position && a->root == b.root;
}

}  // namespace

tl::expected<LogLoad, StorageError> LogLoad::begin(std::shared_ptr<rocksdb::FileSystem> fs,
                                                   const std::string& dir, const Parent& parent) {
  LogLoad load(std::move(fs), dir, parent);
  if (auto empty = load.check_empty(); !empty) return tl::unexpected(empty.error());
  if (auto removed = load.remove_staging(); !removed) return tl::unexpected(removed.error());
  if (load.done_) return load;
  const Identity identity{.id = fresh_ledger_id(), .parent = parent};
  if (auto status = load.fs_->CreateDirIfMissing(dir, {}, nullptr); !status.ok()) {
    return failed("cannot create " + dir, status);
  }
  if (auto made = LogDb::create(load.fs_, load.staging(), identity, {}); !made) {
    return tl::unexpected(made.error());
  }
  auto log = RecordLog::open({.fs = load.fs_, .dir = load.staging()});
  if (!log) return tl::unexpected(log.error());
  load.log_ = std::move(*log);
  return load;
}

// Nothing may be lost: the folder has no ledger, or one that nothing was ever written to.
tl::expected<void, StorageError> LogLoad::check_empty() {
  if (exists(*fs_, log_path(dir_))) {
    // Opened as a server does: it says so if one is running, or if something is wrong.
    const auto log = RecordLog::open({.fs = fs_, .dir = dir_});
    if (!log) return tl::unexpected(log.error());
    const Position head = (*log)->head();
    if (head == parent_.position && same((*log)->parent(), parent_)) {
      done_ = (*log)->id();
      return {};
    }
    if (!head && !(*log)->import()) return {};
    return fail(dir_ + " has a ledger of " + std::to_string(head.value) +
                " events: an export is loaded into an empty folder");
  }
  const auto mark = Watermark::read(*fs_, dir_);
  if (!mark) return tl::unexpected(mark.error());
  if (!*mark || !(*mark)->position) return {};
  // A load that was broken off as it put its ledger in place.
  if (id_of(fs_, staging()) == (*mark)->ledger) {
    if (auto moved = take_place(); !moved) return moved;
    return check_empty();
  }
  return fail(dir_ + " had a ledger of " + std::to_string((*mark)->position.value) +
              " events, whose watermark is there: an export is loaded into an empty folder");
}

// The ledger without events that may be there goes, for good, before its watermark does.
tl::expected<void, StorageError> LogLoad::put_aside_empty() {
  if (!exists(*fs_, log_path(dir_))) return {};
  const auto status = fs_->RenameFile(log_path(dir_), empty(), {}, nullptr);
  if (!status.ok()) return failed("cannot rename " + log_path(dir_), status);
  return sync_directory(*fs_, dir_);
}

// The watermark of what has grown is in `dir_` already.
tl::expected<void, StorageError> LogLoad::take_place() {
  const auto status = fs_->RenameFile(log_path(staging()), log_path(dir_), {}, nullptr);
  if (!status.ok()) return failed("cannot rename " + log_path(staging()), status);
  return sync_directory(*fs_, dir_);
}

tl::expected<void, StorageError> LogLoad::remove_staging() const {
  if (!exists(*fs_, staging())) return {};
  for (const std::string& path : {log_path(staging()), log_path(staging()) + ".new", empty()}) {
    if (auto removed = remove_db(fs_, path); !removed) return removed;
  }
  std::vector<std::string> left;
  auto status = fs_->GetChildren(staging(), {}, &left, nullptr);
  for (const std::string& name : left) {
    if (status.ok() && name != "." && name != "..") {
      status = fs_->DeleteFile(staging() + "/" + name, {}, nullptr);
    }
  }
  if (status.ok()) status = fs_->DeleteDir(staging(), {}, nullptr);
  if (!status.ok()) return failed("cannot remove " + staging(), status);
  return {};
}

tl::expected<void, StorageError> LogLoad::add(std::string_view record, Instant recorded_at) {
  log_->add(record);
  latest_ = std::max(latest_, recorded_at);
  group_bytes_ += record.size();
  if (group_bytes_ < kGroupBytes) return {};
  group_bytes_ = 0;
  return log_->write({.latest = latest_});
}

tl::expected<LedgerId, StorageError> LogLoad::finish() {
  if (group_bytes_ > 0) {
    if (auto written = log_->write({.latest = latest_}); !written) {
      return tl::unexpected(written.error());
    }
  }
  const LedgerId id = log_->id();
  const bool right = log_->head() == parent_.position && log_->root() == parent_.root;
  log_.reset();
  if (!right) {
    if (auto removed = remove_staging(); !removed) return tl::unexpected(removed.error());
    return fail("what was loaded is not what it should be; nothing of it was kept");
  }
  const auto mark = Watermark::read(*fs_, staging());
  if (!mark) return tl::unexpected(mark.error());
  if (auto empty = check_empty(); !empty) return tl::unexpected(empty.error());
  if (auto moved = put_aside_empty(); !moved) return tl::unexpected(moved.error());
  if (auto marked = Watermark::create(*fs_, dir_, **mark); !marked) {
    return tl::unexpected(marked.error());
  }
  if (auto moved = take_place(); !moved) return tl::unexpected(moved.error());
  if (auto removed = remove_staging(); !removed) return tl::unexpected(removed.error());
  return id;
}

}  // namespace holdfast::store
