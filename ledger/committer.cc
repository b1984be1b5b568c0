#include "ledger/committer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

namespace holdfast {
namespace {

constexpr std::int64_t kNowAndThenMs = 1'000;
// What a sync costs, spread over as many commands as this, is little beside the rest.
constexpr std::size_t kEnoughForAWrite = 256;
constexpr std::chrono::milliseconds kWaitForMore{1};
constexpr unsigned kMostWaitsInVain = 7;

}  // namespace

Committer::Committer(store::Log& log, CommittedSink& sink, const TimeSource& source, Fatal& fatal,
                     LedgerCounts& counts, std::size_t max_group, std::uint64_t min_free_disk_bytes)
    : log_(log),
      sink_(sink),
      source_(source),
      fatal_(fatal),
      counts_(counts),
      max_group_(max_group),
      min_free_disk_bytes_(min_free_disk_bytes),
      looked_at_ms_(source.steady_ms()) {
  look_at_disk();
  thread_ = std::thread([this] { run(); });
}

Committer::~Committer() { abandon(); }

bool Committer::hand_over(Group group) {
  {
    std::unique_lock lock(mutex_);
    for_writer_.wait(lock, [&] {
      if (fatal_.over() || waiting_.empty()) return true;
      return !group.answers.empty() && waiting_size_ + group.size() <= max_group_;
    });
    if (fatal_.over()) return false;
    waiting_size_ += group.size();
    waiting_.push_back(std::move(group));
    if (waiting_.size() > 1 && waiting_size_ < expected_) return true;
  }
  for_committer_.notify_one();
  return true;
}

void Committer::run() {
  bool idle = false;
  bool going_on = true;
  while (going_on) {
    std::vector<Group> groups = next(idle);
    if (groups.empty() && !idle) break;
    going_on = (groups.empty() || commit(groups)) && now_and_then(idle);
  }
  if (going_on && !fatal_.over()) {
    refresh({latest_used_.load(std::memory_order_relaxed)});
  }
  const std::lock_guard lock(mutex_);
  for_writer_.notify_one();
}

// What waits; none and idle: for a second there was nothing; none and not idle: this is the end.
std::vector<Group> Committer::next(bool& idle) {
  std::vector<Group> groups;
  std::unique_lock lock(mutex_);
  idle = !for_committer_.wait_for(lock, std::chrono::milliseconds(kNowAndThenMs), [this] {
    return !waiting_.empty() || finishing_ || fatal_.over();
  });
  if (!waiting_.empty()) wait_for_more(lock);
  if (!fatal_.over()) {
    groups.swap(waiting_);
    waiting_size_ = 0;
  }
  lock.unlock();
  for_writer_.notify_one();
  return groups;
}

void Committer::wait_for_more(std::unique_lock<std::mutex>& lock) {
  if (waiting_size_ >= expected_) return;
  if (writes_without_wait_ > 0) {
    --writes_without_wait_;
    return;
  }
  for_committer_.wait_for(lock, kWaitForMore, [this] {
    return waiting_size_ >= expected_ || finishing_ || fatal_.over();
  });
  if (waiting_size_ >= expected_) {
    waits_in_vain_ = 0;
    return;
  }
  waits_in_vain_ = std::min(waits_in_vain_ + 1, kMostWaitsInVain);
  writes_without_wait_ = (1u << waits_in_vain_) - 1;
}

std::size_t Committer::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_size_;
}

bool Committer::append(const std::vector<Group>& groups) {
  std::vector<std::span<const Event>> events;
  store::GroupNote note{.latest = groups.back().latest};
  std::size_t count = 0;
  for (const Group& group : groups) {
    count += group.events.size();
    if (!group.events.empty()) events.emplace_back(group.events);
    if (group.import) note.import = group.import;
  }
  if (events.empty() && !note.import) return true;
  const std::int64_t began_us = source_.steady_us();
  if (const auto appended = log_.append_pieces(events, note); !appended) {
    fatal_.raise(appended.error());
    return false;
  }
  counts_.group_events.add(count);
  counts_.write_us.add(static_cast<std::uint64_t>(source_.steady_us() - began_us));
  return !fatal_.over();
}

bool Committer::commit(std::vector<Group>& groups) {
  if (!append(groups)) return false;
  std::size_t size = 0;
  for (Group& group : groups) {
    size += group.size();
    if (!group.events.empty()) {
      sink_.committed(std::make_shared<const std::vector<Event>>(std::move(group.events)));
    }
  }
  {
    const std::lock_guard lock(mutex_);
    expected_ = std::min(size + waiting_size_, kEnoughForAWrite);
  }
  for (Group& group : groups) {
    for (Answer& answer : group.answers) {
      if (fatal_.over()) return false;
      std::visit([](auto& it) { it.give(); }, answer);
    }
  }
  return true;
}

// About once a second, busy or not: the latest instant to disk, a look at the space there.
bool Committer::now_and_then(bool idle) {
  const std::int64_t now_ms = source_.steady_ms();
  if (!idle && now_ms - looked_at_ms_ < kNowAndThenMs) return true;
  looked_at_ms_ = now_ms;
  look_at_disk();
  return refresh({latest_used_.load(std::memory_order_relaxed)});
}

bool Committer::refresh(Instant latest) {
  if (latest <= log_.latest()) return true;
  const auto refreshed = log_.refresh(latest);
  if (!refreshed) fatal_.raise(refreshed.error());
  return refreshed.has_value();
}

void Committer::look_at_disk() {
  const auto free = log_.free_bytes();
  disk_is_low_.store(free && *free < min_free_disk_bytes_, std::memory_order_relaxed);
}

void Committer::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  join();
}

void Committer::abandon() {
  {
    const std::lock_guard lock(mutex_);
    fatal_.silence();
  }
  join();
}

void Committer::join() {
  for_committer_.notify_one();
  for_writer_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace holdfast
