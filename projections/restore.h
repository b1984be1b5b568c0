#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/state.h"
#include "ledger/store/log.h"
#include "projections/fold.h"
#include "projections/folders.h"
#include "projections/projections.h"

// From the rows back to what the writer decides from.
namespace holdfast::projections {

struct StartingPoint {
  OpenReport opened;
  std::unique_ptr<Fold> fold;
};

// The rows CURRENT names, or new ones if those are not good; brought to the log's head, and the
// state of that moment. Deletes what rebuilds left behind.
tl::expected<StartingPoint, StorageError> find_or_rebuild(Folders& folders, const store::Log& log,
                                                          State& state);

// As Recall has them.
tl::expected<std::vector<std::optional<Claim>>, StorageError> forgotten_claims(
    const Generation& rows, std::span<const std::string_view> keys, bool bookings);
tl::expected<std::vector<Position>, StorageError> last_events_on(
    const Generation& rows, std::span<const std::string_view> paths);

}  // namespace holdfast::projections
