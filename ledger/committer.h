#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "ledger/clock.h"
#include "ledger/counts.h"
#include "ledger/fatal.h"
#include "ledger/group.h"
#include "ledger/recall.h"
#include "ledger/store/log.h"

namespace holdfast {

// The thread that makes groups durable, passes their events on and gives their answers. What is
// handed over while it syncs is written together next time, so that writes grow with the load.
//
// Clients that are answered ask again: with few commands in a write, the next one waits a moment
// for as many as were answered last and were waiting then. One sync for fifty costs what one for
// five does. Where nobody comes back it gives up waiting, for longer and longer.
class Committer {
 public:
  // All references outlive it. `max_group`: commands or events beyond which nothing more may wait
  // to be written.
  Committer(store::Log& log, CommittedSink& sink, const TimeSource& source, Fatal& fatal,
            LedgerCounts& counts, std::size_t max_group, std::uint64_t min_free_disk_bytes);
  ~Committer();  // abandon()

  // Blocks while too much is waiting; for a group that nobody waits for, anything: those who come
  // after it are to wait for little. False: the ledger is over. One thread.
  bool hand_over(Group group);

  // The latest instant used, which reaches the disk within about a second.
  void used(Instant now) { latest_used_.store(now.ms, std::memory_order_relaxed); }

  // Free disk space is below the reserve, by the last look at it, at most a second or so ago.
  bool disk_is_low() const { return disk_is_low_.load(std::memory_order_relaxed); }

  // Commands or events handed over that no write has taken yet. Any thread.
  std::size_t waiting() const;

  // Commits what was handed over, writes the latest instant, ends the thread. Idempotent.
  void finish();
  // Ends the thread as soon as it lets go of what it is doing; writes nothing more.
  void abandon();

 private:
  void run();
  std::vector<Group> next(bool& idle);
  void wait_for_more(std::unique_lock<std::mutex>& lock);
  bool append(const std::vector<Group>& groups);
  bool commit(std::vector<Group>& groups);
  bool now_and_then(bool idle);
  bool refresh(Instant latest);
  void look_at_disk();
  void join();

  store::Log& log_;
  CommittedSink& sink_;
  const TimeSource& source_;
  Fatal& fatal_;
  LedgerCounts& counts_;
  const std::size_t max_group_;
  const std::uint64_t min_free_disk_bytes_;

  std::atomic<std::int64_t> latest_used_{0};
  std::atomic<bool> disk_is_low_{false};
  // The thread's own.
  std::int64_t looked_at_ms_;         // by the steady clock
  unsigned writes_without_wait_ = 0;  // to come
  unsigned waits_in_vain_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable for_committer_;
  std::condition_variable for_writer_;
  std::vector<Group> waiting_;
  std::size_t waiting_size_ = 0;  // of all of them
  std::size_t expected_ = 0;      // of that, what is worth waiting for
  bool finishing_ = false;
  std::thread thread_;
};

}  // namespace holdfast
