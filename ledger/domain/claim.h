#pragma once

#include <optional>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"

namespace holdfast {

enum class ClaimState : std::uint8_t { held, committed, released, expired, cancelled, stolen };

// Where and when a claim stands.
struct Placement {
  Path resource;
  std::optional<Span> span;  // none: all of time
  bool operator==(const Placement&) const = default;
};

// A claim as a client sees it at some instant: a value, free of the state it was taken from.
// A lapsed hold reads as `expired`, whether or not that is recorded.
struct Claim {
  Key key = Key::trusted({});
  Path resource = Path::trusted({});
  std::optional<Span> span = {};    // none: all of time
  Quantity quantity = {};           // as it stands, or as it stood when the claim ended
  Quantity original_quantity = {};  // as first held: what a repeated hold is compared with
  Holder holder = Holder::trusted({});
  std::optional<Cart> cart = {};
  std::optional<Note> label = {};
  std::optional<Quantity> vouched_capacity = {};  // on a path nobody defined: the caller's number
  bool bound = false;                             // held to be released with its connection
  ClaimState state = ClaimState::held;
  Instant held_at = {};
  Instant expires_at = {};      // of the hold; kept when committed
  Position version = {};        // last event, its `expired` aside
  Position last_event = {};     // last event, `expired` included: where its chain in the log begins
  Position placed = {};         // of the `held` or `moved` that put it where it stands
  std::int64_t extensions = 0;  // of the hold, so far
  std::optional<Placement> original = {};  // where it was held, once it has moved
  std::optional<Key> stolen_from = {};     // the claim this one took over
  std::optional<Key> stolen_by = {};
  bool operator==(const Claim&) const = default;
};

constexpr bool is_ended(ClaimState s) {
  return s != ClaimState::held && s != ClaimState::committed;
}

}  // namespace holdfast
