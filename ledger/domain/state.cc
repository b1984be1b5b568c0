#include "ledger/domain/state.h"

#include <utility>

#include "ledger/domain/invariant.h"

namespace holdfast {
namespace {

std::string request_name(std::string_view actor, std::string_view id) {
  std::string name;
  name.reserve(actor.size() + 1 + id.size());
  return name.append(actor).append(1, '\0').append(id);  // neither can contain NUL
}

}  // namespace

State::State(std::optional<Duration> past_horizon) : past_horizon_(past_horizon) {}
State::~State() = default;

// What is found is as of the last advance(), whether or not the lapsing has come to it: it is
// brought up to date here, which changes nothing that is true.
const StandingClaim* State::find(std::string_view key) const {
  StandingClaim* found = claims_.find(key);
  if (found != nullptr && behind()) const_cast<State*>(this)->catch_up(*found);
  return found;
}

const ResourceNode* State::resource(std::string_view path) const {
  ResourceNode* found = resources_.find(path);
  if (found != nullptr && behind()) const_cast<State*>(this)->catch_up(*found);
  return found;
}

const CartNode* State::cart(std::string_view cart) const {
  CartNode* found = carts_.find(cart);
  if (found == nullptr || !behind()) return found;
  std::vector<StandingClaim*> holds;
  for (const auto& [key, hold] : found->holds) holds.push_back(hold);
  for (StandingClaim* hold : holds) const_cast<State*>(this)->catch_up(*hold);
  return carts_.find(cart);
}

std::int64_t State::live_at_or_below(std::string_view path) const {
  ResourceNode* node = resources_.find(path);
  if (node != nullptr && behind()) const_cast<State*>(this)->lapse_due_below(*node);
  return node == nullptr ? 0 : node->live_at_or_below;
}

std::optional<Claim> State::claim(std::string_view key) const {
  const StandingClaim* found = find(key);
  return found == nullptr ? std::nullopt : std::optional(snapshot(*found));
}

Claim State::snapshot(const StandingClaim& claim) {
  Claim seen{.key = claim.key,
             .resource = claim.resource->path,
             .span = claim.own_span(),
             .quantity = {claim.quantity},
             .original_quantity = {claim.original_quantity},
             .holder = claim.holder->holder,
             .cart = {},
             .label = {},
             .vouched_capacity = {},
             .bound = claim.bound,
             .state = claim.shown(),
             .held_at = claim.held_at,
             .expires_at = claim.expires_at,
             .version = claim.version,
             .last_event = claim.last_event,
             .placed = claim.placed,
             .extensions = claim.extensions,
             .original = {},
             .stolen_from = {},
             .stolen_by = {}};
  if (claim.extras) {
    seen.cart = claim.extras->cart;
    seen.label = claim.extras->label;
    seen.vouched_capacity = claim.extras->vouched_capacity;
    seen.stolen_from = claim.extras->stolen_from;
    seen.stolen_by = claim.extras->stolen_by;
    seen.original = claim.extras->original;
  }
  return seen;
}

void State::visit_subtree(std::string_view path,
                          const std::function<bool(const StandingClaim&)>& visit) const {
  bool go_on = true;
  const auto visit_own = [&](const ResourceNode& node) {
    node.live.for_each(
        [&](const StandingClaim& claim) { return is_due(claim) || (go_on = visit(claim)); });
  };
  if (path.empty()) {
    resources_.for_each([&](const ResourceNode& node) {
      visit_own(node);
      return go_on;
    });
    return;
  }
  ResourceNode* top = resources_.find(path);
  if (top == nullptr) return;
  visit_nodes(*top, [&](const ResourceNode& node) {
    visit_own(node);
    return go_on;
  });
}

void State::visit_holder(std::string_view holder,
                         const std::function<bool(const StandingClaim&)>& visit) const {
  const HolderNode* found = holders_.find(holder);
  if (found == nullptr) return;
  for (const StandingClaim* c = found->first; c != nullptr; c = c->holder_next) {
    if (c->live() && !is_due(*c) && !visit(*c)) return;
  }
}

std::size_t State::unrecorded_claims() const {
  std::size_t count = lapsed_claims_;
  due_.for_each([&](const StandingClaim& claim) {
    if (!is_due(claim)) return false;
    ++count;
    return true;
  });
  return count;
}

void State::visit_unrecorded(const std::function<bool(const StandingClaim&)>& visit) const {
  bool go_on = true;
  lapsed_.for_each([&](const StandingClaim& claim) { return go_on = visit(claim); });
  if (!go_on) return;
  due_.for_each([&](const StandingClaim& claim) { return is_due(claim) && visit(claim); });
}

std::optional<Instant> State::next_due() const {
  const StandingClaim* first = due_.first();
  return first == nullptr ? std::nullopt : std::optional(first->expires_at);
}

const Resource* State::definition(std::string_view path) const {
  const ResourceNode* found = resource(path);
  return found == nullptr ? nullptr : found->defined.get();
}

bool State::is_retired(std::string_view path) const {
  const ResourceNode* found = resource(path);
  return found != nullptr && found->retired;
}

const ResourceNode* State::nearest(std::string_view path) const {
  for (; !path.empty(); path = parent_of(path)) {
    if (const ResourceNode* node = resource(path)) return node;
  }
  return nullptr;
}

const RememberedRequest* State::request(std::string_view actor, std::string_view id) const {
  const auto it = requests_.find(request_name(actor, id));
  return it == requests_.end() ? nullptr : &it->second;
}

void State::remember(const Actor& actor, const RequestId& id, RememberedRequest request) {
  std::string name = request_name(actor.view(), id.view());
  // The request's last event must be projected before the projections can answer for it.
  forgettable_.push_back({.at = head_, .request = name});
  requests_.insert_or_assign(std::move(name), std::move(request));
}

bool State::knows_last_event(std::string_view path) const {
  const ResourceNode* found = resource(path);
  return found != nullptr && found->knows_last;
}

Position State::last_event(std::string_view path) const {
  const ResourceNode* found = resource(path);
  return found == nullptr ? Position{} : found->last_event;
}

void State::recall_last_event(const Path& path, Position last) {
  ResourceNode& recalled = node(path);
  if (recalled.knows_last) return;
  recalled.last_event = last;
  recalled.knows_last = true;
  offer_to_forget(recalled);
}

void State::recall(const Claim& claim) {
  HOLDFAST_INVARIANT(claim.state != ClaimState::held, "a hold is in memory until it has ended");
  if (find(claim.key.view()) != nullptr) return;
  StandingClaim& recalled = insert(claim);
  recalled.past = claim.state == ClaimState::committed;
  offer_to_forget(recalled);
}

void State::restore_claim(const Claim& standing) {
  HOLDFAST_INVARIANT(!is_ended(standing.state), "an ended claim is recalled, not restored");
  attach(insert(standing));
}

void State::let_go(std::string_view key) {
  StandingClaim* claim = claims_.find(key);
  if (claim == nullptr || claim->forgettable) return;  // or it goes by itself
  detach(*claim);
  forget(*claim);
}

void State::restore_definition(const Path& path, const std::optional<Resource>& resource) {
  ResourceNode& restored = node(path);
  restored.retired = !resource;
  define(restored, resource ? std::make_unique<Resource>(*resource) : nullptr);
}

bool State::idle(const ResourceNode& node) const {
  return node.claims_in_memory == 0 && !node.defined && !node.retired &&
         node.first_child == nullptr;
}

void State::offer_to_forget(StandingClaim& claim) {
  if (std::exchange(claim.forgettable, true)) return;
  forgettable_.push_back({.at = claim.last_event, .claim = &claim});
}

void State::offer_to_forget(ResourceNode& node) {
  if (!idle(node) || std::exchange(node.forgettable, true)) return;
  forgettable_.push_back({.at = node.last_event, .resource = &node});
}

void State::forget_through(Position projected) {
  // What was put back because it changed meanwhile waits for another round.
  for (std::size_t n = forgettable_.size(); n > 0; --n) {
    Forgettable next = std::move(forgettable_.front());
    if (next.at > projected) {
      forgettable_.front() = std::move(next);
      return;
    }
    forgettable_.pop_front();
    if (next.claim != nullptr) {
      next.claim->forgettable = false;
      // A booking that had left and was moved to where it stands again.
      if (!is_ended(next.claim->state) && !next.claim->past) continue;
      if (next.claim->last_event > projected) {
        offer_to_forget(*next.claim);
      } else {
        forget(*next.claim);
      }
    } else if (next.resource != nullptr) {
      next.resource->forgettable = false;
      if (!idle(*next.resource)) continue;
      if (next.resource->last_event > projected) {
        offer_to_forget(*next.resource);
      } else {
        forget(*next.resource);
      }
    } else {
      requests_.erase(next.request);
    }
  }
}

void State::forget(StandingClaim& claim) {
  ResourceNode& resource = *claim.resource;
  HolderNode& holder = *claim.holder;
  if (--holder.references == 0) holders_.erase(holder);
  claims_.erase(claim);
  --resource.claims_in_memory;
  offer_to_forget(resource);
}

void State::forget(ResourceNode& node) {
  ResourceNode* parent = node.parent;
  if (parent != nullptr) {
    if (node.previous_sibling != nullptr) {
      node.previous_sibling->next_sibling = node.next_sibling;
    } else {
      parent->first_child = node.next_sibling;
    }
    if (node.next_sibling != nullptr) node.next_sibling->previous_sibling = node.previous_sibling;
  }
  resources_.erase(node);
  if (parent != nullptr) offer_to_forget(*parent);
}

}  // namespace holdfast
