#include "ledger/domain/admission.h"

#include <algorithm>

namespace holdfast {
namespace {

std::int64_t peak_units(const PathRules& rules, const std::optional<Span>& span) {
  if (rules.own() == nullptr) return 0;
  return rules.own()->occupancy.peak(occupied(span, rules.turnaround())).units;
}

const ResourceNode* blocked_level(const PathRules& rules, const std::optional<Span>& span) {
  const ResourceNode* found = nullptr;
  rules.visit_levels([&](const ResourceNode& level) {
    if (level.defined && level.defined->blocked.meet(span.value_or(kAllOfTime))) found = &level;
    return found == nullptr;
  });
  return found;
}

bool inside_hours(const PathRules& rules, const std::optional<Span>& span) {
  return rules.hours() == nullptr || rules.hours()->cover(span.value_or(kAllOfTime));
}

std::vector<Claim> snapshots(std::vector<const StandingClaim*>& claims) {
  const auto end =
      claims.begin() + static_cast<std::ptrdiff_t>(std::min(claims.size(), kMaxBlockers));
  std::partial_sort(
      claims.begin(), end, claims.end(),
      [](const StandingClaim* a, const StandingClaim* b) { return BySpan::before(*a, *b); });
  std::vector<Claim> taken;
  for (auto it = claims.begin(); it != end; ++it) taken.push_back(State::snapshot(**it));
  return taken;
}

// Nearest level at which the holder would have more units than the limit.
std::optional<Refusal> above_holder_limit(const State& state, const PathRules& rules,
                                          const Placing& placing, Instant now) {
  if (placing.span && placing.span->until <= now) return std::nullopt;
  const HolderNode* holder = state.holder(placing.holder.view());
  std::optional<Refusal> refusal;
  rules.visit_levels([&](const ResourceNode& level) {
    if (!level.accounts || !level.defined->definition.holder_limit) return true;
    const std::int64_t limit = level.defined->definition.holder_limit->units;
    const auto account = level.accounts->by_holder.find(holder);
    const std::int64_t units = account == level.accounts->by_holder.end()
                                   ? 0
                                   : account->second.peak({now, now + Duration{1}}).units;
    if (units + placing.quantity.units <= limit) return true;
    refusal = Refusal{.reason = Reason::holder_limit, .path = level.path.str(), .allowed = limit};
    return false;
  });
  return refusal;
}

// Earliest instant at which nothing excludes the claim any more; none: never.
std::optional<Instant> earliest_inclusion(const PathRules& rules, const std::optional<Span>& span) {
  std::optional<Instant> latest = kMinInstant;
  visit_excluding(rules, span, [&](const StandingClaim& claim) {
    latest = claim.state == ClaimState::held ? std::optional(std::max(*latest, claim.expires_at))
                                             : std::nullopt;
    return latest.has_value();
  });
  return latest;
}

std::optional<Instant> retry_at(const PathRules& rules, const Placing& placing,
                                std::int64_t capacity) {
  const auto included = earliest_inclusion(rules, placing.span);
  const std::int64_t allowed = capacity - placing.quantity.units;
  if (!included || allowed < 0) return std::nullopt;
  if (peak_units(rules, placing.span) <= allowed) return included;
  // Nodes are the state's own; looking for the earliest room leaves them as they were.
  const auto room = earliest_room(const_cast<ResourceNode&>(*rules.own()),
                                  occupied(placing.span, rules.turnaround()), allowed);
  return room ? std::optional(std::max(*room, *included)) : std::nullopt;
}

Refusal conflict(const PathRules& rules, const Placing& placing, std::int64_t capacity,
                 std::optional<Instant> excluded) {
  std::optional<Instant> tightest = excluded;
  std::vector<const StandingClaim*> blockers;
  const Span wanted = occupied(placing.span, rules.turnaround());
  const auto peak = rules.own() == nullptr ? Occupancy::Peak{.units = 0, .at = wanted.from}
                                           : rules.own()->occupancy.peak(wanted);
  if (!excluded || (peak.units >= capacity && peak.at < *excluded)) tightest = peak.at;
  if (rules.own() != nullptr) blockers = covering(*rules.own(), *tightest, kMaxBlockers);
  if (excluded && *excluded <= *tightest) {
    visit_excluding(rules, Span{*tightest, *tightest + Duration{1}},
                    [&](const StandingClaim& claim) {
                      blockers.push_back(&claim);
                      return true;
                    });
  }
  return Refusal{.reason = Reason::conflict,
                 .capacity = capacity,
                 .available = free_units(rules, placing.span, placing.vouched),
                 .blockers = snapshots(blockers),
                 .retry_at = retry_at(rules, placing, capacity)};
}

}  // namespace

std::int64_t free_units(const PathRules& rules, std::optional<Span> span,
                        std::optional<Quantity> vouched) {
  if (rules.is_too_early(span)) return 0;
  const auto in_question = rules.in_question(span);
  if (excluded_at(rules, in_question)) return 0;
  return std::max<std::int64_t>(0, rules.capacity(vouched) - peak_units(rules, in_question));
}

std::int64_t units_for_a_hold(const PathRules& rules, std::optional<Span> span) {
  const bool refused = rules.is_unknown() || rules.closed() != nullptr ||
                       !inside_hours(rules, span) || blocked_level(rules, span) != nullptr;
  return refused ? 0 : free_units(rules, span, std::nullopt);
}

tl::expected<Deadline, Refusal> deadline(const PathRules& rules, const Expiry& asked,
                                         Instant held_at, Instant now) {
  Duration longest = std::min(rules.max_ttl(), kMaxInstant - now);
  if (const auto whole = rules.max_hold_time()) {
    longest = std::max(Duration{0}, std::min(longest, held_at + *whole - now));
  }
  if (asked.expires_at) {
    if (*asked.expires_at <= now) return tl::unexpected(Refusal{.reason = Reason::bad_ttl});
    const Duration wanted = *asked.expires_at - now;
    return Deadline{now + std::min(wanted, longest), wanted > longest};
  }
  const Duration wanted = asked.ttl.value_or(rules.default_ttl());
  return Deadline{now + std::min(wanted, longest), asked.ttl && wanted > longest};
}

std::optional<Refusal> refused_at(const State& state, const PathRules& rules,
                                  const Placing& placing, Instant now) {
  if (rules.is_too_early(placing.span)) return Refusal{.reason = Reason::bad_span};
  const Resource* defined = rules.defined();
  if (defined != nullptr && placing.vouched && *placing.vouched != defined->definition.capacity) {
    return Refusal{.reason = Reason::capacity_mismatch,
                   .capacity = defined->definition.capacity.units};
  }
  if (auto refusal = above_holder_limit(state, rules, placing, now)) return refusal;
  if (rules.closed() != nullptr) {
    return Refusal{.reason = Reason::closed, .path = rules.closed()->path.str()};
  }
  if (!inside_hours(rules, placing.span)) return Refusal{.reason = Reason::outside_hours};
  if (const ResourceNode* level = blocked_level(rules, placing.span)) {
    return Refusal{.reason = Reason::blocked, .path = level->path.str()};
  }
  const std::int64_t capacity = rules.capacity(placing.vouched);
  const Placing in_question{rules.in_question(placing.span), placing.quantity, placing.holder,
                            placing.vouched};
  const auto excluded = excluded_at(rules, in_question.span);
  if (!excluded && peak_units(rules, in_question.span) + placing.quantity.units <= capacity) {
    return std::nullopt;
  }
  return conflict(rules, in_question, capacity, excluded);
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
  return snapshots(found);
}

}  // namespace holdfast
