#include "ledger/domain/path_rules.h"

#include <algorithm>

namespace holdfast {

PathRules::PathRules(const State& state, std::string_view path, const Policy& policy)
    : nearest_(state.nearest(path)), earliest_begin_(state.earliest_begin()) {
  if (nearest_ != nullptr && nearest_->path.view() == path) own_ = nearest_;
  visit_levels([&](const ResourceNode& level) {
    if (level.defined) read(level);
    return true;
  });
  max_ttl_ = own_max_ttl_.value_or(policy.max_ttl);
  default_ttl_ = own_default_ttl_.value_or(policy.default_ttl);
  unknown_ =
      (own_ != nullptr && own_->retired) || (policy.strict_resources && defined() == nullptr);
}

void PathRules::read(const ResourceNode& level) {
  const Definition& d = level.defined->definition;
  if (d.max_ttl && (!own_max_ttl_ || *d.max_ttl < *own_max_ttl_)) own_max_ttl_ = d.max_ttl;
  if (!own_default_ttl_) own_default_ttl_ = d.default_ttl;
  if (!max_hold_time_) max_hold_time_ = d.max_hold_time;
  if (!extension_limit_) extension_limit_ = d.extension_limit;
  if (closed_ == nullptr && level.defined->closed) closed_ = &level;
  if (hours_ == nullptr && !level.defined->hours.empty()) hours_ = &level.defined->hours;
}

std::int64_t PathRules::capacity(std::optional<Quantity> vouched) const {
  if (const Resource* resource = defined()) return resource->definition.capacity.units;
  return vouched.value_or(Quantity{1}).units;
}

namespace {

Span reach_of(const PathRules& rules, const std::optional<Span>& span, const ResourceNode& other) {
  return reach(span, rules.between(other), other.turnaround());
}

// Visits what stands below the resource, depth first.
void visit_below(const ResourceNode& top, const std::function<bool(const ResourceNode&)>& visit) {
  const ResourceNode* node = top.first_child;
  while (node != nullptr) {
    if (node->live_at_or_below > 0 && !visit(*node)) return;
    if (node->first_child != nullptr && node->live_at_or_below > 0) {
      node = node->first_child;
      continue;
    }
    while (node != &top && node->next_sibling == nullptr) node = node->parent;
    node = node == &top ? nullptr : node->next_sibling;
  }
}

}  // namespace

void visit_excluding(const PathRules& rules, const std::optional<Span>& span,
                     const std::function<bool(const StandingClaim&)>& visit) {
  bool go_on = true;
  rules.visit_wholes([&](const ResourceNode& whole) {
    return go_on = visit_meeting(whole, reach_of(rules, span, whole), visit);
  });
  if (!go_on || rules.own() == nullptr || !rules.own()->has_parts()) return;
  visit_below(*rules.own(), [&](const ResourceNode& part) {
    return visit_meeting(part, reach_of(rules, span, part), visit);
  });
}

void visit_met(const PathRules& rules, const std::optional<Span>& span,
               const std::function<bool(const StandingClaim&)>& visit) {
  if (rules.own() != nullptr &&
      !visit_meeting(*rules.own(), occupied(span, rules.turnaround()), visit)) {
    return;
  }
  visit_excluding(rules, span, visit);
}

namespace {

// The first instant of the span at which anything is occupied.
std::optional<Instant> first_occupied(const Occupancy& occupancy, const Span& span) {
  if (occupancy.peak(span).units == 0) return std::nullopt;
  std::optional<Instant> first;
  occupancy.visit_steps(span, [&](const Span& piece, std::int64_t units) {
    if (units > 0) first = piece.from;
    return !first;
  });
  return first;
}

}  // namespace

std::optional<Instant> excluded_at(const PathRules& rules, const std::optional<Span>& span) {
  std::optional<Instant> earliest;
  const auto offer = [&](Instant at) {
    if (!earliest || at < *earliest) earliest = at;
  };
  rules.visit_wholes([&](const ResourceNode& whole) {
    const Span touched = reach_of(rules, span, whole);
    if (const auto at = first_occupied(whole.occupancy, touched)) {
      offer(span ? std::max(span->from, *at - rules.between(whole)) : *at);
    }
    return true;
  });
  if (rules.own() != nullptr && rules.own()->has_parts()) {
    const auto at = first_occupied(rules.own()->accounts->parts, span.value_or(kAllOfTime));
    if (at) offer(*at);
  }
  return earliest;
}

}  // namespace holdfast
