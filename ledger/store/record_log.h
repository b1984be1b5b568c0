#pragma once

#include <rocksdb/file_system.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/store/ledger_id.h"
#include "ledger/store/log_layout.h"
#include "ledger/store/merkle_proof.h"
#include "ledger/store/storage_error.h"

// Records, which are bytes here, by position in RocksDB: the Merkle tree over them beside them, and
// the watermark that shows when RocksDB came back with less than was acknowledged. Bytes:
// FORMAT.md.
namespace holdfast::store {

// Side by side with records in one synced write.
struct GroupNote {
  Instant latest;                             // latest instant of the ledger's clock
  std::optional<ImportProgress> import = {};  // none: leave it as it is
};

struct OpenOptions {
  std::shared_ptr<rocksdb::FileSystem> fs = nullptr;  // null: the operating system's
  std::string dir;                                    // DATA
  bool read_only = false;  // replay and verify; takes no lock, writes nothing
  // Operator's word that positions from this one on are lost; starts a new ledger id.
  std::optional<Position> accept_loss_from = {};
  std::string accept_option = "--accept-loss-from";  // which the errors tell the operator of
};

// Reads from any thread; add, write and refresh from one thread at a time.
class RecordLog {
 public:
  // Creates an empty log where `dir` has none. Fails, leaving every file as it is, when the log
  // is behind its watermark or differs from it, or the watermark is missing or bad beside a log
  // that is not empty; the error names the positions that are gone.
  static tl::expected<std::unique_ptr<RecordLog>, StorageError> open(const OpenOptions& options);
  // Read-only and as it is, for an audit: compared with nothing. Its head() is the last record that
  // is there, whatever its records and the watermark say.
  static tl::expected<std::unique_ptr<RecordLog>, StorageError> open_unchecked(
      std::shared_ptr<rocksdb::FileSystem> fs, const std::string& dir);
  ~RecordLog();

  LedgerId id() const;
  std::optional<Parent> parent() const;
  Position head() const;   // last durable position
  Digest root() const;     // Merkle root at head()
  Instant latest() const;  // latest instant known to have been used
  std::optional<ImportProgress> import() const;

  // As they were found at the start: of the last groups, newest first.
  const std::vector<Head>& stored_heads() const;

  // Free space where the log lies; none when the file system does not say.
  std::optional<std::uint64_t> free_bytes() const;

  // After an error the log refuses everything: the process must stop.
  tl::expected<void, StorageError> check_usable() const;

  // The position that the next record gets.
  Position next() const;
  // Joins the group that is being made.
  void add(std::string_view record);
  // One synced write of what was added (nothing is needed, where the note alone matters), then the
  // watermark. When it returns without error all of it is durable.
  tl::expected<void, StorageError> write(const GroupNote& note);
  // Writes the watermark anew with a later instant.
  tl::expected<void, StorageError> refresh(Instant latest);

  using Visit = std::function<tl::expected<bool, StorageError>(Position, std::string_view record)>;
  // Any positions, in their order. `visit` says false to stop.
  tl::expected<void, StorageError> read(std::span<const Position> positions,
                                        const Visit& visit) const;
  // Positions [from, until]; an error where one is missing or beyond head(). Bounded memory.
  tl::expected<void, StorageError> scan(Position from, Position until, const Visit& visit) const;

  // The tree as it is stored, of everything up to head(): its leaves, that of position P being
  // number P - 1, until `visit` says false; and its nodes, for the proofs of merkle_proof.h.
  tl::expected<void, StorageError> leaves(
      Position from, Position until,
      const std::function<bool(Position, const Digest&)>& visit) const;
  tl::expected<Digest, StorageError> node(MerkleNode node) const;
  // An earlier version wrote it, and it has been opened read-only since: neither is there.
  bool without_tree() const;

 private:
  struct Impl;
  explicit RecordLog(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::store
