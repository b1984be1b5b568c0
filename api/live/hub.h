#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "api/live/frames.h"
#include "api/live/interests.h"
#include "api/live/outlet.h"
#include "ledger/clock.h"
#include "ledger/recall.h"
#include "ledger/store/log.h"

namespace holdfast::api {

struct HubOptions {
  Duration heartbeat{10'000};
  std::size_t max_unsent_bytes = 8u << 20;  // of a subscription; beyond, it is cut off
  std::size_t max_queued_events = 65'536;   // beyond, the hub reads them from the log
};

// Sends events to those who have subscribed, on a thread of its own: every event that a filter lets
// through, once, in order. Stands in front of the projector and keeps neither it nor the committer
// waiting: events are shared, and what the hub cannot keep up with it reads from the log again.
//
// A subscription catches up from the log, as fast as its messages are sent; once it has reached
// what is queued, it is live: from then on it is found by what it is interested in, and cut off
// when too much is waiting to be sent to it.
class Hub final : public CommittedSink {
 public:
  // All references outlive it. `next`: whom committed groups are passed on to.
  Hub(const store::Log& log, CommittedSink& next, const TimeSource& source, HubOptions options);
  ~Hub() override;  // stop()

  const HubOptions& options() const { return options_; }
  Position head() const { return log_.head(); }

  void committed(CommittedEvents events) override;

  // How many subscriptions there are. Any thread.
  std::size_t subscriptions() const;

  // Any thread. Refused: bad_time, when `from` is beyond the next event.
  tl::expected<void, Refusal> subscribe(const Subscribe& subscribe, std::shared_ptr<Outlet> outlet);
  // Any thread: an outlet was closed, asked to end, or has room again.
  void wake();

  // Sends nothing more. Idempotent.
  void stop();

 private:
  struct Subscription : Interest {
    Subscription(EventFilter what, std::shared_ptr<Outlet> where, Position behind, Position head)
        : Interest{std::move(what)}, outlet(std::move(where)), reached(behind), target(head) {}

    const std::shared_ptr<Outlet> outlet;
    Position reached;       // everything up to here was sent
    const Position target;  // the head when it subscribed
    bool begun = false;
    bool live = false;
    bool caught_up = false;
    bool over = false;
    std::vector<const Event*> unsent;  // behind `reached`
  };
  // What is there to do.
  struct Work {
    std::vector<CommittedEvents> groups;  // without a gap behind `behind`
    Position behind;
    std::vector<std::unique_ptr<Subscription>> joining;
    bool look = false;
    bool stopping = false;
  };

  void run();
  Work take();
  void turn(Work& work);
  void begin(Subscription& subscription);
  void look_at_outlets();
  void sort_out(Position queued_behind);
  void dispatch(const std::vector<CommittedEvents>& groups);
  void dispatch_up_to(Position end);
  void catch_up_one();
  bool read_chunk(Position from);
  void feed(Subscription& subscription);
  void send(Subscription& subscription, Position reached);
  void send_mark(Subscription& subscription, Push::Kind kind,
                 const std::function<void(wire::Mark::Builder)>& fill);
  void end(Subscription& subscription, wire::SubscriptionEnd why);
  void mark_those_caught_up();
  void heartbeats();
  void forget_those_over();
  bool may_catch_up(Subscription& subscription);

  const store::Log& log_;
  CommittedSink& next_;
  const TimeSource& source_;
  const HubOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_. The queue holds all events behind `queued_behind_` up to `committed_`.
  std::deque<CommittedEvents> queue_;
  std::size_t queued_ = 0;
  Position queued_behind_;
  Position committed_;
  std::vector<std::unique_ptr<Subscription>> joining_;
  std::size_t listening_ = 0;  // joining ones included; none: nothing is queued
  bool look_ = false;
  bool stopping_ = false;

  // The thread's own.
  std::vector<std::unique_ptr<Subscription>> subscriptions_;
  Interests interests_;  // of those that are live
  FrameMaker frames_;
  std::vector<Event> chunk_;  // of the log
  std::size_t next_to_catch_up_ = 0;
  bool more_to_read_ = false;
  std::int64_t live_messages_ = 0;  // of this turn
  std::int64_t heartbeat_at_ms_;    // by the steady clock

  std::thread thread_;
};

}  // namespace holdfast::api
