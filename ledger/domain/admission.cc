#include "ledger/domain/admission.h"

#include <algorithm>

namespace holdfast {

std::int64_t capacity_of(const State& state, std::string_view path,
                         std::optional<Quantity> vouched) {
  if (const Resource* defined = state.definition(path)) return defined->definition.capacity.units;
  return vouched.value_or(Quantity{1}).units;
}

Duration max_ttl_of(const State& state, std::string_view path, const Policy& policy) {
  std::optional<Duration> smallest;
  state.visit_upwards(path, [&](const ResourceNode& node) {
    const auto own = node.defined ? node.defined->definition.max_ttl : std::nullopt;
    if (own && (!smallest || *own < *smallest)) smallest = own;
    return true;
  });
  return smallest.value_or(policy.max_ttl);
}

Duration default_ttl_of(const State& state, std::string_view path, const Policy& policy) {
  std::optional<Duration> nearest;
  state.visit_upwards(path, [&](const ResourceNode& node) {
    if (node.defined) nearest = node.defined->definition.default_ttl;
    return !nearest;
  });
  return nearest.value_or(policy.default_ttl);
}

std::optional<Path> closed_at_or_above(const State& state, std::string_view path) {
  std::optional<Path> nearest;
  state.visit_upwards(path, [&](const ResourceNode& node) {
    if (node.defined && node.defined->closed) nearest = node.path;
    return !nearest;
  });
  return nearest;
}

bool is_unknown(const State& state, std::string_view path, const Policy& policy) {
  return state.is_retired(path) || (policy.strict_resources && state.definition(path) == nullptr);
}

Duration turnaround_of(const State& state, std::string_view path) {
  const ResourceNode* node = state.resource(path);
  return node == nullptr ? Duration{0} : node->turnaround();
}

std::int64_t free_over(const State& state, std::string_view path, std::optional<Span> span,
                       std::optional<Quantity> vouched) {
  const std::int64_t capacity = capacity_of(state, path, vouched);
  const ResourceNode* node = state.resource(path);
  if (node == nullptr) return capacity;
  const Span whole = occupied(span, node->turnaround());
  return std::max<std::int64_t>(0, capacity - node->occupancy.peak(whole).units);
}

tl::expected<Deadline, Refusal> deadline(const State& state, std::string_view path,
                                         const Expiry& asked, Instant now, const Policy& policy) {
  const Duration longest = std::min(max_ttl_of(state, path, policy), kMaxInstant - now);
  if (asked.expires_at) {
    if (*asked.expires_at <= now) return tl::unexpected(Refusal{.reason = Reason::bad_ttl});
    const Duration wanted = *asked.expires_at - now;
    return Deadline{now + std::min(wanted, longest), wanted > longest};
  }
  const Duration wanted = asked.ttl.value_or(default_ttl_of(state, path, policy));
  return Deadline{now + std::min(wanted, longest), asked.ttl && wanted > longest};
}

namespace {

Refusal conflict(ResourceNode& node, const Request& request, Span whole, Occupancy::Peak peak,
                 std::int64_t capacity) {
  Refusal refusal{.reason = Reason::conflict,
                  .capacity = capacity,
                  .available = std::max<std::int64_t>(0, capacity - peak.units)};
  for (const StandingClaim* claim : covering(node, peak.at, kMaxBlockers)) {
    refusal.blockers.push_back(State::snapshot(*claim));
  }
  refusal.retry_at = earliest_room(node, whole, capacity - request.quantity.units);
  return refusal;
}

}  // namespace

tl::expected<Deadline, Refusal> admit(const State& state, const Request& request,
                                      const Given& given) {
  const std::string_view path = request.resource.view();
  auto granted = deadline(state, path, request.expiry, given.now, given.policy);
  if (!granted) return granted;
  const Resource* defined = state.definition(path);
  if (defined != nullptr && request.vouched && *request.vouched != defined->definition.capacity) {
    return tl::unexpected(Refusal{.reason = Reason::capacity_mismatch,
                                  .capacity = defined->definition.capacity.units});
  }
  if (const auto closed = closed_at_or_above(state, path)) {
    return tl::unexpected(Refusal{.reason = Reason::closed, .path = closed->str()});
  }
  const std::int64_t capacity = capacity_of(state, path, request.vouched);
  const ResourceNode* node = state.resource(path);
  if (node == nullptr) {
    if (request.quantity.units <= capacity) return granted;
    return tl::unexpected(
        Refusal{.reason = Reason::conflict, .capacity = capacity, .available = capacity});
  }
  const Span whole = occupied(request.span, node->turnaround());
  const Occupancy::Peak peak = node->occupancy.peak(whole);
  if (peak.units + request.quantity.units <= capacity) return granted;
  // Nodes are the state's own; looking for the earliest room leaves them as they were.
  return tl::unexpected(conflict(const_cast<ResourceNode&>(*node), request, whole, peak, capacity));
}

std::vector<Claim> blockers_at(const State& state, std::string_view path, bool below) {
  std::vector<const StandingClaim*> found;
  if (below) {
    state.visit_subtree(path, [&](const StandingClaim& claim) {
      found.push_back(&claim);
      return true;
    });
  } else if (const ResourceNode* node = state.resource(path)) {
    node->live.for_each([&](const StandingClaim& claim) {
      found.push_back(&claim);
      return found.size() < kMaxBlockers;
    });
  }
  const auto end =
      found.begin() + static_cast<std::ptrdiff_t>(std::min(found.size(), kMaxBlockers));
  std::partial_sort(
      found.begin(), end, found.end(),
      [](const StandingClaim* a, const StandingClaim* b) { return BySpan::before(*a, *b); });
  std::vector<Claim> blockers;
  for (auto it = found.begin(); it != end; ++it) blockers.push_back(State::snapshot(**it));
  return blockers;
}

}  // namespace holdfast
