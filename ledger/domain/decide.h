#pragma once

#include <cstdint>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/command.h"
#include "ledger/domain/event.h"
#include "ledger/domain/refusal.h"

// The decisions of the ledger: pure functions of state, command and what the shell hands in.
namespace holdfast {

class State;

// The server's own settings that take part in decisions.
struct Policy {
  Duration max_ttl = kHour;
  Duration default_ttl{10 * kMinute.ms};
  bool strict_resources = false;  // paths that nobody defined cannot be held
};

// What the shell supplies with a command.
struct Given {
  Instant now;
  Key fresh_key;  // used where the command names no key for a new claim
  Policy policy;
};

// Accepted: the events to append (none when nothing changes) and what the answer says.
struct Decision {
  std::vector<Event> events;
  std::optional<Key> claim;  // the claim that the answer shows
  bool replayed = false;
  bool clamped = false;
  std::optional<Quantity> vouched_capacity;  // of this call, for `available`
};

// Requires advance(state, command's instant) before, and that every key, path and request id the
// command names has been recalled into the state if the ledger ever knew it. Does not look at
// request ids: the shell has answered those (1.6) before it asks.
tl::expected<Decision, Refusal> decide(const State& state, const Command& command,
                                       const Given& given);

// Records lapsed holds in due order, at most `limit`; each is a transaction of its own.
std::vector<Event> sweep(const State& state, Instant now, std::size_t limit);

// An accepted answer.
struct Accepted {
  Position first;           // first position written; 0: none
  std::uint32_t count = 0;  // positions written
  bool replayed = false;
  bool clamped = false;
  std::optional<Claim> claim;             // as it is after the command
  std::optional<std::int64_t> available;  // free units at the tightest instant of its span
  bool changed() const { return count != 0 || replayed; }
};

// Folds the decision's events into the state, completes them with `available`, and gives the
// answer.
Accepted settle(State& state, Decision& decision);

}  // namespace holdfast
