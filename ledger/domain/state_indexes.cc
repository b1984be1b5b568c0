// Where claims and resources are found by: State's tables and indexes.
#include <algorithm>
#include <utility>

#include "ledger/domain/invariant.h"
#include "ledger/domain/state.h"

namespace holdfast {
namespace {

// The instants at which the level cannot be claimed as a whole because of a claim below it. The
// larger of the two turnarounds lies between them, whichever comes first.
Span excluded_by(const StandingClaim& claim, const ResourceNode& level) {
  if (claim.span == kAllOfTime) return kAllOfTime;
  const Duration between = std::max(level.turnaround(), claim.resource->turnaround());
  return {claim.span.from - between, claim.span.until + between};
}

void count(ResourceNode& level, const StandingClaim& claim, std::int64_t units) {
  if (level.has_parts() && &level != claim.resource) {
    level.accounts->parts.add(excluded_by(claim, level), units);
  }
  if (level.defined->definition.holder_limit) {
    Occupancy& open = level.accounts->by_holder[claim.holder];
    open.add(claim.span == kAllOfTime ? kAllOfTime : Span{kAllOfTime.from, claim.span.until},
             units);
    if (open.empty()) level.accounts->by_holder.erase(claim.holder);
  }
}

}  // namespace

ResourceNode& State::node(const Path& path) {
  if (ResourceNode* known = resources_.find(path.view())) return *known;
  ResourceNode& added = resources_.insert(std::make_unique<ResourceNode>(path));
  const std::string_view above = parent_of(added.path.view());
  if (!above.empty()) {
    ResourceNode& parent = node(Path::trusted(above));
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
      StandingClaim{.key = claim.key, .resource = &resource, .holder = &holder});
  assign(*created, claim);
  ++resource.claims_in_memory;
  ++holder.references;
  return claims_.insert(std::move(created));
}

// All but the key, the resource and the holder.
void State::assign(StandingClaim& claim, const Claim& from) {
  claim.span = from.span.value_or(kAllOfTime);
  claim.quantity = from.quantity.units;
  claim.original_quantity = from.original_quantity.units;
  claim.held_at = from.held_at;
  claim.expires_at = from.expires_at;
  claim.version = from.version;
  claim.last_event = from.last_event;
  claim.placed = from.placed;
  claim.extensions = static_cast<std::int32_t>(from.extensions);
  claim.state = from.state;
  claim.bound = from.bound;
  if (from.cart || from.label || from.vouched_capacity || from.stolen_from || from.stolen_by ||
      from.original) {
    claim.extras =
        std::make_unique<ClaimExtras>(ClaimExtras{from.cart, from.label, from.vouched_capacity,
                                                  from.stolen_from, from.stolen_by, from.original});
  } else {
    claim.extras = nullptr;
  }
}

// Requires that the claim is detached.
void State::settle_on(StandingClaim& claim, ResourceNode& resource) {
  --claim.resource->claims_in_memory;
  ++resource.claims_in_memory;
  offer_to_forget(*std::exchange(claim.resource, &resource));
}

void State::define(ResourceNode& node, std::unique_ptr<Resource> resource) {
  // What has lapsed leaves with the turnaround it came with.
  if (behind()) catch_up(node);
  let_all_leave();  // likewise
  const bool had_parts = node.has_parts();
  node.defined = std::move(resource);
  if (!node.defined) {
    defined_.erase(node.path.view());
  } else {
    defined_.emplace(node.path.view(), &node);
  }
  if (node.has_parts() != had_parts) enter_leaving_anew(node);
  const bool keeps_accounts =
      node.defined && (node.defined->definition.parts || node.defined->definition.holder_limit);
  if (!keeps_accounts) {
    node.accounts = nullptr;
  } else if (!node.accounts) {
    if (behind()) lapse_due(live_claims_);  // what lapses later is counted there
    node.accounts = std::make_unique<LevelAccounts>();
    visit_subtree(node.path.view(), [&](const StandingClaim& claim) {
      count(node, claim, claim.quantity);
      return true;
    });
  }
}

void State::attach(StandingClaim& claim) {
  if (is_ended(claim.state) || claim.past) return;
  enter_holder(claim);
  claim.state == ClaimState::held ? enter_due(claim) : enter_leaving(claim);
  if (claim.lapsed) return;
  enter_occupancy(claim);
  if (claim.state == ClaimState::held) enter_cart(claim);
}

void State::detach(StandingClaim& claim) {
  if (is_ended(claim.state) || claim.past) return;
  leave_holder(claim);
  claim.state == ClaimState::held ? leave_due(claim) : leave_leaving(claim);
  if (claim.lapsed) return;
  leave_occupancy(claim);
  if (claim.state == ClaimState::held) leave_cart(claim);
}

void State::advance(Instant now, std::size_t at_once) {
  now_ = now;
  if (behind()) lapse_due(at_once);
  leave_due_by_now(at_once);
}

void State::lapse_due(std::size_t limit) {
  StandingClaim* first = due_.first();
  for (; first != nullptr && first->expires_at <= now_ && limit > 0; --limit) {
    lapse(*first);
    first = due_.first();
  }
  next_due_ = first == nullptr ? kNever : first->expires_at;
}

void State::catch_up(StandingClaim& claim) {
  if (is_due(claim)) lapse(claim);
}

void State::catch_up(ResourceNode& node) {
  for (ResourceNode* n = &node; n != nullptr; n = n->parent) {
    // What is counted there may stand anywhere below.
    if (!n->accounts) {
      lapse_due(*n);
    } else if (n->accounts->next_due <= now_) {
      n->accounts->next_due = lapse_due_below(*n);
    }
  }
}

void State::lapse_due(ResourceNode& node) {
  for (StandingClaim* c = node.due.first(); c != nullptr && is_due(*c); c = node.due.first()) {
    lapse(*c);
  }
}

Instant State::lapse_due_below(ResourceNode& top) {
  Instant next = kNever;
  visit_nodes(top, [&](ResourceNode& node) {
    lapse_due(node);
    if (const StandingClaim* first = node.due.first()) next = std::min(next, first->expires_at);
    return true;
  });
  return next;
}

void State::lapse(StandingClaim& claim) {
  leave_due(claim);
  leave_occupancy(claim);
  leave_cart(claim);
  claim.lapsed = true;
  enter_due(claim);
}

void State::enter_occupancy(StandingClaim& claim) {
  claim.resource->occupancy.add(occupied_by(claim), claim.quantity);
  claim.resource->live.insert(claim);
  ++claim.resource->live_claims;
  for (ResourceNode* n = claim.resource; n != nullptr; n = n->parent) ++n->live_at_or_below;
  enter_accounts(claim, claim.quantity);
  ++live_claims_;
}

void State::leave_occupancy(StandingClaim& claim) {
  claim.resource->occupancy.remove(occupied_by(claim), claim.quantity);
  claim.resource->live.erase(claim);
  --claim.resource->live_claims;
  for (ResourceNode* n = claim.resource; n != nullptr; n = n->parent) --n->live_at_or_below;
  enter_accounts(claim, -claim.quantity);
  --live_claims_;
}

void State::enter_accounts(const StandingClaim& claim, std::int64_t units) {
  for (ResourceNode* n = claim.resource; n != nullptr; n = n->parent) {
    if (n->accounts) count(*n, claim, units);
  }
}

void State::enter_due(StandingClaim& claim) {
  if (claim.lapsed) {
    claim.resource->lapsed.insert(claim);
    lapsed_.insert(claim);
    ++lapsed_claims_;
  } else {
    claim.resource->due.insert(claim);
    due_.insert(claim);
    next_due_ = std::min(next_due_, claim.expires_at);
    for (ResourceNode* n = claim.resource; n != nullptr; n = n->parent) {
      if (n->accounts) n->accounts->next_due = std::min(n->accounts->next_due, claim.expires_at);
    }
  }
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

// From when on a booking can meet nobody who may still be let in: those begin at the horizon or
// later, and the turnaround lies between. That of its own resource and of the wholes above cannot
// become longer while it stands; that of a part below may be as long as any.
Instant State::leave_instant(Span span, std::string_view path) const {
  Duration between{0};
  for (const ResourceNode* n = nearest(path); n != nullptr; n = n->parent) {
    const bool own = n->path.view() == path;
    if (own && n->has_parts()) {
      between = kMaxSetting;
    } else if (own || n->has_parts()) {
      between = std::max(between, n->turnaround());
    }
  }
  return span.until + between + *past_horizon_;
}

void State::enter_leaving(StandingClaim& claim) {
  if (!past_horizon_ || claim.span == kAllOfTime) return;
  claim.leaves_at = leave_instant(claim.span, claim.resource->path.view());
  leaving_.insert(claim);
}

bool State::has_left(const Claim& claim, Instant now) const {
  if (claim.state != ClaimState::committed || !claim.span || !past_horizon_) return false;
  const std::string_view path = claim.resource.view();
  for (const ResourceNode* n = nearest(path); n != nullptr; n = n->parent) {
    if (n->defined && n->defined->rules_since > claim.placed) return true;
  }
  return leave_instant(*claim.span, path) <= now;
}

// Where a whole is retired while bookings stand on its parts, its turnaround lets them go earlier.
void State::enter_leaving_anew(ResourceNode& top) {
  if (leaving_.first() == nullptr) return;
  visit_nodes(top, [&](ResourceNode& node) {
    node.live.for_each([&](StandingClaim& claim) {
      if (claim.leaves_at != kNever) {
        leave_leaving(claim);
        enter_leaving(claim);
      }
      return true;
    });
    return true;
  });
}

void State::leave_leaving(StandingClaim& claim) {
  if (claim.leaves_at == kNever) return;
  leaving_.erase(claim);
  claim.leaves_at = kNever;
}

void State::leave_due_by_now(std::size_t limit) {
  for (StandingClaim* first = leaving_.first();
       first != nullptr && first->leaves_at <= now_ && limit > 0; first = leaving_.first()) {
    --limit;
    detach(*first);
    first->past = true;
    offer_to_forget(*first);
  }
}

void State::enter_holder(StandingClaim& claim) {
  HolderNode& holder = *claim.holder;
  claim.holder_next = holder.first;
  if (holder.first != nullptr) holder.first->holder_previous = &claim;
  holder.first = &claim;
}

void State::leave_holder(StandingClaim& claim) {
  (claim.holder_previous != nullptr ? claim.holder_previous->holder_next : claim.holder->first) =
      claim.holder_next;
  if (claim.holder_next != nullptr) claim.holder_next->holder_previous = claim.holder_previous;
  claim.holder_previous = claim.holder_next = nullptr;
}

void State::enter_cart(StandingClaim& claim) {
  if (!claim.extras || !claim.extras->cart) return;
  const Cart& name = *claim.extras->cart;
  CartNode* cart = carts_.find(name.view());
  if (cart == nullptr) cart = &carts_.insert(std::make_unique<CartNode>(CartNode{name, {}}));
  cart->holds.emplace(claim.key.view(), &claim);
}

void State::leave_cart(const StandingClaim& claim) {
  if (!claim.extras || !claim.extras->cart) return;
  CartNode* cart = carts_.find(claim.extras->cart->view());
  HOLDFAST_INVARIANT(cart != nullptr, "a live hold with a cart is in it");
  cart->holds.erase(claim.key.view());
  if (cart->holds.empty()) carts_.erase(*cart);
}

}  // namespace holdfast
