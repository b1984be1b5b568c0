#include "ledger/store/memory_file_system.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ledger/store/silent_logger.h"

namespace holdfast::store {

using rocksdb::FileLock;
using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// Bytes of a file, and how to take back what was written since the last sync.
struct Node {
  struct Overwritten {
    std::size_t offset;
    std::string bytes;
  };

  std::string bytes;
  std::size_t synced_size = 0;
  std::vector<Overwritten> overwritten;  // below synced_size, oldest first

  void write(std::size_t offset, std::string_view data) {
    if (offset < synced_size) {
      overwritten.push_back({offset, bytes.substr(offset, data.size())});
    }
    if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size());
    std::memcpy(bytes.data() + offset, data.data(), data.size());
  }
  void sync() {
    synced_size = bytes.size();
    overwritten.clear();
  }
  void lose_unsynced() {
    bytes.resize(synced_size);
    for (; !overwritten.empty(); overwritten.pop_back()) {
      const auto& last = overwritten.back();
      std::memcpy(bytes.data() + last.offset, last.bytes.data(),
                  std::min(last.bytes.size(), synced_size - last.offset));
    }
  }
  Slice read(std::size_t offset, std::size_t size, char* scratch) const {
    if (offset >= bytes.size()) return {scratch, 0};
    size = std::min(size, bytes.size() - offset);
    std::memcpy(scratch, bytes.data() + offset, size);
    return {scratch, size};
  }
};

using Names = std::map<std::string, std::shared_ptr<Node>>;

std::string normal(std::string path) {
  std::string to;
  for (const char c : path) {
    if (c != '/' || to.empty() || to.back() != '/') to.push_back(c);
  }
  while (to.size() > 1 && to.back() == '/') to.pop_back();
  return to;
}

bool lies_in(const std::string& path, const std::string& dir) {
  return path.size() > dir.size() + 1 && path.starts_with(dir) && path[dir.size()] == '/' &&
         path.find('/', dir.size() + 1) == std::string::npos;
}

}  // namespace

// Everything on the disk, under one mutex.
struct DiskState {
  std::mutex mutex;
  std::uint64_t life = 0;  // crashes so far: what was mounted in an earlier life is dead
  Names names;
  Names synced_names;
  std::set<std::string> directories;
  std::set<std::string> locks;
  std::uint64_t appends_left = kNever;
  std::uint64_t syncs_left = kNever;
  std::optional<std::uint64_t> free_bytes;

  static IOStatus spend(std::uint64_t& left) {
    if (left == kNever) return IOStatus::OK();
    if (left == 0) return IOStatus::IOError("injected failure");
    --left;
    return IOStatus::OK();
  }

  void sync_directory(const std::string& dir) {
    std::erase_if(synced_names, [&](const auto& entry) { return lies_in(entry.first, dir); });
    for (const auto& [path, node] : names) {
      if (lies_in(path, dir)) synced_names[path] = node;
    }
  }
};

namespace {

// A process's hold on the disk; runs what it is given while that process lives.
class Grip {
 public:
  Grip(std::shared_ptr<DiskState> disk, std::uint64_t life) : disk_(std::move(disk)), life_(life) {}

  template <class Work>
  IOStatus operator()(Work work) const {
    const std::lock_guard lock(disk_->mutex);
    if (disk_->life != life_) return IOStatus::IOError("the disk is gone: it crashed");
    return work(*disk_);
  }

 private:
  std::shared_ptr<DiskState> disk_;
  std::uint64_t life_;
};

// What one open file is: the node stays while anybody has it open.
struct Handle {
  Grip grip;
  std::shared_ptr<Node> node;

