#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::tools {

// Measures how long something took; nothing is ever decided by it.
class Stopwatch {
 public:
  std::uint64_t nanoseconds() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_).count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
};

}  // namespace holdfast::tools
