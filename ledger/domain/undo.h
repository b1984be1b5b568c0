#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "ledger/domain/state.h"

namespace holdfast {

// Lets a command of many parts see its own events before all of them are accepted: while an Undo
// lives, the state notes how everything was that evolve() changes, and take_back() puts it back.
// One at a time; between its beginning and its end nothing but evolve() and take_back() changes the
// state.
class Undo {
 public:
  explicit Undo(State& state);
  ~Undo();
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  // How many events have been folded since the beginning.
  std::size_t mark() const { return befores_.size(); }
  // Takes back all but the first `mark` events.
  void take_back(std::size_t mark);

  // For State: how the event's claim and resources are before it is folded.
  void note(const Event& event);

 private:
  struct ClaimBefore {
    Key key;
    std::optional<Claim> claim;  // none: the event is its first
    bool lapsed = false;
    bool past = false;
  };
  struct ResourceBefore {
    ResourceNode* node;
    Position last_event;
    bool knows_last;
    bool redefined;  // by the event: then how it was
    bool retired;
    std::unique_ptr<Resource> defined;
  };
  struct Before {
    Position head;
    std::size_t forgettable;
    std::optional<ClaimBefore> claim;
    std::vector<ResourceBefore> resources;
  };

  void note(const Path& path, const Event& event, Before& before);
  void put_back(const ClaimBefore& before);
  void put_back(ResourceBefore& before);

  State& state_;
  std::vector<Before> befores_;
};

// A claim that stands is out of the room it takes for as long as this lives: what a decision sees
// that is not to count the claim's own units. The state is the same before and after.
class Lifted {
 public:
  Lifted(const State& state, const StandingClaim& claim);
  ~Lifted();
  Lifted(const Lifted&) = delete;
  Lifted& operator=(const Lifted&) = delete;

 private:
  State& state_;
  StandingClaim& claim_;
};

}  // namespace holdfast
