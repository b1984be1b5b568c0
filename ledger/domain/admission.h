#pragma once

#include <optional>
#include <tl/expected.hpp>

#include "ledger/domain/command.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/path_rules.h"
#include "ledger/domain/refusal.h"
#include "ledger/domain/state.h"

// Whether a path has room, and for whom. Used by decide, answers and availability, so that all
// three see the same.
namespace holdfast {

// Free units at the tightest instant of what a claim with this span occupies, none where a whole
// above or a part below excludes it. Not below 0. Closing, hours and blocks are not asked.
std::int64_t free_units(const PathRules& rules, std::optional<Span> span,
                        std::optional<Quantity> vouched);

// What a hold of the span would find: as free_units, and none where hours, blocks or closing refuse
// it.
std::int64_t units_for_a_hold(const PathRules& rules, std::optional<Span> span);

struct Deadline {
  Instant at;
  bool clamped;
};
// The expiry in force for a request on a hold made at `held_at`; bad_ttl for an instant already
// past.
tl::expected<Deadline, Refusal> deadline(const PathRules& rules, const Expiry& asked,
                                         Instant held_at, Instant now);

// What is to stand on a place.
struct Placing {
  std::optional<Span> span;
  Quantity quantity;
  const Holder& holder;
  std::optional<Quantity> vouched;
};
// The checks of a claim that comes to a place, from capacity_mismatch to conflict; none: it may.
std::optional<Refusal> refused_at(const State& state, const PathRules& rules,
                                  const Placing& placing, Instant now);

// Live claims at the path and, with `below`, under it, by (from, key), at most kMaxBlockers.
std::vector<Claim> blockers_at(const State& state, std::string_view path, bool below);

}  // namespace holdfast
