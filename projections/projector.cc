#include "projections/projector.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "ledger/domain/invariant.h"

namespace holdfast::projections {
namespace {

constexpr std::chrono::milliseconds kGathering{100};
constexpr std::size_t kWorthAWrite = Fold::kChunk;

}  // namespace

Projector::Projector(std::unique_ptr<Fold> fold, const Options& options)
    : checkpoint_every_(options.checkpoint_every),
      max_queued_(options.max_queued_events),
      progress_{fold->at().position, fold->at().at, std::nullopt},
      rows_(fold->rows()),
      fold_(std::move(fold)),
      checkpoint_(fold_->at().position),
      thread_([this] { run(); }) {}

Projector::~Projector() { abandon(); }

void Projector::enqueue(CommittedEvents events) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queued_ < max_queued_ || ending_ || progress_.stopped; });
  if (ending_ || progress_.stopped) return;
  const bool idle = queue_.empty();
  const bool was_worth = worth_applying();
  queued_ += events->size();
  queue_.push_back(std::move(events));
  if (idle || (!was_worth && worth_applying())) for_projector_.notify_one();
}

std::shared_ptr<Generation> Projector::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

Progress Projector::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

Position Projector::applied() const {
  const std::lock_guard lock(mutex_);
  return progress_.position;
}

bool Projector::wait_for(Position position) const {
  std::unique_lock lock(mutex_);
  if (wanted_ < position) {
    wanted_ = position;
    for_projector_.notify_one();
  }
  changed_.wait(lock,
                [&] { return progress_.position >= position || progress_.stopped || ended_; });
  return progress_.position >= position;
}

bool Projector::pause(const std::function<void(std::unique_ptr<Fold>& fold)>& work) {
  std::shared_ptr<Generation> before;  // let go without the lock: that may delete its files
  std::unique_lock lock(mutex_);
  ++pauses_;
  changed_.wait(lock, [this] { return !applying_ || progress_.stopped; });
  const bool running = !ending_ && !progress_.stopped;
  if (running) {
    lock.unlock();
    work(fold_);
    lock.lock();
    HOLDFAST_INVARIANT(fold_->at().position == progress_.position,
                       "a fold is exchanged for one at the same position");
    before = std::exchange(rows_, fold_->rows());
  }
  --pauses_;
  changed_.notify_all();
  for_projector_.notify_one();
  return running;
}

void Projector::run() {
  for (auto groups = take(); !groups.empty(); groups = take()) {
    apply(groups);
    checkpoint_if_due();
    const std::lock_guard lock(mutex_);
    applying_ = false;
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool Projector::worth_applying() const {
  return queued_ >= std::min(kWorthAWrite, max_queued_) || wanted_ > progress_.position;
}

// Everything queued, up to about a chunk; nothing: the projector ends.
std::vector<CommittedEvents> Projector::take() {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return ending_ || progress_.stopped.has_value(); };
  const auto some = [&] { return over() || (pauses_ == 0 && !queue_.empty()); };
  for_projector_.wait(lock, some);
  for_projector_.wait_for(lock, kGathering, [&] { return over() || worth_applying(); });
  for_projector_.wait(lock, some);  // it may have been paused meanwhile
  std::vector<CommittedEvents> groups;
  if (progress_.stopped) return groups;
  std::size_t events = 0;
  while (!queue_.empty() && events < Fold::kChunk) {
    events += queue_.front()->size();
    groups.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queued_ -= events;
  applying_ = !groups.empty();
  changed_.notify_all();
  return groups;
}

void Projector::apply(std::span<const CommittedEvents> groups) {
  std::vector<std::span<const Event>> events;
  for (const CommittedEvents& group : groups) events.emplace_back(*group);
  const auto applied = fold_->apply(events);
  {
    const std::lock_guard lock(mutex_);
    progress_.position = fold_->at().position;
    progress_.at = fold_->at().at;
    changed_.notify_all();
  }
  if (!applied) fail(applied.error().what);
}

void Projector::checkpoint_if_due() {
  const Position at = fold_->at().position;
  if (at.value - checkpoint_.value < checkpoint_every_) return;
  checkpoint_ = at;
  const rocksdb::Status begun = fold_->rows()->flush(false);
  if (!begun.ok()) fail(fold_->rows()->error(begun).what);
}

void Projector::fail(std::string why) {
  const std::lock_guard lock(mutex_);
  if (progress_.stopped) return;
  progress_.stopped = std::move(why);
  queue_.clear();
  queued_ = 0;
  changed_.notify_all();
}

void Projector::end(bool drain) {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (!drain) {
      queue_.clear();
      queued_ = 0;
    }
    changed_.notify_all();
    for_projector_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Projector::stop() {
  if (!thread_.joinable()) return;
  end(true);
  const rocksdb::Status flushed = fold_->rows()->flush(true);
  if (!flushed.ok()) fail(fold_->rows()->error(flushed).what);
}

void Projector::abandon() {
  if (thread_.joinable()) end(false);
}

}  // namespace holdfast::projections
