#include "ledger/access/access_log.h"

#include <algorithm>
#include <span>
#include <utility>

namespace holdfast::access {
namespace {

constexpr std::chrono::seconds kTick{1};  // minutes end when nothing happens, too
constexpr std::size_t kWriteAtOnce = 8'192;
// Nobody confirms this log's clock: it follows the wall clock, and never goes back.
constexpr Duration kAnyLeap{kMaxInstant.ms};

}  // namespace

std::string access_path(const std::string& dir) { return dir + "/access"; }

tl::expected<std::unique_ptr<AccessLog>, store::StorageError> AccessLog::open(
    const Options& options, const TimeSource& time,
    std::function<void(const std::string& why)> failed) {
  store::OpenOptions opening;
  opening.fs = options.fs;
  opening.dir = access_path(options.dir);
  opening.accept_loss_from = options.accept_loss_from;
  opening.accept_option = "--accept-access-loss-from";
  auto log = store::RecordLog::open(opening);
  if (!log) return store::fail("the access log: " + log.error().what);
  return std::unique_ptr<AccessLog>(
      new AccessLog(std::move(*log), options, time, std::move(failed)));
}

AccessLog::AccessLog(std::unique_ptr<store::RecordLog> log, const Options& options,
                     const TimeSource& time, std::function<void(const std::string&)> failed)
    : log_(std::move(log)),
      max_queued_(options.max_queued),
      group_(options.group),
      failed_(std::move(failed)),
      clock_(time, log_->latest(), kAnyLeap),
      tallies_(options.per_minute),
      thread_([this] { run(); }) {}

AccessLog::~AccessLog() { stop(); }

// Under mutex_. Begins another minute, if it is time.
Instant AccessLog::turn(bool end) {
  const Instant at = clock_.now();
  for (Entry& dropped : tallies_.turn(at, end)) {
    queue_.push_back({at, std::move(dropped)});
    ++recorded_;
  }
  return at;
}

void AccessLog::record(Entry entry) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || failure_) return;
    const std::size_t before = queue_.size();
    const Instant at = turn(false);
    if (tallies_.admit(entry, queue_.size() >= max_queued_)) {
      queue_.push_back({at, std::move(entry)});
      ++recorded_;
    }
    const std::size_t full_enough = max_queued_ / 2;
    first = queue_.size() > before &&
            (before == 0 || (before < full_enough && queue_.size() >= full_enough));
  }
  if (first) changed_.notify_one();
}

bool AccessLog::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t upto = recorded_;
  wanted_ = std::max(wanted_, upto);
  changed_.notify_one();
  written_.wait(lock, [&] { return durable_ >= upto || failure_ || ended_; });
  return durable_ >= upto;
}

std::optional<std::string> AccessLog::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void AccessLog::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) turn(true);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// Until there is something to write and it has gathered for a while, or a second has passed.
void AccessLog::await_group(std::unique_lock<std::mutex>& lock) {
  const auto hurried = [this] { return stopping_ || durable_ < wanted_; };
  changed_.wait_for(lock, kTick, [&] { return hurried() || !queue_.empty(); });
  if (queue_.empty()) return;
  changed_.wait_for(lock, group_, [&] { return hurried() || queue_.size() >= max_queued_ / 2; });
}

void AccessLog::run() {
  std::vector<Waiting> waiting;
  std::unique_lock lock(mutex_);
  while (!stopping_ || !queue_.empty()) {
    if (!stopping_) {
      await_group(lock);
      if (!stopping_) turn(false);
    }
    if (queue_.empty()) continue;
    waiting.clear();
    std::swap(waiting, queue_);
    lock.unlock();
    const auto done = write(waiting);
    if (!done) failed_(done.error().what);
    lock.lock();
    if (!done) {
      failure_ = done.error().what;
      queue_.clear();
      break;
    }
    durable_ += waiting.size();
    written_.notify_all();
  }
  ended_ = true;
  written_.notify_all();
}

tl::expected<void, store::StorageError> AccessLog::write(const std::vector<Waiting>& waiting) {
  for (std::span rest(waiting); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), kWriteAtOnce));
    rest = rest.subspan(some.size());
    for (const Waiting& one : some) log_->add(encode({log_->next(), one.at, one.entry}));
    if (auto done = log_->write({.latest = some.back().at}); !done) return done;
  }
  return {};
}

}  // namespace holdfast::access
