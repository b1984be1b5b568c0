#include "projections/event_fold.h"

#include <utility>

#include "ledger/domain/held_claim.h"

namespace holdfast::projections {
namespace {

using Result = tl::expected<void, std::string>;

Result no(std::string why) { return tl::unexpected(std::move(why)); }

struct FoldClaim {
  std::optional<Claim>& claim;
  const Event& event;

  Result operator()(const Held& body) {
    if (claim) return no("holds a key that was used before");
    if (!event.personal.holder) return no("names no holder");
    claim = claim_of(event, body);
    return {};
  }

  Result operator()(const Extended& body) {
    if (const Result live = require_live_hold(); !live) return live;
    claim->expires_at = body.expires_at;
    ++claim->extensions;
    return {};
  }

  Result operator()(const Released& body) {
    if (const Result held = require(ClaimState::held); !held) return held;
    return let_go(body.remaining, ClaimState::released);
  }

  Result operator()(const Committed& body) {
    if (const Result live = require_live_hold(); !live) return live;
    if (body.quantity > claim->quantity) return no("commits more than was held");
    claim->quantity = body.quantity;
    claim->state = ClaimState::committed;
    if (event.personal.label) claim->label = event.personal.label;
    return {};
  }

  Result operator()(const Cancelled& body) {
    if (const Result committed = require(ClaimState::committed); !committed) return committed;
    return let_go(body.remaining, ClaimState::cancelled);
  }

  Result operator()(const Stolen& body) {
    if (!claim) return no("names a claim that was never held");
    if (claim->state != ClaimState::expired) {
      if (const Result held = require(ClaimState::held); !held) return held;
    }
    claim->state = ClaimState::stolen;
    claim->stolen_by = body.by;
    return {};
  }

  Result operator()(const Moved& body) {
    if (!claim) return no("names a claim that was never held");
    if (claim->state != ClaimState::committed) {
      if (const Result live = require_live_hold(); !live) return live;
    }
    if (claim->resource != event.resource) return no("moves a claim from where it is not");
    if (!claim->original) claim->original = Placement{claim->resource, claim->span};
    if (body.to) {
      claim->resource = *body.to;
      claim->vouched_capacity.reset();  // said of the path it leaves
    }
    claim->span = body.span;
    claim->placed = event.position;
    return {};
  }

  Result operator()(const Expired&) {
    if (const Result held = require(ClaimState::held); !held) return held;
    claim->state = ClaimState::expired;
    return {};
  }

  template <class OfResource>
  Result operator()(const OfResource&) {
    return no("is of a resource and names a claim");
  }

  Result require(ClaimState state) const {
    if (!claim) return no("names a claim that was never held");
    if (claim->state != state) return no("does not follow from the claim's state");
    return {};
  }

  Result require_live_hold() const {
    if (const Result held = require(ClaimState::held); !held) return held;
    if (claim->expires_at <= event.recorded_at) return no("comes after the hold's expiry");
    return {};
  }

  // An ended claim keeps the quantity it ended with.
  Result let_go(Quantity remaining, ClaimState end) {
    if (remaining.units < 0 || remaining >= claim->quantity)
      return no("leaves more than there was");
    if (remaining.units == 0) {
      claim->state = end;
    } else {
      claim->quantity = remaining;
    }
    return {};
  }
};

struct FoldDefinition {
  std::optional<DefinitionRow>& row;
  Position at;

  Result operator()(const Defined& body) {
    row.emplace().resource.emplace().redefine(body.definition, at);
    return {};
  }
  Result operator()(const Changed& body) {
    if (!row || !row->resource) return no("changes a resource that is not defined");
    row->resource->redefine(body.definition, at);
    if (body.window) row->resource->apply(*body.window);
    return {};
  }
  Result operator()(const Closed&) { return set_closed(true); }
  Result operator()(const Opened&) { return set_closed(false); }
  Result operator()(const Retired&) {
    row = DefinitionRow{};
    return {};
  }
  template <class OfClaim>
  Result operator()(const OfClaim&) {
    return {};
  }

  Result set_closed(bool closed) {
    if (!row || !row->resource) return no("is of a resource that is not defined");
    row->resource->closed = closed;
    return {};
  }
};

}  // namespace

tl::expected<void, std::string> fold(std::optional<Claim>& claim, const Event& event) {
  if (!event.key) return no("names no claim");
  if (claim && claim->last_event != event.previous_of_claim) {
    return no("does not follow the last event of its claim");
  }
  Result folded = std::visit(FoldClaim{claim, event}, event.happening);
  if (!folded) return folded;
  claim->last_event = event.position;
  if (!std::holds_alternative<Expired>(event.happening)) claim->version = event.position;
  return {};
}

tl::expected<void, std::string> fold(std::optional<DefinitionRow>& definition, const Event& event) {
  return std::visit(FoldDefinition{definition, event.position}, event.happening);
}

bool concerns_definition(const Happening& h) {
  return std::holds_alternative<Defined>(h) || std::holds_alternative<Retired>(h) ||
         needs_definition(h);
}

bool needs_definition(const Happening& h) {
  return std::holds_alternative<Changed>(h) || std::holds_alternative<Closed>(h) ||
         std::holds_alternative<Opened>(h);
}

void judge(Claim& claim, Instant now) {
  if (claim.state == ClaimState::held && claim.expires_at <= now) claim.state = ClaimState::expired;
}

}  // namespace holdfast::projections
