#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ledger/domain/claim.h"
#include "ledger/domain/ids.h"
#include "ledger/domain/resource.h"
#include "ledger/domain/time.h"

// What happened: the only thing the log keeps and the only thing state is made from.
namespace holdfast {

struct Defined {
  Definition definition;
  bool operator==(const Defined&) const = default;
};
struct Changed {
  Definition definition;  // whole, as it is after the change
  std::optional<WindowChange> window = {};
  bool operator==(const Changed&) const = default;
};
struct Closed {
  bool operator==(const Closed&) const = default;
};
struct Opened {
  bool operator==(const Opened&) const = default;
};
struct Retired {
  bool forced = false;
  bool operator==(const Retired&) const = default;
};
struct Held {
  std::optional<Span> span;
  Quantity quantity;
  Instant expires_at;
  bool clamped = false;
  std::optional<Quantity> capacity;  // vouched for by the caller
  std::optional<Key> stolen_from;
  bool bound = false;  // to its connection
  bool operator==(const Held&) const = default;
};
struct Extended {
  Instant expires_at;
  bool clamped = false;
  bool operator==(const Extended&) const = default;
};
struct Released {
  Quantity quantity;   // let go by this event
  Quantity remaining;  // 0: the claim has ended
  bool operator==(const Released&) const = default;
};
struct Committed {
  Quantity quantity;  // booked
  Quantity let_go;    // of the hold's units, those not booked
  bool operator==(const Committed&) const = default;
};
struct Cancelled {
  Quantity quantity;
  Quantity remaining;
  bool operator==(const Cancelled&) const = default;
};
struct Stolen {
  Key by;  // the claim that took over
  bool operator==(const Stolen&) const = default;
};
// The event's own resource is the one that the claim leaves.
struct Moved {
  std::optional<Path> to;  // none: it stays on its resource
  std::optional<Span> span;
  Position previous_on_to;  // 0: none
  bool operator==(const Moved&) const = default;
};
struct Expired {
  Instant due;
  bool operator==(const Expired&) const = default;
};

using Happening = std::variant<Defined, Changed, Closed, Opened, Retired, Held, Extended, Released,
                               Committed, Cancelled, Stolen, Moved, Expired>;

// Fields about persons, one group, so that they can later be sealed and forgotten.
struct Personal {
  std::optional<Holder> holder;  // of the claim, on every event of a claim
  std::optional<Cart> cart;      // on Held
  std::optional<Note> label;     // on Held; on Committed when the commit sets it
  std::optional<Holder> on_behalf_of;
  std::optional<Note> reason;
  std::string source;
  bool operator==(const Personal&) const = default;
};

struct Event {
  Position position;
  Position transaction;             // first position of the command or transaction it is part of
  std::uint32_t transaction_count;  // events in it
  Instant recorded_at;
  Path resource;
  std::optional<Key> key;         // none: an event of the resource itself
  Position previous_on_resource;  // 0: none
  Position previous_of_claim;     // 0: none
  Actor actor;                    // `system` for an expiry
  std::optional<RequestId> request_id;
  std::optional<CorrelationId> correlation_id;
  std::optional<Digest> content;  // of the command; none for an expiry
  // Free units at the tightest instant of the claim's span after the command, as its answer said:
  // a repeated request is given the same. None on events that carry no claim's answer.
  std::optional<std::int64_t> available;
  std::uint32_t step = 0;  // which of its transaction's commands, or of its command's claims
  Personal personal;
  Happening happening;
  bool operator==(const Event&) const = default;
};

// The resource that a claim moves to, if it moves to another: the event belongs to both histories.
const Path* second_resource(const Event& event);
// Whether the path of one of its resources passes the test.
template <class Test>
bool any_path(const Event& event, const Test& test) {
  const Path* second = second_resource(event);
  return test(event.resource.view()) || (second != nullptr && test(second->view()));
}

// The word for its type, as DESIGN and the scenario language have it: "held", "defined" ...
std::string_view type_name(const Happening& happening);

}  // namespace holdfast
