#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "ledger/bindings.h"
#include "ledger/clock.h"
#include "ledger/command_queue.h"
#include "ledger/committer.h"
#include "ledger/counts.h"
#include "ledger/fatal.h"
#include "ledger/fresh_key.h"
#include "ledger/group.h"
#include "ledger/ledger.h"
#include "ledger/recollection.h"

namespace holdfast {

// The one who decides: takes what is queued, decides it command after command against the state,
// sweeps in between, and hands groups to the committer. All but set_sweep() and status() on the
// writer thread.
class Writer {
 public:
  // References outlive it.
  Writer(const store::Log& log, State state, const TimeSource& source, const Recall& recall,
         CommandQueue& queue, Committer& committer, Fatal& fatal, LedgerCounts& counts,
         const LedgerOptions& options);

  // Until the queue has ended and all of it is decided and handed over, or the ledger is over.
  void run();

  void set_sweep(bool on) { sweep_on_.store(on); }
  Ledger::Status status() const;

 private:
  struct RunningSweep {
    std::size_t limit;  // how many may still be recorded
    std::uint64_t recorded = 0;
    std::function<void(SweepReport)> done;
  };

  bool recollect(const std::vector<Item>& items);
  void handle(SubmitItem& item);
  void handle(ReadItem& item);
  void handle(SweepItem& item);
  void handle(DisconnectItem& item);
  void handle(ConfirmClockItem& item);
  void handle(ImportBeginItem& item);
  void handle(ImportLinesItem& item);
  void handle(ImportEndItem& item);

  // Starts what is judged at this instant: the state is as of it.
  Instant advance_to_now();
  Outcome judge(const Submission& submission, Instant now);
  void count(const Submission& submission, const Outcome& outcome);
  Outcome decide_now(const Submission& submission, Instant now);
  std::optional<Outcome> said_before(const Command& command) const;
  Outcome remember(const Command& command, Accepted answer);
  void bind(const Command& command, const Accepted& answer);
  void make_room_for(std::size_t commands);
  void take(std::vector<Event>& events);

  // Import mode.
  std::optional<Refusal> not_judged(const ImportLine& line);
  Outcome judge(const ImportLine& line);
  bool record_all_lapsed(Instant now);
  void set_import(store::ImportProgress progress);
  bool in_import_mode() const { return import_ && import_->stage != store::ImportStage::ended; }

  // The sweep.
  bool may_sweep() const;
  std::optional<Duration> patience() const;
  bool sweep_some();
  std::optional<std::size_t> record_lapsed(Instant now, std::size_t limit);

  // Bound holds whose connection has ended.
  bool is_bound_hold(std::string_view key) const;
  void release_what_was_bound();
  bool release_some(Instant now);

  bool fail(const store::StorageError& error);
  bool hand_over();
  void say(std::function<void()> answer);

  const Recall& recall_;
  CommandQueue& queue_;
  Committer& committer_;
  Fatal& fatal_;
  LedgerCounts& counts_;
  const LedgerOptions& options_;

  State state_;
  LedgerClock clock_;
  Instant now_;  // the last instant judged at
  Recollection recollection_;
  FreshKeys fresh_keys_;
  Bindings bindings_;
  std::deque<Key> to_release_;  // were bound to connections that have ended
  Group group_;                 // open: decided, not yet handed over
  std::deque<RunningSweep> sweeps_;
  std::optional<store::ImportProgress> import_;  // of the last import, over or not
  bool taking_lines_ = false;  // begun in this run, and every line since then was judged

  std::atomic<bool> sweep_on_;
  std::atomic<bool> importing_{false};
  std::atomic<bool> clock_unsafe_{false};
};

}  // namespace holdfast
