#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/clock.h"
#include "ledger/counts.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/state.h"
#include "ledger/recall.h"
#include "ledger/store/log.h"

// The running ledger: one writer thread decides, one committer thread makes groups durable.
namespace holdfast {

// A command as it arrives: checked in form, or already refused for its form. The writer still has
// to see the latter, since `overloaded`, `read_only` and `clock_unsafe` come first.
using Submission = tl::expected<Command, Refusal>;
using Outcome = tl::expected<Accepted, Refusal>;

struct LedgerOptions {
  Policy policy;
  Duration max_clock_leap = kHour;
  bool sweep = true;  // record lapsed holds without being asked
  // Events per group given to the sweep: a command that comes meanwhile waits for so many.
  std::size_t sweep_at_a_time = 100;
  std::size_t max_queued_commands = 65'536;  // beyond: overloaded
  std::size_t max_group_commands = 8'192;
  bool wake_on_submit = true;                      // false: submitted commands may wait for wake()
  std::uint64_t min_free_disk_bytes = 256u << 20;  // below: read_only
};

struct SweepReport {
  std::uint64_t recorded;
  std::uint64_t left;
};

// A line of an import: the file's line number and instant with its command.
struct ImportLine {
  std::uint64_t line;
  Instant at;
  Submission submission;
};

// All calls are safe from any thread. Callbacks run on the committer thread once everything that
// was decided before them is durable; they must be quick and must not call back into the ledger's
// blocking functions. Submissions from one thread are decided in the order of the calls.
class Ledger {
 public:
  // `state` is the fold of the whole log (State::head() == log head). All references outlive the
  // ledger; nobody else appends to `log`.
  Ledger(store::Log& log, State state, const TimeSource& source, const Recall& recall,
         CommittedSink& sink, LedgerOptions options);
  ~Ledger();  // stop()

  // The outcomes, in order, and the position at which they are true.
  using Outcomes = std::function<void(std::vector<Outcome>, Position)>;
  void submit(std::vector<Submission> commands, Outcomes done);
  // For those who submit much in a row and without wake_on_submit: the writer is woken once, and
  // decides all of it in one group.
  void wake();

  // Runs `read` on the writer thread, after advance(), then what it returned on the committer
  // thread once the open group is durable. `read` must not take long.
  using Deliver = std::function<void(Position)>;
  using Read = std::function<Deliver(const State& state, Instant now)>;
  void read(Read read);

  // A connection has ended (Asker::connection): the holds bound to it are released. At the start
  // all bound holds are.
  void disconnect(std::uint64_t connection);

  // Records at most `limit` lapsed holds now, whether or not the sweep is on.
  void sweep(std::size_t limit, std::function<void(SweepReport)> done);
  void set_sweep(bool on);
  // An operator accepts the wall clock after a leap.
  void confirm_clock(std::function<void()> done);

  // Import mode (DESIGN 6). begin: the last line already judged of this file, or read_only with
  // the field that says why not: `ledger` is not empty, another `file` is half done, the `disk` is
  // full. A file whose import has ended may be begun and ended again, which changes nothing. Lines
  // are numbered upwards. A line that cannot be judged now is read_only too (`import`
  // not begun, `disk`, `line` judged before), and so are all after it until the file is begun
  // again, so that none is passed over. Lines are never overloaded.
  void import_begin(Digest file, std::function<void(tl::expected<std::uint64_t, Refusal>)> done);
  void import_lines(std::vector<ImportLine> lines, Outcomes done);
  void import_end(bool more, std::function<void(tl::expected<void, Refusal>)> done);

  struct Status {
    bool importing;
    bool read_only;
    bool clock_unsafe;
    std::size_t queued_commands = 0;     // waiting to be decided
    std::size_t unwritten_commands = 0;  // decided, waiting to be written
  };
  Status status() const;
  // What was done since it was opened.
  const LedgerCounts& counts() const;

  const store::Log& log() const;
  const Policy& policy() const;

  // Answers what was submitted, makes it durable, writes the watermark, ends the threads.
  // Idempotent. What comes later is not answered.
  void stop();
  // As a crash would: ends the threads without writing anything more (scenario `crash`).
  void abandon();

  // Called once, on whichever thread noticed, when a write or sync failed; no answer is given
  // after that. It must not call stop() itself. Default: prints the error and exits the process
  // with status 1.
  void on_fatal(std::function<void(const store::StorageError&)> handler);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast
