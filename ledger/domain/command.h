#pragma once

#include <optional>
#include <variant>

#include "ledger/domain/ids.h"
#include "ledger/domain/resource.h"
#include "ledger/domain/time.h"

// What a client asks for, checked in form (DESIGN 1.5 up to `limit`), not yet against state.
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
};
struct Extend {
  Key key;
  std::optional<Holder> holder;
  std::optional<Position> version;
  Expiry expiry;
  bool shorten = false;
};
struct Release {
  Key key;
  std::optional<Holder> holder;
  std::optional<Position> version;
  std::optional<Quantity> quantity;  // none: all
};
struct Commit {
  Key key;
  std::optional<Holder> holder;
  std::optional<Position> version;
  std::optional<Quantity> quantity;  // none: all; the rest is let go
  std::optional<Note> label;
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
};

using Action =
    std::variant<Define, Change, Close, Open, Retire, Hold, Extend, Release, Commit, Cancel, Steal>;

// Who asks, and what the log keeps of it.
struct Asker {
  Actor actor;
  bool is_operator = false;
  std::optional<Holder> on_behalf_of;
  std::optional<Note> reason;
  std::optional<CorrelationId> correlation_id;
  std::optional<RequestId> request_id;
  std::string source;  // address of the connection, empty inside the process
};

struct Command {
  Asker asker;
  Action action;
  std::optional<Digest> content;  // of all the client said, correlation_id aside (DESIGN 1.6)
};

}  // namespace holdfast
