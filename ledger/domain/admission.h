#pragma once

#include <optional>
#include <tl/expected.hpp>

#include "ledger/domain/command.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/refusal.h"
#include "ledger/domain/state.h"

// What a path allows: the rules along it, the room on it. Used by decide, answers and availability,
// so that all three see the same.
namespace holdfast {

// Units of the resource: as defined, else as vouched for, else 1.
std::int64_t capacity_of(const State& state, std::string_view path,
                         std::optional<Quantity> vouched);

Duration max_ttl_of(const State& state, std::string_view path, const Policy& policy);
Duration default_ttl_of(const State& state, std::string_view path, const Policy& policy);

// Nearest closed path at or above.
std::optional<Path> closed_at_or_above(const State& state, std::string_view path);

// True where new claims find no resource: retired, or undefined under strict_resources.
bool is_unknown(const State& state, std::string_view path, const Policy& policy);

Duration turnaround_of(const State& state, std::string_view path);

// Free units at the tightest instant of what a claim with this span occupies. Not below 0.
std::int64_t free_over(const State& state, std::string_view path, std::optional<Span> span,
                       std::optional<Quantity> vouched);

struct Deadline {
  Instant at;
  bool clamped;
};
// The expiry in force for a request; bad_ttl for an instant already past.
tl::expected<Deadline, Refusal> deadline(const State& state, std::string_view path,
                                         const Expiry& asked, Instant now, const Policy& policy);

// What a new claim asks for; the checks of hold and steal from bad_ttl to conflict.
struct Request {
  const Path& resource;
  std::optional<Span> span;
  Quantity quantity;
  const Expiry& expiry;
  std::optional<Quantity> vouched;
};
tl::expected<Deadline, Refusal> admit(const State& state, const Request& request,
                                      const Given& given);

// Live claims at the path and, with `below`, under it, by (from, key), at most kMaxBlockers.
std::vector<Claim> blockers_at(const State& state, std::string_view path, bool below);

}  // namespace holdfast
