#pragma once

#include <optional>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/store/log.h"
#include "projections/generation.h"
#include "projections/projections.h"

// Answers from the rows, and from the events they point to. From any thread.
namespace holdfast::projections {

tl::expected<HistoryPage, StorageError> find_history(const Generation& rows, const store::Log& log,
                                                     const HistoryQuery& query, Position at);
tl::expected<Page<Claim>, StorageError> find_claims(const Generation& rows, const store::Log& log,
                                                    const ClaimsQuery& query, Instant now);

tl::expected<std::optional<Position>, StorageError> find_request(const Generation& rows,
                                                                 std::string_view actor,
                                                                 std::string_view request_id);

// Positions of a claim's events from `last` back to its first, newest first.
tl::expected<std::vector<Position>, StorageError> chain_of_claim(const store::Log& log,
                                                                 Position last);

// True when the claim, as it reads, is one that the query asks for (its cursor aside).
bool wanted(const ClaimsQuery& query, const Claim& claim);

}  // namespace holdfast::projections
