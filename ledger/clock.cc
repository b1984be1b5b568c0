#include "ledger/clock.h"

#include <time.h>

#include <algorithm>

#include "ledger/domain/invariant.h"

namespace holdfast {
namespace {

std::int64_t read_us(clockid_t clock) {
  timespec now{};
  HOLDFAST_INVARIANT(clock_gettime(clock, &now) == 0, "the machine has its clocks");
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

Instant MachineTime::wall() const { return {read_us(CLOCK_REALTIME) / 1'000}; }

std::int64_t MachineTime::steady_us() const { return read_us(CLOCK_BOOTTIME); }

std::int64_t MachineTime::steady_ms() const { return steady_us() / 1'000; }

LedgerClock::LedgerClock(const TimeSource& source, Instant latest, Duration max_leap)
    : source_(source), max_leap_(max_leap), now_(latest), last_(read()) {}

LedgerClock::Reading LedgerClock::read() const {
  // A pause of the process between the two readings would look like a leap: read again.
  constexpr std::int64_t kAtOnceMs = 1'000;
  for (;;) {
    const std::int64_t before = source_.steady_ms();
    const Instant wall = std::clamp(source_.wall(), kMinInstant, kMaxInstant);
    const std::int64_t after = source_.steady_ms();
    if (after - before < kAtOnceMs) return {wall, after};
  }
}

Instant LedgerClock::now() {
  const Reading reading = read();
  const Duration elapsed{std::max<std::int64_t>(reading.steady_ms - last_.steady_ms, 0)};
  const Duration leap = reading.wall - (last_.wall + elapsed);
  last_ = reading;
  if (pinned_) return now_;
  if (leap > max_leap_ || leap < Duration{-max_leap_.ms}) unsafe_ = true;
  if (unsafe_) {
    now_ = std::min(now_ + elapsed, kMaxInstant);
    return now_;
  }
  const std::int64_t halves = elapsed.ms + (half_ms_owed_ ? 1 : 0);
  const Instant at_half_speed = now_ + Duration{halves / 2};
  half_ms_owed_ = reading.wall < at_half_speed && halves % 2 != 0;
  now_ = std::min(std::max(reading.wall, at_half_speed), kMaxInstant);
  return now_;
}

void LedgerClock::confirm() {
  now();
  unsafe_ = false;
}

void LedgerClock::pin(Instant at) {
  HOLDFAST_INVARIANT(!pinned_ || at >= now_, "an import's clock never goes back");
  now_ = at;
  pinned_ = true;
}

void LedgerClock::release() {
  last_ = read();
  pinned_ = false;
  half_ms_owed_ = false;
}

}  // namespace holdfast
