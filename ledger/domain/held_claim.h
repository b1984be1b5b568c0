#pragma once

#include "ledger/domain/claim.h"
#include "ledger/domain/event.h"

namespace holdfast {

// The claim as its first event makes it, for State and for the projections' rows alike. Requires
// that the event names its key and holder.
inline Claim claim_of(const Event& event, const Held& held) {
  return Claim{.key = *event.key,
               .resource = event.resource,
               .span = held.span,
               .quantity = held.quantity,
               .original_quantity = held.quantity,
               .holder = *event.personal.holder,
               .cart = event.personal.cart,
               .label = event.personal.label,
               .vouched_capacity = held.capacity,
               .bound = held.bound,
               .state = ClaimState::held,
               .held_at = event.recorded_at,
               .expires_at = held.expires_at,
               .version = event.position,
               .last_event = event.position,
               .placed = event.position,
               .extensions = 0,
               .original = {},
               .stolen_from = held.stolen_from,
               .stolen_by = {}};
}

}  // namespace holdfast
