#pragma once

#include <optional>

#include "ledger/domain/draft.h"
#include "ledger/domain/path_rules.h"

namespace holdfast {

inline constexpr std::size_t kMaxLapsedRecorded = 64;

// Records the lapsed holds whose room a claim with this span takes, on the resource, on wholes
// above it and, if it is one, below it: oldest due first, then by key, at most kMaxLapsedRecorded.
// `except`: the one that a steal ends in its own way; null: none.
void record_lapsed(Draft& draft, const State& state, const PathRules& rules,
                   const std::optional<Span>& span, const StandingClaim* except);

}  // namespace holdfast
