#pragma once

#include <cstdint>
#include <string>

#include "tools/bench/stopwatch.h"

namespace holdfast::cli {

// A bar on stderr for long work, only where that is a terminal; redrawn at most ten times a second.
class Progress {
 public:
  // `total` 0: nobody knows. `unit` is what is counted for the rate ("lines", "events").
  Progress(std::string what, std::uint64_t total, std::string unit);
  ~Progress() { hide(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total`, `counted` units so far.
  void show(std::uint64_t done, std::uint64_t counted);
  // Takes it away until the next time.
  void hide();

 private:
  std::string bar(std::uint64_t done) const;

  std::string what_;
  std::uint64_t total_;
  std::string unit_;
  bool visible_;
  bool drawn_ = false;
  std::uint64_t drawn_at_ns_ = 0;
  tools::Stopwatch since_;
};

}  // namespace holdfast::cli
