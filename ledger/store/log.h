#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <rocksdb/file_system.h>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/event.h"

// The durable log: events by position in RocksDB, the Merkle head beside them, and the watermark
// that shows when RocksDB came back with less than was acknowledged. Bytes: FORMAT.md.
namespace holdfast::store {

using LedgerId = std::array<std::byte, 16>;

// A fault of storage. `what` is a sentence for an operator: what is wrong, and what to do.
struct StorageError {
  std::string what;
};

// Where a ledger id began that accepted the loss of its parent's last positions.
struct Parent {
  LedgerId id;
  Position position;  // the parent's last position that was kept
  Digest root;        // Merkle root over the positions up to it
};

// Progress of an import, durable with the events it belongs to.
struct ImportProgress {
  Digest file;               // SHA-256 of the file being imported
  std::uint64_t line = 0;    // last line judged, from 1; 0: none
  Instant clock;             // the ledger's instant, set by the file
  bool finished = false;     // this file is done; another one follows (--more)
};

// Side by side with events in one synced write.
struct GroupNote {
  Instant latest;  // latest instant of the ledger's clock
  // outer: leave as it is; inner none: import mode ends.
  std::optional<std::optional<ImportProgress>> import;
};

struct OpenOptions {
  std::shared_ptr<rocksdb::FileSystem> fs;  // null: the operating system's
  std::string dir;                          // DATA
  bool read_only = false;                   // replay and verify; takes no lock, writes nothing
  // Operator's word that positions from this one on are lost; starts a new ledger id.
  std::optional<Position> accept_loss_from;
};

// Reads from any thread; append and refresh from one thread at a time.
class Log {
 public:
  // Creates an empty ledger where DATA has none. Fails, leaving every file as it is, when the log
  // is behind its watermark or differs from it, or the watermark is missing or bad beside a log
  // that is not empty; the error names the positions that are gone.
  static tl::expected<std::unique_ptr<Log>, StorageError> open(const OpenOptions& options);
  virtual ~Log();

  LedgerId id() const;
  std::optional<Parent> parent() const;
  Position head() const;   // last durable position
  Digest root() const;     // Merkle root at head()
  Instant latest() const;  // latest instant known to have been used
  std::optional<ImportProgress> import() const;

  // One synced write of the events (dense, from head()+1; may be empty when the note alone
  // matters), then the watermark. When it returns without error all of it is durable. After an
  // error the log refuses everything: the process must stop.
  tl::expected<void, StorageError> append(std::span<const Event> events, const GroupNote& note);

  // Writes the watermark anew with a later instant (at least every second, and at a clean stop).
  tl::expected<void, StorageError> refresh(Instant latest);

  tl::expected<Event, StorageError> read(Position position) const;
  tl::expected<std::vector<Event>, StorageError> read(std::span<const Position> positions) const;

  // Visits events [from, until] in order until `visit` says false; stops with an error at an event
  // that is missing or cannot be read, naming position and type. Bounded memory.
  tl::expected<void, StorageError> scan(Position from, Position until,
                                        const std::function<bool(Event&&)>& visit) const;

  // Rehashes every stored event and checks density, both chains and the stored root. Progress is
  // called now and then with the position reached.
  tl::expected<void, StorageError> verify(const std::function<void(Position)>& progress) const;
};

}  // namespace holdfast::store
