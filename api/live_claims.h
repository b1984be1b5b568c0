#pragma once

#include <cstddef>
#include <optional>

#include "ledger/domain/state.h"
#include "projections/projections.h"

namespace holdfast::api {

// A page of live claims from the writer's state, in order of key; `at` is left open. None when the
// question is about claims that have ended, or more claims than `max_visited` would have to be
// looked at: the projections answer then.
std::optional<projections::Page<Claim>> live_claims(const State& state,
                                                    const projections::ClaimsQuery& query,
                                                    std::size_t max_visited);

}  // namespace holdfast::api
