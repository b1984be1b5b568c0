#include "projections/log_reader.h"

#include <utility>

namespace holdfast::projections {

LogReader::LogReader(const store::Log& log, Position from, Position until, std::size_t chunk)
    : thread_([this, &log, from, until, chunk] { read(log, from, until, chunk); }) {}

LogReader::~LogReader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LogReader::read(const store::Log& log, Position from, Position until, std::size_t chunk) {
  std::vector<Event> events;
  events.reserve(chunk);
  auto scanned = log.scan(from, until, [&](Event&& event) {
    events.push_back(std::move(event));
    return events.size() < chunk || hand_over(events);
  });
  if (!events.empty()) hand_over(events);
  const std::lock_guard lock(mutex_);
  outcome_ = std::move(scanned);
  done_ = true;
  changed_.notify_all();
}

// Gives the chunk away for an empty one. False: nobody wants any more.
bool LogReader::hand_over(std::vector<Event>& chunk) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_.empty() || stop_; });
    if (stop_) return false;
    ready_.swap(chunk);
    chunk.swap(used_);
    changed_.notify_all();
  }
  chunk.clear();
  return true;
}

bool LogReader::next(std::vector<Event>& chunk) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || done_; });
  if (ready_.empty()) return false;
  used_.swap(chunk);
  chunk = std::exchange(ready_, {});
  changed_.notify_all();
  return true;
}

tl::expected<void, store::StorageError> LogReader::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace holdfast::projections
