#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "ledger/domain/event.h"
#include "ledger/store/record_log.h"
#include "ledger/store/storage_error.h"

// The ledger's log: a log of records that are events.
namespace holdfast::store {

// Reads from any thread; append and refresh from one thread at a time.
class Log {
 public:
  // Creates an empty ledger where DATA has none. Fails, leaving every file as it is, when the log
  // is behind its watermark or differs from it, or the watermark is missing or bad beside a log
  // that is not empty; the error names the positions that are gone.
  static tl::expected<std::unique_ptr<Log>, StorageError> open(const OpenOptions& options);

  LedgerId id() const { return records_->id(); }
  std::optional<Parent> parent() const { return records_->parent(); }
  Position head() const { return records_->head(); }     // last durable position
  Digest root() const { return records_->root(); }       // Merkle root at head()
  Instant latest() const { return records_->latest(); }  // latest instant known to have been used
  std::optional<ImportProgress> import() const { return records_->import(); }

  // Free space where DATA lies; none when the file system does not say.
  std::optional<std::uint64_t> free_bytes() const { return records_->free_bytes(); }

  // The events' stored bytes, and the nodes of the Merkle tree over them.
  const RecordLog& records() const { return *records_; }

  // One synced write of the events (dense, from head()+1, anything else stops the process; may be
  // empty when the note alone matters), then the watermark. When it returns without error all of it
  // is durable. After an error the log refuses everything: the process must stop.
  tl::expected<void, StorageError> append(std::span<const Event> events, const GroupNote& note);
  // The same of events that lie in several pieces.
  tl::expected<void, StorageError> append_pieces(std::span<const std::span<const Event>> pieces,
                                                 const GroupNote& note);

  // Writes the watermark anew with a later instant (at least every second, and at a clean stop).
  tl::expected<void, StorageError> refresh(Instant latest) { return records_->refresh(latest); }

  tl::expected<Event, StorageError> read(Position position) const;
  tl::expected<std::vector<Event>, StorageError> read(std::span<const Position> positions) const;

  // Visits events [from, until] in order until `visit` says false; stops with an error at an event
  // that is missing (beyond head() too) or cannot be read, naming position and type. Bounded
  // memory.
  tl::expected<void, StorageError> scan(Position from, Position until,
                                        const std::function<bool(Event&&)>& visit) const;

 private:
  explicit Log(std::unique_ptr<RecordLog> records) : records_(std::move(records)) {}

  const std::unique_ptr<RecordLog> records_;
  std::string bytes_;  // of the event being encoded
};

}  // namespace holdfast::store
