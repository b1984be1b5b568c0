#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "projections/fold.h"
#include "projections/projections.h"

namespace holdfast::projections {

// The thread that folds what was committed into the rows, everything that is queued at once. As
// long as nobody waits for a position it lets some milliseconds' events gather first, and what is
// folded is written later still while very many come: many small writes cost several times one
// large one. All calls are safe from any thread but those that say otherwise.
class Projector {
 public:
  Projector(std::unique_ptr<Fold> fold, const Options& options);
  ~Projector();  // abandon(), unless stopped

  // Blocks while the queue is full; lets the events go once the projector has stopped.
  void enqueue(CommittedEvents events);

  std::shared_ptr<Generation> rows() const;
  Progress progress() const;
  Position applied() const;
  bool wait_for(Position position) const;

  // Runs `work` while nothing is applied. It may put another fold, which stands at the same
  // position, in the place of the one it is given. False: the projector had stopped, and nothing
  // was run.
  bool pause(const std::function<void(std::unique_ptr<Fold>& fold)>& work);

  // Applies what is queued, makes it durable, ends the thread. Both are idempotent and come from
  // one thread, when nothing is paused.
  void stop();
  // Ends the thread; what is queued is let go.
  void abandon();

 private:
  void run();
  bool take(std::vector<CommittedEvents>& groups);
  bool worth_applying() const;
  void apply(std::span<const CommittedEvents> groups);
  bool may_hold_back(std::size_t events);
  void write();
  void checkpoint_if_due();
  void fail(std::string why);
  void end(bool drain);

  const std::uint64_t checkpoint_every_;
  const std::size_t max_queued_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::condition_variable for_projector_;
  mutable Position wanted_;  // somebody waits for it
  std::deque<CommittedEvents> queue_;
  std::size_t queued_ = 0;
  bool ending_ = false;
  bool ended_ = false;
  bool applying_ = false;
  std::size_t pauses_ = 0;
  Progress progress_;
  std::shared_ptr<Generation> rows_;

  // The projector thread's, or whoever has paused it.
  std::unique_ptr<Fold> fold_;
  std::size_t rounds_held_back_ = 0;  // since the last write
  Position checkpoint_;               // a durable checkpoint was begun here

  std::thread thread_;
};

}  // namespace holdfast::projections
