#pragma once

#include <atomic>
#include <cstddef>

// What keeps the server's memory bounded whatever clients do. Sizes are estimates in bytes of what
// a request will occupy until its answer has been sent.
namespace holdfast::api {

struct SessionLimits {
  std::size_t in_flight_requests = 1'024;        // of one connection; beyond: not read any further
  std::size_t in_flight_bytes = 64u << 20;       // likewise
  std::size_t unsent_bytes = 16u << 20;          // answers of one connection, likewise
  std::size_t subscriptions = 1'024;             // of one connection; beyond: refused
  std::size_t all_bytes = std::size_t{1} << 30;  // of all connections; beyond: `overloaded`
};

// Shared by all connections, on any thread.
class SessionBudget {
 public:
  explicit SessionBudget(const SessionLimits& limits) : limits_(limits) {}
  const SessionLimits& limits() const { return limits_; }
  void take(std::size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  bool exhausted() const { return used() > limits_.all_bytes; }

 private:
  const SessionLimits limits_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace holdfast::api
