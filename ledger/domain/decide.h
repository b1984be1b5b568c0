#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
  std::span<const Key> fresh_keys;  // as many as fresh_keys_needed() says
  Policy policy;
};

// Keys the shell has to make up for the new claims that the command gives none.
std::size_t fresh_keys_needed(const Action& action);

// An accepted answer.
struct Accepted {
  Position first = {};      // first position written; 0: none
  std::uint32_t count = 0;  // positions written
  bool replayed = false;
  bool clamped = false;
  std::optional<Claim> claim = {};             // as it is after the command
  std::optional<std::int64_t> available = {};  // free units at the tightest instant of its span
  // One for each command of a transaction; for each claim of a cart, a hold any, an end all.
  std::vector<Accepted> parts = {};
  // Of an end all: where the next step goes on, none when nothing is left.
  std::optional<Position> begun = {};
  std::optional<Key> after = {};
  bool changed() const { return count != 0 || replayed; }
};

// The events to append, and the answer. The state has folded them.
struct Judged {
  std::vector<Event> events = {};
  Accepted answer = {};
  // Not empty: nothing was decided and the state is as it was. These paths' last events must be
  // recalled first (State::recall_last_event), then the command is judged again.
  std::vector<Path> unknown = {};
};

// Decides the command and folds what it writes; a refused one leaves the state as it was.
//
// Requires state.advance(given.now) before, and that every key, path and request id that the
// command names has been recalled into the state if the ledger ever knew it. Does not look at
// request ids: the shell has answered those (1.6) before it asks.
tl::expected<Judged, Refusal> judge(State& state, const Command& command, const Given& given);

// Records lapsed holds in due order, at most `limit`; each is a transaction of its own.
std::vector<Event> sweep(const State& state, Instant now, std::size_t limit);

// The release of a hold whose connection has ended; none if it is no live bound hold any more.
// Requires, as sweep() does of what it records, that its resource's last event is known.
std::optional<Event> release_bound(const State& state, std::string_view key, Instant now);

}  // namespace holdfast
