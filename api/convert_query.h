#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "api/caller.h"
#include "api/holdfast.capnp.h"
#include "ledger/domain/availability.h"
#include "ledger/domain/ids.h"
#include "ledger/domain/refusal.h"
#include "ledger/domain/resource_list.h"
#include "projections/projections.h"

// Queries of the wire, checked in form; forbidden where what they name is outside the caller's
// scope, to which lists are narrowed. Readers of malformed messages throw kj::Exception.
namespace holdfast::api {

// Items an answer holds at most; a limit above it gives pages of this size.
inline constexpr std::size_t kMaxPage = 500;
// Pieces of availability likewise.
inline constexpr std::size_t kMaxPieces = 10'000;

// Queries that are asked together at most.
inline constexpr unsigned kMaxQueries = 1'000;

// The earlier point a query is about, as it was named: one of the two.
struct NamedPoint {
  std::optional<Position> position;
  std::optional<Instant> instant;
};
// None: now. bad_time: both or neither, below 1, out of range. Whether it is beyond the head or
// the ledger's clock is not looked at.
tl::expected<std::optional<NamedPoint>, Refusal> to_point(bool given, wire::AsOf::Reader as_of);

tl::expected<Key, Refusal> to_query(wire::ClaimQuery::Reader query);
tl::expected<projections::ClaimsQuery, Refusal> to_query(wire::ClaimsQuery::Reader query,
                                                         const Caller& caller);

struct AvailabilityRequest {
  Path resource;
  std::optional<AvailabilityQuery> window;  // none: the units free at the query's instant
  std::size_t limit = 0;                    // pieces
};
tl::expected<AvailabilityRequest, Refusal> to_query(wire::AvailabilityQuery::Reader query,
                                                    const Caller& caller);

// Without `from`: from the query's instant on.
struct NextFreeRequest {
  Path resource;
  Duration duration;
  Quantity quantity;
  std::optional<Instant> from;
  Instant until;

  NextFreeQuery at(Instant now) const {
    return {resource, duration, quantity, {from.value_or(now), until}};
  }
};
tl::expected<NextFreeRequest, Refusal> to_query(wire::NextFreeQuery::Reader query,
                                                const Caller& caller);

// What may be visited is left to whoever asks.
tl::expected<ResourcesQuery, Refusal> to_query(wire::ResourcesQuery::Reader query,
                                               const Caller& caller);

tl::expected<projections::TalliesQuery, Refusal> to_query(wire::TalliesQuery::Reader query,
                                                          const Caller& caller);

// A request_id without an actor is the caller's.
tl::expected<projections::HistoryQuery, Refusal> to_query(wire::HistoryQuery::Reader query,
                                                          const Caller& caller);

// Where a list goes on, opaque to clients; valid for the same query while the log grows.
std::string cursor_behind(const Claim& last);
std::string cursor_behind(const projections::TalliesQuery::Cursor& last);
std::string cursor_at(const AvailabilityPage::Rest& rest);

}  // namespace holdfast::api
