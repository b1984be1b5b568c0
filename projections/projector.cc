#include "projections/projector.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "ledger/domain/invariant.h"

namespace holdfast::projections {
namespace {

constexpr std::chrono::milliseconds kGathering{100};
constexpr std::size_t kWorthAFold = Fold::kChunk;
// As long as this many come in a round, what is folded waits for that many, or for so many rounds.
constexpr std::size_t kManyInARound = 1'024;
constexpr std::size_t kWorthAWrite = 4 * Fold::kChunk;
constexpr std::size_t kMostRounds = 10;

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
  if (rounds_held_back_ != 0 && !progress_.stopped) {
    lock.unlock();
    write();
    lock.lock();
  }
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
  for (std::vector<CommittedEvents> groups; take(groups);) {
    apply(groups);
    groups.clear();
    const std::lock_guard lock(mutex_);
    applying_ = false;
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool Projector::worth_applying() const {
  return queued_ >= std::min(kWorthAFold, max_queued_) || wanted_ > progress_.position;
}

// Everything queued, up to about a chunk; nothing, when what was held back is to be written. False:
// the projector ends.
bool Projector::take(std::vector<CommittedEvents>& groups) {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return ending_ || progress_.stopped.has_value(); };
  const auto some = [&] { return over() || (pauses_ == 0 && !queue_.empty()); };
  const auto held_back = [&] { return pauses_ == 0 && rounds_held_back_ != 0; };
  for_projector_.wait(lock, [&] { return some() || held_back(); });
  for_projector_.wait_for(lock, kGathering, [&] { return over() || worth_applying(); });
  // It may have been paused meanwhile.
  for_projector_.wait(lock, [&] { return some() || held_back(); });
  if (progress_.stopped) return false;
  std::size_t events = 0;
  while (!queue_.empty() && events < Fold::kChunk) {
    events += queue_.front()->size();
    groups.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queued_ -= events;
  applying_ = !groups.empty() || rounds_held_back_ != 0;
  changed_.notify_all();
  return applying_;
}

void Projector::apply(std::span<const CommittedEvents> groups) {
  std::vector<std::span<const Event>> events;
  const std::size_t before = fold_->unwritten_events();
  for (const CommittedEvents& group : groups) events.emplace_back(*group);
  const auto applied = fold_->apply(events);
  if (applied && may_hold_back(fold_->unwritten_events() - before)) return;
  write();
  if (!applied) fail(applied.error().what);
}

// After a round in which so many events came.
bool Projector::may_hold_back(std::size_t events) {
  const std::lock_guard lock(mutex_);
  const bool asked = ending_ || pauses_ != 0 || wanted_ > progress_.position;
  return !asked && events >= kManyInARound && fold_->unwritten_events() < kWorthAWrite &&
         ++rounds_held_back_ < kMostRounds;
}

void Projector::write() {
  rounds_held_back_ = 0;
  if (const auto written = fold_->write(); !written) return fail(written.error().what);
  {
    const std::lock_guard lock(mutex_);
    progress_.position = fold_->at().position;
    progress_.at = fold_->at().at;
    changed_.notify_all();
  }
  checkpoint_if_due();
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
