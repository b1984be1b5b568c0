#include "api/live/hub.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace holdfast::api {
namespace {

// What is read of the log at once, between two looks at what is live.
constexpr std::uint64_t kChunkEvents = 2'048;
constexpr std::size_t kChunkBytes = 1u << 20;
// After so many live events what they are to whom is sent, since it is kept for each subscription.
constexpr std::size_t kRoundEvents = 4'096;
constexpr std::size_t kKeptPointers = 1'024;  // by a subscription that falls silent
// A message of events.
constexpr std::size_t kMessageEvents = 1'024;
constexpr std::size_t kMessageBytes = 256u << 10;
// Each message costs a write and a read. Under load they are made fewer and larger: so long is
// waited for more events, for each message of a round.
constexpr std::chrono::microseconds kWaitPerMessage{200};
constexpr std::chrono::microseconds kShortestWait{1'000};
constexpr std::chrono::microseconds kLongestWait{20'000};

}  // namespace

Hub::Hub(const store::Log& log, CommittedSink& next, const TimeSource& source, HubOptions options)
    : log_(log),
      next_(next),
      source_(source),
      options_(options),
      queued_behind_(log.head()),
      committed_(log.head()),
      heartbeat_at_ms_(source.steady_ms() + options.heartbeat.ms),
      thread_([this] { run(); }) {}

Hub::~Hub() { stop(); }

void Hub::committed(CommittedEvents events) {
  if (!events->empty()) {
    const std::lock_guard lock(mutex_);
    committed_ = events->back().position;
    if (listening_ > 0 && queued_ + events->size() <= options_.max_queued_events) {
      queued_ += events->size();
      queue_.push_back(events);
      changed_.notify_one();
    } else {
      queue_.clear();
      queued_ = 0;
      queued_behind_ = committed_;
      look_ = listening_ > 0;  // those who are live have to catch up again
      if (look_) changed_.notify_one();
    }
  }
  next_.committed(std::move(events));
}

tl::expected<void, Refusal> Hub::subscribe(const Subscribe& subscribe,
                                           std::shared_ptr<Outlet> outlet) {
  const Position head = log_.head();
  const Position from = subscribe.from.value_or(head + 1);
  if (from > head + 1) return tl::unexpected(Refusal{.reason = Reason::bad_time});
  auto subscription = std::make_unique<Subscription>(subscribe.filter, std::move(outlet),
                                                     Position{from.value - 1}, head);
  const std::lock_guard lock(mutex_);
  joining_.push_back(std::move(subscription));
  ++listening_;
  changed_.notify_one();
  return {};
}

std::size_t Hub::subscriptions() const {
  const std::lock_guard lock(mutex_);
  return listening_;
}

void Hub::wake() {
  const std::lock_guard lock(mutex_);
  look_ = true;
  changed_.notify_one();
}

void Hub::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Hub::run() {
  for (Work work = take(); !work.stopping; work = take()) {
    turn(work);
    const auto wait = kWaitPerMessage * std::exchange(live_messages_, 0);
    if (wait >= kShortestWait) std::this_thread::sleep_for(std::min(wait, kLongestWait));
  }
}

Hub::Work Hub::take() {
  std::unique_lock lock(mutex_);
  const auto something = [this] {
    return stopping_ || look_ || more_to_read_ || !queue_.empty() || !joining_.empty();
  };
  const std::int64_t patience_ms = heartbeat_at_ms_ - source_.steady_ms();
  if (listening_ == 0) {
    changed_.wait(lock, something);
  } else if (patience_ms > 0) {
    changed_.wait_for(lock, std::chrono::milliseconds(patience_ms), something);
  }
  Work work{.groups = {},
            .behind = queued_behind_,
            .joining = std::exchange(joining_, {}),
            .look = std::exchange(look_, false),
            .stopping = stopping_};
  work.groups.assign(std::make_move_iterator(queue_.begin()),
                     std::make_move_iterator(queue_.end()));
  queue_.clear();
  queued_ = 0;
  queued_behind_ = committed_;
  return work;
}

void Hub::turn(Work& work) {
  if (subscriptions_.empty()) heartbeat_at_ms_ = source_.steady_ms() + options_.heartbeat.ms;
  for (auto& joining : work.joining) subscriptions_.push_back(std::move(joining));
  sort_out(work.behind);
  dispatch(work.groups);
  work.groups.clear();
  mark_those_caught_up();
  // After what was committed before anyone asked to end.
  if (work.look) look_at_outlets();
  catch_up_one();
  if (source_.steady_ms() >= heartbeat_at_ms_) heartbeats();
  forget_those_over();
}

void Hub::look_at_outlets() {
  for (const auto& subscription : subscriptions_) {
    if (subscription->over) continue;
    if (subscription->outlet->closed()) {
      subscription->over = true;
    } else if (const auto why = subscription->outlet->asked_to_end()) {
      end(*subscription, *why);
    }
  }
}

// Live are those that have reached what is queued; the queue was cleared under those that no longer
// have.
void Hub::sort_out(Position queued_behind) {
  for (const auto& subscription : subscriptions_) {
    if (subscription->over) continue;
    if (!subscription->begun) begin(*subscription);
    const bool live = subscription->reached >= queued_behind;
    if (live == subscription->live) continue;
    subscription->live = live;
    live ? interests_.add(*subscription) : interests_.remove(*subscription);
  }
}

void Hub::begin(Subscription& subscription) {
  subscription.begun = true;
  send_mark(subscription, Push::Kind::plain, [this](wire::Mark::Builder mark) {
    mark.initBegun().setHeartbeat(options_.heartbeat.ms);
  });
}

void Hub::dispatch(const std::vector<CommittedEvents>& groups) {
  std::vector<Interest*> found;
  std::size_t events = 0;
  for (const CommittedEvents& group : groups) {
    for (const Event& event : *group) {
      interests_.find(event, found);
      for (Interest* interest : found) {
        auto& subscription = static_cast<Subscription&>(*interest);
        if (subscription.over || event.position <= subscription.reached) continue;
        subscription.unsent.push_back(&event);
      }
    }
    events += group->size();
    if (events < kRoundEvents && group != groups.back()) continue;
    dispatch_up_to(group->back().position);
    events = 0;
  }
}

void Hub::dispatch_up_to(Position end) {
  for (const auto& subscription : subscriptions_) {
    if (subscription->live && !subscription->over) send(*subscription, end);
  }
}

// Sends what is unsent, which is all there is to send up to `reached`.
void Hub::send(Subscription& subscription, Position reached) {
  std::span<const Event* const> rest(subscription.unsent);
  while (!rest.empty()) {
    if (subscription.live && !subscription.outlet->has_room(options_.max_unsent_bytes)) {
      subscription.unsent.clear();
      return end(subscription, wire::SubscriptionEnd::SLOW);
    }
    std::size_t count = 0;
    for (std::size_t bytes = 0;
         count < std::min(rest.size(), kMessageEvents) && bytes < kMessageBytes; ++count) {
      bytes += wire_bytes(*rest[count]);
    }
    const auto events = rest.first(count);
    rest = rest.subspan(count);
    subscription.reached = rest.empty() ? reached : events.back()->position;
    live_messages_ += subscription.live ? 1 : 0;
    subscription.outlet->send(
        frames_.events(subscription.outlet->id(), subscription.reached, events), Push::Kind::plain);
  }
  subscription.unsent.clear();
  if (subscription.unsent.capacity() > kKeptPointers) subscription.unsent.shrink_to_fit();
  subscription.reached = std::max(subscription.reached, reached);
}

bool Hub::may_catch_up(Subscription& subscription) {
  return !subscription.live && !subscription.over &&
         subscription.outlet->wait_for_room(options_.max_unsent_bytes / 2);
}

// The next one in turn is read for; whoever stands in the same stretch of the log goes along.
void Hub::catch_up_one() {
  more_to_read_ = false;
  const std::size_t count = subscriptions_.size();
  for (std::size_t i = 0; i < count; ++i) {
    Subscription& subscription = *subscriptions_[(next_to_catch_up_ + i) % count];
    if (!may_catch_up(subscription)) continue;
    next_to_catch_up_ = (next_to_catch_up_ + i + 1) % count;
    more_to_read_ = true;  // or to become live
    if (subscription.reached >= log_.head()) return;
    if (!read_chunk(subscription.reached + 1)) {
      return end(subscription, wire::SubscriptionEnd::UNAVAILABLE);
    }
    const Position first = chunk_.front().position;
    const Position last = chunk_.back().position;
    for (const auto& other : subscriptions_) {
      const bool along = other->reached + 1 >= first && other->reached < last;
      if (along && may_catch_up(*other)) feed(*other);
    }
    return;
  }
}

bool Hub::read_chunk(Position from) {
  chunk_.clear();
  std::size_t bytes = 0;
  const Position until = std::min(log_.head(), from + (kChunkEvents - 1));
  const auto scanned = log_.scan(from, until, [&](Event&& event) {
    bytes += wire_bytes(event);
    chunk_.push_back(std::move(event));
    return bytes < kChunkBytes;
  });
  return scanned && !chunk_.empty();
}

void Hub::feed(Subscription& subscription) {
  for (const Event& event : chunk_) {
    if (event.position > subscription.reached && subscription.filter.passes(event)) {
      subscription.unsent.push_back(&event);
    }
  }
  send(subscription, chunk_.back().position);
}

void Hub::mark_those_caught_up() {
  for (const auto& subscription : subscriptions_) {
    if (!subscription->live || subscription->caught_up || subscription->over) continue;
    if (subscription->reached < subscription->target) continue;
    subscription->caught_up = true;
    send_mark(*subscription, Push::Kind::plain,
              [](wire::Mark::Builder mark) { mark.setCaughtUp(); });
  }
}

void Hub::heartbeats() {
  heartbeat_at_ms_ = source_.steady_ms() + options_.heartbeat.ms;
  for (const auto& subscription : subscriptions_) {
    if (subscription->over) continue;
    send_mark(*subscription, Push::Kind::heartbeat,
              [](wire::Mark::Builder mark) { mark.setHeartbeat(); });
  }
}

void Hub::send_mark(Subscription& subscription, Push::Kind kind,
                    const std::function<void(wire::Mark::Builder)>& fill) {
  Outlet& outlet = *subscription.outlet;
  outlet.send(frames_.mark(outlet.id(), subscription.reached, fill), kind);
}

void Hub::end(Subscription& subscription, wire::SubscriptionEnd why) {
  subscription.over = true;
  send_mark(subscription, Push::Kind::last,
            [why](wire::Mark::Builder mark) { mark.setEnded(why); });
}

void Hub::forget_those_over() {
  const auto over = [this](const std::unique_ptr<Subscription>& subscription) {
    if (subscription->over && subscription->live) interests_.remove(*subscription);
    return subscription->over;
  };
  const std::size_t forgotten = std::erase_if(subscriptions_, over);
  if (forgotten == 0) return;
  const std::lock_guard lock(mutex_);
  listening_ -= forgotten;
}

}  // namespace holdfast::api
