// The fold: how each event changes the state.
#include <algorithm>
#include <utility>

#include "ledger/domain/held_claim.h"
#include "ledger/domain/invariant.h"
#include "ledger/domain/state.h"

namespace holdfast {
namespace {

ClaimExtras& extras(StandingClaim& claim) {
  if (!claim.extras) claim.extras = std::make_unique<ClaimExtras>();
  return *claim.extras;
}

Span occupied_by(const StandingClaim& claim) {
  return claim.span == kAllOfTime ? kAllOfTime : occupied(claim.span, claim.resource->turnaround());
}

}  // namespace

void State::evolve(const Event& event) {
  HOLDFAST_INVARIANT(event.position > head_, "events come in the order of their positions");
  advance(event.recorded_at);
  head_ = event.position;
  ResourceNode& resource = node(event.resource);
  resource.last_event = event.position;
  resource.knows_last = true;
  std::visit([&](const auto& body) { fold(event, body); }, event.happening);
  offer_to_forget(resource);
}

void State::advance(Instant now) {
  if (now < next_due_) return;
  StandingClaim* first = due_.first();
  while (first != nullptr && first->expires_at <= now) {
    lapse(*first);
    first = due_.first();
  }
  next_due_ = first == nullptr ? Instant{kMaxInstant.ms + 1} : first->expires_at;
}

ResourceNode& State::node(const Path& path) {
  if (ResourceNode* known = resources_.find(path.view())) return *known;
  ResourceNode& added = resources_.insert(std::make_unique<ResourceNode>(path));
  const std::string_view above = parent_of(added.path.view());
  if (!above.empty()) {
    ResourceNode& parent = node(Path::trusted(std::string(above)));
    added.parent = &parent;
    added.next_sibling = parent.first_child;
    if (parent.first_child != nullptr) parent.first_child->previous_sibling = &added;
    parent.first_child = &added;
  }
  return added;
}

HolderNode& State::holder_node(const Holder& holder) {
  if (HolderNode* known = holders_.find(holder.view())) return *known;
  return holders_.insert(std::make_unique<HolderNode>(HolderNode{.holder = holder}));
}

StandingClaim& State::insert(const Claim& claim) {
  HOLDFAST_INVARIANT(find(claim.key.view()) == nullptr, "a key is used once");
  ResourceNode& resource = node(claim.resource);
  HolderNode& holder = holder_node(claim.holder);
  auto created = std::make_unique<StandingClaim>(
      StandingClaim{.key = claim.key,
                    .resource = &resource,
                    .holder = &holder,
                    .span = claim.span.value_or(kAllOfTime),
                    .quantity = claim.quantity.units,
                    .original_quantity = claim.original_quantity.units,
                    .held_at = claim.held_at,
                    .expires_at = claim.expires_at,
                    .version = claim.version,
                    .last_event = claim.last_event,
                    .extras = {},
                    .state = claim.state,
                    .by_span = {},
                    .due_on_resource = {},
                    .due_of_all = {}});
  StandingClaim& added = *created;
  if (claim.cart || claim.label || claim.vouched_capacity || claim.stolen_from || claim.stolen_by) {
    extras(added) = {claim.cart, claim.label, claim.vouched_capacity, claim.stolen_from,
                     claim.stolen_by};
  }
  ++resource.claims_in_memory;
  ++holder.references;
  return claims_.insert(std::move(created));
}

void State::count_live(ResourceNode* node, std::int64_t by) {
  for (; node != nullptr; node = node->parent) node->live_at_or_below += by;
}

void State::enter_occupancy(StandingClaim& claim) {
  ResourceNode& resource = *claim.resource;
  resource.occupancy.add(occupied_by(claim), claim.quantity);
  resource.live.insert(claim);
  count_live(&resource, 1);
  ++live_claims_;
  if (claim.state == ClaimState::held) {
    resource.due.insert(claim);
    due_.insert(claim);
    next_due_ = std::min(next_due_, claim.expires_at);
  }
}

void State::leave_occupancy(StandingClaim& claim) {
  ResourceNode& resource = *claim.resource;
  resource.occupancy.remove(occupied_by(claim), claim.quantity);
  resource.live.erase(claim);
  count_live(&resource, -1);
  --live_claims_;
}

void State::leave_due(StandingClaim& claim) {
  if (claim.lapsed) {
    claim.resource->lapsed.erase(claim);
    lapsed_.erase(claim);
    --lapsed_claims_;
  } else {
    claim.resource->due.erase(claim);
    due_.erase(claim);
  }
}

void State::lapse(StandingClaim& claim) {
  leave_due(claim);
  leave_occupancy(claim);
  claim.lapsed = true;
  claim.resource->lapsed.insert(claim);
  lapsed_.insert(claim);
  ++lapsed_claims_;
}

void State::set_quantity(StandingClaim& claim, Quantity quantity) {
  claim.resource->occupancy.remove(occupied_by(claim), claim.quantity - quantity.units);
  claim.quantity = quantity.units;
}

void State::end(StandingClaim& claim, ClaimState state) {
  if (!is_ended(claim.state)) {
    if (claim.state == ClaimState::held) leave_due(claim);
    if (!claim.lapsed) leave_occupancy(claim);
    HolderNode& holder = *claim.holder;
    (claim.holder_previous != nullptr ? claim.holder_previous->holder_next : holder.first) =
        claim.holder_next;
    if (claim.holder_next != nullptr) claim.holder_next->holder_previous = claim.holder_previous;
    claim.holder_previous = claim.holder_next = nullptr;
  }
  claim.state = state;
  claim.lapsed = false;
  offer_to_forget(claim);
}

// The claim that an event names, its version moved to the event.
StandingClaim& State::standing(const Event& event) {
  HOLDFAST_INVARIANT(event.key.has_value(), "an event of a claim names it");
  StandingClaim* found = claims_.find(event.key->view());
  HOLDFAST_INVARIANT(found != nullptr, "the claim of an event is standing or recalled");
  StandingClaim& claim = *found;
  claim.last_event = event.position;
  if (!std::holds_alternative<Expired>(event.happening)) claim.version = event.position;
  return claim;
}

void State::fold(const Event& event, const Defined& body) {
  ResourceNode& resource = node(event.resource);
  resource.retired = false;
  resource.defined = std::make_unique<Resource>(Resource{.definition = body.definition});
}

void State::fold(const Event& event, const Changed& body) {
  ResourceNode& resource = node(event.resource);
  HOLDFAST_INVARIANT(resource.defined != nullptr, "only what is defined is changed");
  resource.defined->definition = body.definition;
}

void State::fold(const Event& event, const Closed&) {
  ResourceNode& resource = node(event.resource);
  HOLDFAST_INVARIANT(resource.defined != nullptr, "only what is defined is closed");
  resource.defined->closed = true;
}

void State::fold(const Event& event, const Opened&) {
  ResourceNode& resource = node(event.resource);
  HOLDFAST_INVARIANT(resource.defined != nullptr, "only what is defined is opened");
  resource.defined->closed = false;
}

void State::fold(const Event& event, const Retired&) {
  ResourceNode& resource = node(event.resource);
  resource.retired = true;
  resource.defined = nullptr;
}

void State::fold(const Event& event, const Held& body) {
  HOLDFAST_INVARIANT(event.key && event.personal.holder, "a held event names key and holder");
  restore_claim(claim_of(event, body));
}

void State::fold(const Event& event, const Extended& body) {
  StandingClaim& claim = standing(event);
  HOLDFAST_INVARIANT(claim.state == ClaimState::held && !claim.lapsed, "only live holds extend");
  leave_due(claim);
  claim.expires_at = body.expires_at;
  claim.resource->due.insert(claim);
  due_.insert(claim);
  next_due_ = std::min(next_due_, claim.expires_at);
}

void State::fold(const Event& event, const Released& body) {
  StandingClaim& claim = standing(event);
  if (body.remaining.units == 0) {
    end(claim, ClaimState::released);
  } else {
    set_quantity(claim, body.remaining);
  }
}

void State::fold(const Event& event, const Committed& body) {
  StandingClaim& claim = standing(event);
  HOLDFAST_INVARIANT(claim.state == ClaimState::held && !claim.lapsed, "only live holds commit");
  if (body.let_go.units != 0) set_quantity(claim, body.quantity);
  leave_due(claim);
  claim.state = ClaimState::committed;
  if (event.personal.label) extras(claim).label = event.personal.label;
}

void State::fold(const Event& event, const Cancelled& body) {
  StandingClaim& claim = standing(event);
  if (body.remaining.units == 0) {
    end(claim, ClaimState::cancelled);
  } else {
    set_quantity(claim, body.remaining);
  }
}

void State::fold(const Event& event, const Stolen& body) {
  StandingClaim& claim = standing(event);
  extras(claim).stolen_by = body.by;
  end(claim, ClaimState::stolen);
}

void State::fold(const Event& event, const Expired&) { end(standing(event), ClaimState::expired); }

}  // namespace holdfast
