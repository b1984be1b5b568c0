#include "tools/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kRedrawNs = 100'000'000;
constexpr std::size_t kBarWidth = 30;

}  // namespace

Progress::Progress(std::string what, std::uint64_t total, std::string unit)
    : what_(std::move(what)),
      total_(total),
      unit_(std::move(unit)),
      visible_(stderr_is_terminal()) {}

void Progress::hide() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

std::string Progress::bar(std::uint64_t done) const {
  if (total_ == 0) return "";
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  return fmt::format(" [{}{}] {:3.0f}% ", std::string(filled, '#'),
                     std::string(kBarWidth - filled, '.'), part * 100);
}

void Progress::show(std::uint64_t done, std::uint64_t counted) {
  if (!visible_) return;
  const std::uint64_t now = since_.nanoseconds();
  if (drawn_ && now - drawn_at_ns_ < kRedrawNs) return;
  drawn_ = true;
  drawn_at_ns_ = now;
  const double seconds = static_cast<double>(now) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(counted) / seconds : 0;
  fmt::print(stderr, "\r\033[K{}{} {} {}, {:.0f} a second", what_, bar(done), counted, unit_, rate);
  std::fflush(stderr);
}

}  // namespace holdfast::cli
