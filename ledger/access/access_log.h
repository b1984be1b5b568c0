#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/access/record.h"
#include "ledger/access/tallies.h"
#include "ledger/clock.h"
#include "ledger/store/record_log.h"

namespace holdfast::access {

// Where the access log of a ledger lies: DATA/access.
std::string access_path(const std::string& dir);

struct Options {
  std::shared_ptr<rocksdb::FileSystem> fs = nullptr;  // null: the operating system's
  std::string dir = {};                               // DATA
  std::optional<Position> accept_loss_from = {};      // as of the ledger's log
  std::uint32_t per_minute = 600;                     // records of an actor and kind
  std::size_t max_queued = 65'536;                    // beyond: dropped
  std::chrono::milliseconds group{500};               // a record waits at most so long
};

// The second log: who read, and what was refused. A log of records as the ledger's is one of
// events, with a tree, a head and a watermark of its own; it takes no position of the ledger.
//
// Nobody waits for a record: it is queued, and a thread of the log's own writes what has gathered
// in one synced group, at least every second. A crash loses what was recorded in the last second; a
// stop loses nothing. What the bounds leave out is counted, by actor, kind and minute, in a record
// at the minute's end. Any thread.
class AccessLog {
 public:
  // Makes an empty log where there is none. Fails as the ledger's log does where records are gone.
  // `failed` is told once, from the log's thread, why no more can be written.
  static tl::expected<std::unique_ptr<AccessLog>, store::StorageError> open(
      const Options& options, const TimeSource& time,
      std::function<void(const std::string& why)> failed);
  ~AccessLog();  // stop()

  // After a failed write or a stop nothing is kept.
  void record(Entry entry);
  // Waits until all that was recorded before is durable; false: it never will be.
  bool flush();
  // Why nothing can be written any more.
  std::optional<std::string> failure() const;

  // Writes what was recorded, and what was dropped in the present minute. Idempotent.
  void stop();

  const store::RecordLog& records() const { return *log_; }

 private:
  struct Waiting {
    Instant at;
    Entry entry;
  };
  AccessLog(std::unique_ptr<store::RecordLog> log, const Options& options, const TimeSource& time,
            std::function<void(const std::string&)> failed);

  Instant turn(bool end);
  void run();
  void await_group(std::unique_lock<std::mutex>& lock);
  tl::expected<void, store::StorageError> write(const std::vector<Waiting>& waiting);

  const std::unique_ptr<store::RecordLog> log_;
  const std::size_t max_queued_;
  const std::chrono::milliseconds group_;
  const std::function<void(const std::string&)> failed_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::condition_variable written_;
  LedgerClock clock_;
  Tallies tallies_;
  std::vector<Waiting> queue_;
  std::uint64_t recorded_ = 0;  // records queued so far, and how many of them are durable
  std::uint64_t durable_ = 0;
  std::uint64_t wanted_ = 0;  // somebody waits until so many are
  bool stopping_ = false;
  bool ended_ = false;
  std::optional<std::string> failure_;

  std::thread thread_;
};

}  // namespace holdfast::access
