#include "api/query_thread.h"

#include <utility>

namespace holdfast::api {

namespace {

constexpr std::size_t kMaxQueued = 1'024;

}  // namespace

QueryThread::QueryThread() : thread_([this] { run(); }) {}

QueryThread::~QueryThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool QueryThread::post(std::function<void()> work) {
  // Notified under the lock: once the work runs, who waits for it may destroy this.
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= kMaxQueued) return false;
  queue_.push_back(std::move(work));
  changed_.notify_one();
  return true;
}

void QueryThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace holdfast::api
