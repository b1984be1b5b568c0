#pragma once

#include <atomic>

#include "ledger/clock.h"

namespace holdfast {

// A machine's clocks, set by hand.
class FakeTime final : public TimeSource {
 public:
  explicit FakeTime(Instant wall) : wall_(wall.ms) {}

  Instant wall() const override { return {wall_.load()}; }
  std::int64_t steady_ms() const override { return steady_ms_.load(); }

  void pass(Duration time) {
    wall_ += time.ms;
    steady_ms_ += time.ms;
  }
  // The wall clock is put forward or back; no time passes.
  void step_wall(Duration by) { wall_ += by.ms; }

 private:
  std::atomic<std::int64_t> wall_;
  std::atomic<std::int64_t> steady_ms_{5'000};
};

}  // namespace holdfast