  IOStatus append(std::string_view data) const {
    return grip([&](DiskState& disk) {
      auto status = DiskState::spend(disk.appends_left);
      if (status.ok()) node->write(node->bytes.size(), data);
      return status;
    });
  }
  IOStatus write(std::size_t offset, std::string_view data) const {
    return grip([&](DiskState& disk) {
      auto status = DiskState::spend(disk.appends_left);
      if (status.ok()) node->write(offset, data);
      return status;
    });
  }
  IOStatus sync() const {
    return grip([&](DiskState& disk) {
      auto status = DiskState::spend(disk.syncs_left);
      if (status.ok()) node->sync();
      return status;
    });
  }
  IOStatus read(std::size_t offset, std::size_t size, Slice* result, char* scratch) const {
    return grip([&](DiskState&) {
      *result = node->read(offset, size, scratch);
      return IOStatus::OK();
    });
  }
};

class MemoryWritableFile : public rocksdb::FSWritableFile {
 public:
  explicit MemoryWritableFile(Handle handle) : handle_(std::move(handle)) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return handle_.append(data.ToStringView());
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return handle_.sync(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  bool IsSyncThreadSafe() const override { return true; }
  std::uint64_t GetFileSize(const IOOptions&, IODebugContext*) override {
    std::uint64_t size = 0;
    handle_.grip([&](DiskState&) {
      size = handle_.node->bytes.size();
      return IOStatus::OK();
    });
    return size;
  }

 private:
  Handle handle_;
};

class MemoryRandomRWFile : public rocksdb::FSRandomRWFile {
 public:
  explicit MemoryRandomRWFile(Handle handle) : handle_(std::move(handle)) {}
  IOStatus Write(std::uint64_t offset, const Slice& data, const IOOptions&,
                 IODebugContext*) override {
    return handle_.write(offset, data.ToStringView());
  }
  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return handle_.read(offset, n, result, scratch);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return handle_.sync(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  Handle handle_;
};

class MemoryRandomAccessFile : public rocksdb::FSRandomAccessFile {
 public:
  explicit MemoryRandomAccessFile(Handle handle) : handle_(std::move(handle)) {}
  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return handle_.read(offset, n, result, scratch);
  }

 private:
  Handle handle_;
};

class MemorySequentialFile : public rocksdb::FSSequentialFile {
 public:
  explicit MemorySequentialFile(Handle handle) : handle_(std::move(handle)) {}
  IOStatus Read(std::size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    auto status = handle_.read(offset_, n, result, scratch);
    if (status.ok()) offset_ += result->size();
    return status;
  }
  IOStatus Skip(std::uint64_t n) override {
    offset_ += n;
    return IOStatus::OK();
  }

 private:
  Handle handle_;
  std::size_t offset_ = 0;
};

class MemoryDirectory : public rocksdb::FSDirectory {
 public:
  MemoryDirectory(Grip grip, std::string path) : grip_(std::move(grip)), path_(std::move(path)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      auto status = DiskState::spend(disk.syncs_left);
      if (status.ok()) disk.sync_directory(path_);
      return status;
    });
  }

 private:
  Grip grip_;
  std::string path_;
};

struct MemoryFileLock : FileLock {
  explicit MemoryFileLock(std::string p) : path(std::move(p)) {}
  const std::string path;
};

