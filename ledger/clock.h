#pragma once

#include <cstdint>

#include "ledger/domain/time.h"

// The ledger's clock (DESIGN 1.1). Its implementation for the machine, in clock.cc, is the only
// place of the program that reads a clock.
namespace holdfast {

// Where readings come from: the machine, or a scenario. Read from any thread.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual Instant wall() const = 0;            // Unix time, may jump
  virtual std::int64_t steady_ms() const = 0;  // never goes back, counts suspended time
  // The same, finer where the source is.
  virtual std::int64_t steady_us() const { return 1'000 * steady_ms(); }
};

class MachineTime final : public TimeSource {
 public:
  Instant wall() const override;
  std::int64_t steady_ms() const override;
  std::int64_t steady_us() const override;
};

// Never goes back. Ahead of it, the wall clock is followed at once; behind it, the ledger's clock
// goes on at half speed until they meet. One thread at a time. Stays within the valid instants.
class LedgerClock {
 public:
  // `latest`: the latest instant used before, where the clock starts again.
  LedgerClock(const TimeSource& source, Instant latest, Duration max_leap = kHour);

  Instant now();

  // The wall clock has leapt by more than max_leap against the steady clock between two calls of
  // now(). Latched until confirm(), which accepts the wall clock as it is; until then now() goes
  // on with the steady clock alone.
  bool unsafe() const { return unsafe_; }
  void confirm();

  // Import: the instants are the file's, none before the one pinned already. From then on now() is
  // the last of them until release(), from which the clock goes on.
  void pin(Instant at);
  void release();
  bool pinned() const { return pinned_; }

 private:
  struct Reading {
    Instant wall;
    std::int64_t steady_ms;
  };
  Reading read() const;

  const TimeSource& source_;
  Duration max_leap_;
  Instant now_;
  Reading last_;
  bool half_ms_owed_ = false;  // of the half speed, so that no millisecond is lost
  bool unsafe_ = false;
  bool pinned_ = false;
};

}  // namespace holdfast
