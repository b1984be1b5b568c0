#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/store/log.h"

namespace holdfast::projections {

// Reads a stretch of the log in chunks, on a thread of its own: the next chunk is read and decoded
// while the last one is used.
class LogReader {
 public:
  LogReader(const store::Log& log, Position from, Position until, std::size_t chunk);
  ~LogReader();  // stops reading

  // Gives the next chunk for the last one. False: there is nothing more, or it cannot be read;
  // outcome() says which.
  bool next(std::vector<Event>& chunk);
  tl::expected<void, store::StorageError> outcome() const;

 private:
  void read(const store::Log& log, Position from, Position until, std::size_t chunk);
  bool hand_over(std::vector<Event>& chunk);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> ready_;
  std::vector<Event> used_;  // freed by the thread that made them
  bool stop_ = false;
  bool done_ = false;
  tl::expected<void, store::StorageError> outcome_;
  std::thread thread_;
};

}  // namespace holdfast::projections
