#pragma once

#include <optional>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/domain/refusal.h"
#include "ledger/domain/resource.h"
#include "ledger/domain/scope.h"
#include "ledger/domain/time.h"

// What a client asks for, checked in form (DESIGN 1.5 up to `forbidden`), not yet against state.
namespace holdfast {

struct Define {
  Path resource;
  Definition definition;
};
struct Change {
  Path resource;
  DefinitionChange change;
};
struct Close {
  Path resource;
};
struct Open {
  Path resource;
};
struct Retire {
  Path resource;
  bool force = false;
};
struct ChangeWindow {
  Path resource;
  WindowChange change;
};

// What a hold may ask of its expiry: at most one of the two; neither: the default.
struct Expiry {
  std::optional<Duration> ttl;
  std::optional<Instant> expires_at;
};

struct Hold {
  Path resource;
  std::optional<Key> key;  // none: the shell's fresh key
  std::optional<Span> span;
  Quantity quantity{1};
  std::optional<Holder> holder;  // none: the actor
  std::optional<Cart> cart;
  std::optional<Note> label;
  Expiry expiry;
  std::optional<Quantity> capacity;  // vouched for by the caller; 0 allowed
  bool bound = false;                // to its connection
};
// `count` holds on the first resources defined below a path that have room, in path order; their
// keys are KEY/1, KEY/2 ...
struct HoldAny {
  Path below;
  std::int64_t count;
  std::optional<Key> key;  // none: the shell's fresh key
  std::optional<Span> span;
  Quantity quantity{1};
  std::optional<Holder> holder;
  std::optional<Cart> cart;
  std::optional<Note> label;
  Expiry expiry;
  bool bound = false;
};

// One claim, or the live holds of a cart.
using KeyOrCart = std::variant<Key, Cart>;

struct Extend {
  KeyOrCart which;
  std::optional<Holder> holder;
  std::optional<Position> version;
  Expiry expiry;
  bool shorten = false;
};
struct Release {
  KeyOrCart which;
  std::optional<Holder> holder;
  std::optional<Position> version;
  std::optional<Quantity> quantity;  // none: all
};
struct Commit {
  KeyOrCart which;
  std::optional<Holder> holder;
  std::optional<Position> version;
  std::optional<Quantity> quantity;  // none: all; the rest is let go
  std::optional<Note> label;
  std::optional<Key> reacquire = {};      // new claim, if the hold has expired
  std::optional<Quantity> capacity = {};  // of the reacquired one, vouched for by the caller
};
struct Cancel {
  Key key;
  std::optional<Holder> holder;
  std::optional<Position> version;
  std::optional<Quantity> quantity;  // none: all
};
struct Steal {
  Key key;             // the hold that has lapsed
  Holder from_holder;  // whose the caller saw it to be
  std::optional<Key> new_key;
  std::optional<Holder> holder;  // of the new claim; none: the actor
  std::optional<Position> version;
  std::optional<Cart> cart;
  std::optional<Note> label;
  Expiry expiry;
  std::optional<Quantity> capacity;
  bool force = false;  // a live hold too
};
struct Move {
  Key key;
  std::optional<Holder> holder;
  std::optional<Position> version;
  std::optional<Path> to;    // none: stays on its resource
  std::optional<Span> span;  // none: keeps its span
};
// Releases holds and cancels bookings below a path, those that stand since `begun`, at most `limit`
// in one step.
struct EndAll {
  Path below;
  std::size_t limit;
  std::optional<Position> begun;  // none: the head, as the first step finds it
  std::optional<Key> after;       // of a dry run: go on behind this key
  bool dry_run = false;
};

// Conditions of a check, which changes nothing and is refused with check_failed where one of them
// does not hold.
struct CheckOpen {
  Path resource;
};
struct CheckAttribute {
  Path resource;
  AttributeName name;
  Note value;
};
struct CheckFree {
  Path resource;
  std::int64_t at_least;
  std::optional<Span> span;  // none: this instant
};
struct CheckLive {
  Key key;
};
struct CheckVersion {
  Key key;
  Position version;
};
struct Check {
  using Condition = std::variant<CheckOpen, CheckAttribute, CheckFree, CheckLive, CheckVersion>;
  std::vector<Condition> conditions;
};

inline constexpr std::size_t kMaxTransaction = 1'000;  // commands, and claims of a hold any

// All or nothing, in order, each seeing the ones before it.
struct Step;
struct Transact {
  std::vector<Step> steps;
};

using Action = std::variant<Define, Change, Close, Open, Retire, ChangeWindow, Hold, HoldAny,
                            Extend, Release, Commit, Cancel, Steal, Move, EndAll, Check, Transact>;

// Who asks, and what the log keeps of it.
struct Asker {
  Actor actor;
  Scope scope = {};  // claims outside it do not exist for the asker
  std::optional<Holder> on_behalf_of;
  std::optional<Note> reason;
  std::optional<CorrelationId> correlation_id;
  std::optional<RequestId> request_id;
  std::string source;            // address of the connection, empty inside the process
  std::uint64_t connection = 0;  // what a bound hold is bound to; 0: none. Not kept.
};

struct Command {
  Asker asker;
  Action action;
  std::optional<Digest> content;  // of all the client said, correlation_id aside (DESIGN 1.6)
};

// Of a transaction; refused already where its form is wrong.
struct Step {
  tl::expected<Command, Refusal> command;
};

}  // namespace holdfast
