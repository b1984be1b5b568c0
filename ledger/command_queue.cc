#include "ledger/command_queue.h"

#include <chrono>
#include <utility>

namespace holdfast {
namespace {

std::size_t commands_of(const Item& item) {
  const auto* submitted = std::get_if<SubmitItem>(&item);
  return submitted == nullptr ? 0 : submitted->commands.size();
}

// How much of a taken batch it is.
std::size_t weight_of(const Item& item) {
  const auto* lines = std::get_if<ImportLinesItem>(&item);
  return lines == nullptr ? commands_of(item) + 1 : lines->lines.size();
}

}  // namespace

CommandQueue::Put CommandQueue::put(Item& item, bool wake) {
  const std::size_t commands = commands_of(item);
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return Put::ended;
    if (commands_ != 0 && commands != 0 && commands_ + commands > max_commands_) return Put::full;
    commands_ += commands;
    items_.push_back(std::move(item));
    if (!wake && commands_ < kWorthWaking) return Put::done;
    if (!std::exchange(asleep_, false)) return Put::done;
  }
  changed_.notify_one();
  return Put::done;
}

std::size_t CommandQueue::commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

bool CommandQueue::take(std::size_t max_commands, std::optional<Duration> patience,
                        std::vector<Item>& items) {
  std::unique_lock lock(mutex_);
  const auto anything = [this] { return !items_.empty() || interrupted_ || ended_; };
  asleep_ = !anything();
  const auto woken = [&] { return !asleep_ || interrupted_ || ended_; };
  if (patience) {
    changed_.wait_for(lock, std::chrono::milliseconds(patience->ms), woken);
  } else {
    changed_.wait(lock, woken);
  }
  asleep_ = false;
  interrupted_ = false;
  for (std::size_t taken = 0; !items_.empty() && taken < max_commands; items_.pop_front()) {
    taken += weight_of(items_.front());
    commands_ -= commands_of(items_.front());
    items.push_back(std::move(items_.front()));
  }
  return !items.empty() || !ended_;
}

void CommandQueue::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (items_.empty() || !std::exchange(asleep_, false)) return;
  }
  changed_.notify_one();
}

void CommandQueue::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  changed_.notify_one();
}

void CommandQueue::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
}

void CommandQueue::drop() {
  std::deque<Item> dropped;  // destroyed without the lock: callbacks may own much
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    dropped.swap(items_);
    commands_ = 0;
  }
  changed_.notify_one();
}

}  // namespace holdfast
