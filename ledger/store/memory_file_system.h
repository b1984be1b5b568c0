#pragma once

#include <rocksdb/file_system.h>
#include <cstdint>
#include <memory>

namespace holdfast::store {

struct DiskState;

// A disk in memory that outlives the processes using it, and keeps over a crash only what was
// synced: bytes of a file up to its last sync, names as of the last sync of their directory.
// Directories themselves, and their new names, last at once. Any thread.
class MemoryDisk {
 public:
  MemoryDisk();
  ~MemoryDisk();

  // The disk as one process sees it. Handles and locks taken through it die with crash().
  std::shared_ptr<rocksdb::FileSystem> mount();

  // The power fails: everything mounted so far answers only errors from now on, and what was not
  // synced is gone. Mount again to go on.
  void crash();

  // The next `n` operations of the kind go well; then all of them fail until heal(). Appends
  // count the watermark's writes too, syncs count those of directories.
  void fail_appends_after(std::uint64_t n);
  void fail_syncs_after(std::uint64_t n);
  void heal();

  // What the disk says is free; until then it does not say.
  void set_free_bytes(std::uint64_t bytes);

 private:
  std::shared_ptr<DiskState> state_;
};

}  // namespace holdfast::store