class MemoryFileSystem : public rocksdb::FileSystem {
 public:
  explicit MemoryFileSystem(Grip grip) : grip_(std::move(grip)) {}
  const char* Name() const override { return "holdfast.MemoryFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext*) override {
    return open<MemorySequentialFile>(path, file);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext*) override {
    return open<MemoryRandomAccessFile>(path, file);
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* file,
                           IODebugContext*) override {
    return open<MemoryRandomRWFile>(path, file);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      auto node = std::make_shared<Node>();
      disk.names[normal(path)] = node;
      *file = std::make_unique<MemoryWritableFile>(Handle{grip_, std::move(node)});
      return IOStatus::OK();
    });
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* directory,
                        IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      if (!disk.directories.contains(normal(path))) return IOStatus::PathNotFound(path);
      *directory = std::make_unique<MemoryDirectory>(grip_, normal(path));
      return IOStatus::OK();
    });
  }
  IOStatus NewLogger(const std::string&, const IOOptions&, std::shared_ptr<rocksdb::Logger>* logger,
                     IODebugContext*) override {
    *logger = std::make_shared<SilentLogger>();
    return IOStatus::OK();
  }

  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      const std::string at = normal(path);
      const bool exists = disk.names.contains(at) || disk.directories.contains(at);
      return exists ? IOStatus::OK() : IOStatus::NotFound(path);
    });
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      *is_dir = disk.directories.contains(normal(path));
      return IOStatus::OK();
    });
  }
  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      const std::string dir = normal(path);
      if (!disk.directories.contains(dir)) return IOStatus::NotFound(path);
      result->clear();
      const auto add = [&](const std::string& at) {
        if (lies_in(at, dir)) result->push_back(at.substr(dir.size() + 1));
      };
      for (const auto& [at, node] : disk.names) add(at);
      for (const auto& at : disk.directories) add(at);
      return IOStatus::OK();
    });
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      return disk.names.erase(normal(path)) == 1 ? IOStatus::OK() : IOStatus::PathNotFound(path);
    });
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      const bool made = disk.directories.insert(normal(path)).second;
      return made ? IOStatus::OK() : IOStatus::IOError(path, "exists");
    });
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      disk.directories.insert(normal(path));
      return IOStatus::OK();
    });
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      const std::string dir = normal(path);
      const auto inside = [&](const auto& entry) { return lies_in(entry.first, dir); };
      if (std::ranges::any_of(disk.names, inside)) return IOStatus::IOError(path, "not empty");
      const bool gone = disk.directories.erase(dir) == 1;
      return gone ? IOStatus::OK() : IOStatus::PathNotFound(path);
    });
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, std::uint64_t* size,
                       IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      const auto at = disk.names.find(normal(path));
      if (at == disk.names.end()) return IOStatus::PathNotFound(path);
      *size = at->second->bytes.size();
      return IOStatus::OK();
    });
  }
  IOStatus GetFileModificationTime(const std::string&, const IOOptions&, std::uint64_t* time,
                                   IODebugContext*) override {
    *time = 0;
    return IOStatus::OK();
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override {
    return grip_([&](DiskState& disk) { return rename(disk, normal(from), normal(to)); });
  }
  IOStatus LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                    IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      if (!disk.locks.insert(normal(path)).second) return IOStatus::IOError(path, "is locked");
      disk.names.try_emplace(normal(path), std::make_shared<Node>());
      *lock = new MemoryFileLock(normal(path));
      return IOStatus::OK();
    });
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override {
    const std::unique_ptr<MemoryFileLock> owned(static_cast<MemoryFileLock*>(lock));
    return grip_([&](DiskState& disk) {
      disk.locks.erase(owned->path);
      return IOStatus::OK();
    });
  }
  IOStatus GetFreeSpace(const std::string&, const IOOptions&, std::uint64_t* bytes,
                        IODebugContext*) override {
    return grip_([&](DiskState& disk) {
      if (!disk.free_bytes) return IOStatus::NotSupported("free space");
      *bytes = *disk.free_bytes;
      return IOStatus::OK();
    });
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    *path = "/test";
    return IOStatus::OK();
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override {
    *absolute = path;
    return IOStatus::OK();
  }

 private:
  template <class File, class Result>
  IOStatus open(const std::string& path, Result* file) const {
    return grip_([&](DiskState& disk) {
      const auto at = disk.names.find(normal(path));
      if (at == disk.names.end()) return IOStatus::PathNotFound(path);
      *file = std::make_unique<File>(Handle{grip_, at->second});
      return IOStatus::OK();
    });
  }

  static void rename_below(Names& names, const std::string& from, const std::string& to) {
    Names moved;
    std::erase_if(names, [&](const auto& entry) {
      if (!entry.first.starts_with(from + "/")) return false;
      moved[to + entry.first.substr(from.size())] = entry.second;
      return true;
    });
    names.merge(moved);
  }

  static IOStatus rename(DiskState& disk, const std::string& from, const std::string& to) {
    if (disk.directories.erase(from) == 1) {
      disk.directories.insert(to);
      rename_below(disk.names, from, to);
      rename_below(disk.synced_names, from, to);
      return IOStatus::OK();
    }
    const auto at = disk.names.find(from);
    if (at == disk.names.end()) return IOStatus::PathNotFound(from);
    auto node = at->second;
    disk.names.erase(at);
    disk.names[to] = std::move(node);
    return IOStatus::OK();
  }

  Grip grip_;
};

}  // namespace

MemoryDisk::MemoryDisk() : state_(std::make_shared<DiskState>()) {}
MemoryDisk::~MemoryDisk() = default;

std::shared_ptr<rocksdb::FileSystem> MemoryDisk::mount() {
  const std::lock_guard lock(state_->mutex);
  return std::make_shared<MemoryFileSystem>(Grip(state_, state_->life));
}

void MemoryDisk::crash() {
  const std::lock_guard lock(state_->mutex);
  ++state_->life;
  state_->locks.clear();
  state_->names = state_->synced_names;
  for (const auto& [path, node] : state_->names) node->lose_unsynced();
}

void MemoryDisk::fail_appends_after(std::uint64_t n) {
  const std::lock_guard lock(state_->mutex);
  state_->appends_left = n;
}

void MemoryDisk::fail_syncs_after(std::uint64_t n) {
  const std::lock_guard lock(state_->mutex);
  state_->syncs_left = n;
}

void MemoryDisk::set_free_bytes(std::uint64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->free_bytes = bytes;
}

void MemoryDisk::heal() {
  const std::lock_guard lock(state_->mutex);
  state_->appends_left = kNever;
  state_->syncs_left = kNever;
}

}  // namespace holdfast::store
