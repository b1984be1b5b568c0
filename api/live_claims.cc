#include "api/live_claims.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::api {

namespace {

using projections::ClaimsQuery;
using projections::StateFilter;

bool wanted(const ClaimsQuery& query, const StandingClaim& claim) {
  if (!claim.live() || claim.key.view() <= query.after_key) return false;
  if (query.state == StateFilter::held && claim.state != ClaimState::held) return false;
  if (query.state == StateFilter::committed && claim.state != ClaimState::committed) return false;
  if (!at_or_below(claim.resource->path.view(), query.resource)) return false;
  if (!query.scope.covers(claim.resource->path.view())) return false;
  if (!query.holder.empty() && claim.holder->holder.view() != query.holder) return false;
  if (query.cart.empty()) return true;
  return claim.extras && claim.extras->cart && claim.extras->cart->view() == query.cart;
}

// Keeps the claims with the smallest keys: a heap with the largest of them in front.
class Smallest {
 public:
  explicit Smallest(std::size_t count) : count_(count) {}

  void offer(const StandingClaim& claim) {
    heap_.push_back(&claim);
    std::push_heap(heap_.begin(), heap_.end(), by_key);
    if (heap_.size() <= count_) return;
    std::pop_heap(heap_.begin(), heap_.end(), by_key);
    heap_.pop_back();
  }

  std::vector<const StandingClaim*> take() {
    std::sort_heap(heap_.begin(), heap_.end(), by_key);
    return std::move(heap_);
  }

 private:
  static bool by_key(const StandingClaim* a, const StandingClaim* b) { return a->key < b->key; }

  std::size_t count_;
  std::vector<const StandingClaim*> heap_;
};

}  // namespace

std::optional<projections::Page<Claim>> live_claims(const State& state, const ClaimsQuery& query,
                                                    std::size_t max_visited) {
  if (state.past_horizon()) return std::nullopt;  // some may have left
  if (query.state != StateFilter::live && query.state != StateFilter::held &&
      query.state != StateFilter::committed) {
    return std::nullopt;
  }
  Smallest smallest(query.limit + 1);
  std::size_t visited = 0;
  const auto visit = [&](const StandingClaim& claim) {
    if (++visited > max_visited) return false;
    if (wanted(query, claim)) smallest.offer(claim);
    return true;
  };
  if (query.holder.empty()) {
    state.visit_subtree(query.resource, visit);
  } else {
    state.visit_holder(query.holder, visit);
  }
  if (visited > max_visited) return std::nullopt;
  projections::Page<Claim> page;
  auto found = smallest.take();
  page.more = found.size() > query.limit;
  if (page.more) found.pop_back();
  for (const StandingClaim* claim : found) page.items.push_back(State::snapshot(*claim));
  return page;
}

}  // namespace holdfast::api
