#pragma once

#include <rocksdb/file_system.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"
#include "ledger/store/ledger_id.h"
#include "ledger/store/storage_error.h"

namespace holdfast::store {

// What has been acknowledged at most: nothing beyond it was ever answered to anybody.
struct Mark {
  LedgerId ledger{};
  std::uint64_t group = 0;  // groups written
  Position position;
  Digest root{};   // Merkle root over positions 1 to `position`
  Instant latest;  // latest instant of the ledger's clock
  bool operator==(const Mark&) const = default;
};

// The file DATA/watermark: two checksummed slots 4 KiB apart, the older one overwritten each time,
// so that a torn write leaves the other. One thread at a time.
class Watermark {
 public:
  // The newer whole slot; nothing when there is no file; an error when neither slot is whole.
  static tl::expected<std::optional<Mark>, StorageError> read(rocksdb::FileSystem& fs,
                                                              const std::string& dir);

  // Puts a new file in the place of any other, durably.
  static tl::expected<Watermark, StorageError> create(rocksdb::FileSystem& fs,
                                                      const std::string& dir, const Mark& mark);
  // Opens the present file for writing.
  static tl::expected<Watermark, StorageError> open(rocksdb::FileSystem& fs,
                                                    const std::string& dir);

  // Durable when it returns without error.
  tl::expected<void, StorageError> write(const Mark& mark);

 private:
  Watermark(std::unique_ptr<rocksdb::FSRandomRWFile> file, std::uint64_t sequence);

  std::unique_ptr<rocksdb::FSRandomRWFile> file_;
  std::uint64_t sequence_;  // of the newest slot; its parity is the slot
  std::string buffer_;
};

}  // namespace holdfast::store
