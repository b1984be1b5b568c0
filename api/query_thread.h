#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::api {

// Where queries that read disk are answered, in order, so that they never keep the ledger or the
// connections waiting.
class QueryThread {
 public:
  QueryThread();
  ~QueryThread();  // runs what is queued, then ends

  // From any thread. False: too many wait already, and `work` is not kept.
  bool post(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // under mutex_
  bool ending_ = false;                      // under mutex_
  std::thread thread_;
};

}  // namespace holdfast::api
