#pragma once

#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/state.h"
#include "ledger/store/log.h"
#include "projections/generation.h"
#include "projections/projections.h"

// Answers as of an earlier position: folds of the events that concern the question, found through
// the rows. Requires that the rows have reached the position.
namespace holdfast::projections {

// Last position up to `head` that was recorded at `instant` or before; 0: none.
tl::expected<Position, StorageError> find_position(const store::Log& log, Position head,
                                                   Instant instant);
tl::expected<std::optional<Claim>, StorageError> fold_claim(const Generation& rows,
                                                            const store::Log& log,
                                                            std::string_view key, AsOf as_of);
tl::expected<Page<Claim>, StorageError> fold_claims(const Generation& rows, const store::Log& log,
                                                    const ClaimsQuery& query, AsOf as_of);
tl::expected<State, StorageError> fold_resource(const Generation& rows, const store::Log& log,
                                                const Path& resource, AsOf as_of);
// Looks at no more resources at a time than memory is meant for.
tl::expected<ResourceList, StorageError> fold_resources(const Generation& rows,
                                                        const store::Log& log,
                                                        const ResourcesQuery& query,
                                                        const Policy& policy, AsOf as_of);

}  // namespace holdfast::projections
