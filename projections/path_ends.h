#pragma once

#include <span>
#include <string>
#include <tl/expected.hpp>

#include "projections/generation.h"
#include "projections/projections.h"

namespace holdfast::projections {

// Proofs of the last positions of paths, and the root over those of all paths, at one moment.
tl::expected<PathEnds, StorageError> prove_path_ends(const Generation& rows,
                                                     std::span<const std::string> asked);

}  // namespace holdfast::projections
