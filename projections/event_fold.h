#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "ledger/domain/claim.h"
#include "ledger/domain/event.h"
#include "projections/rows.h"

// What one event makes of the claim and of the definition it names. Pure; a failure says why the
// event cannot follow and leaves the value as it was.
namespace holdfast::projections {

// `claim`: none before its `held`.
tl::expected<void, std::string> fold(std::optional<Claim>& claim, const Event& event);

// `definition`: none while the path was never defined. An event of a claim changes nothing.
tl::expected<void, std::string> fold(std::optional<DefinitionRow>& definition, const Event& event);

// True for the events that say something about their path's definition.
bool concerns_definition(const Happening& happening);
// True where the definition before the event matters.
bool needs_definition(const Happening& happening);

// The claim as it reads at `now`: a lapsed hold is expired.
void judge(Claim& claim, Instant now);

}  // namespace holdfast::projections
