// The fold: how each event changes the state.
#include <algorithm>
#include <utility>

#include "ledger/domain/held_claim.h"
#include "ledger/domain/invariant.h"
#include "ledger/domain/state.h"
#include "ledger/domain/undo.h"

namespace holdfast {
namespace {

ClaimExtras& extras(StandingClaim& claim) {
  if (!claim.extras) claim.extras = std::make_unique<ClaimExtras>();
  return *claim.extras;
}

}  // namespace

void State::evolve(const Event& event) {
  HOLDFAST_INVARIANT(event.position > head_, "events come in the order of their positions");
  if (undo_ != nullptr) undo_->note(event);
  now_ = std::max(now_, event.recorded_at);
  head_ = event.position;
  ResourceNode& resource = node(event.resource);
  touch(resource, event.position);
  std::visit([&](const auto& body) { fold(event, body); }, event.happening);
  offer_to_forget(resource);
}

void State::touch(ResourceNode& node, Position at) {
  node.last_event = at;
  node.knows_last = true;
}

void State::end(StandingClaim& claim, ClaimState state) {
  detach(claim);
  claim.state = state;
  claim.lapsed = false;
  claim.past = false;
  offer_to_forget(claim);
}

void State::set_quantity(StandingClaim& claim, Quantity quantity) {
  const std::int64_t gone = claim.quantity - quantity.units;
  if (!claim.past) {
    claim.resource->occupancy.remove(occupied_by(claim), gone);
    enter_accounts(claim, -gone);
  }
  claim.quantity = quantity.units;
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
  auto defined = std::make_unique<Resource>();
  defined->redefine(body.definition, event.position);
  define(resource, std::move(defined));
}

void State::fold(const Event& event, const Changed& body) {
  ResourceNode& resource = node(event.resource);
  HOLDFAST_INVARIANT(resource.defined != nullptr, "only what is defined is changed");
  auto changed = std::make_unique<Resource>(std::move(*resource.defined));
  changed->redefine(body.definition, event.position);
  if (body.window) changed->apply(*body.window);
  define(resource, std::move(changed));
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
  define(resource, nullptr);
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
  ++claim.extensions;
  enter_due(claim);
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
  leave_cart(claim);
  claim.state = ClaimState::committed;
  enter_leaving(claim);
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

void State::fold(const Event& event, const Moved& body) {
  StandingClaim& claim = standing(event);
  HOLDFAST_INVARIANT(claim.live(), "only live claims move");
  ClaimExtras& more = extras(claim);
  if (!more.original) more.original = Placement{claim.resource->path, claim.own_span()};
  detach(claim);
  if (body.to) {
    ResourceNode& to = node(*body.to);
    touch(to, event.position);
    settle_on(claim, to);
    more.vouched_capacity.reset();  // said of the path it leaves
  }
  claim.span = body.span.value_or(kAllOfTime);
  claim.placed = event.position;
  claim.past = false;
  attach(claim);
}

void State::fold(const Event& event, const Expired&) { end(standing(event), ClaimState::expired); }

}  // namespace holdfast
