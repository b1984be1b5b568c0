#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/domain/decide.h"
#include "ledger/domain/ids.h"
#include "ledger/domain/resource.h"
#include "ledger/domain/scope.h"
#include "ledger/domain/time.h"

namespace holdfast {

// Defined resources in order of path.
struct ResourcesQuery {
  std::string resource = {};  // at and below; empty: all
  Scope scope = {};
  std::optional<Span> span = {};  // units free throughout; none: now
  std::int64_t at_least = 0;      // only those with so many units free
  std::string after = {};         // cursor: paths greater than this
  std::string through = {};       // and up to this; empty: to the end
  std::size_t limit = 100;
  std::size_t most_visited = 100;  // resources that may be looked at
};

struct ListedResource {
  Path path;
  Definition definition;
  bool closed;          // itself
  std::int64_t free;    // what a hold finds, 0 where it is refused for any reason
  std::int64_t claims;  // live ones on the resource itself
  std::size_t hours;    // explicit open spans
  std::size_t blocked;  // and blocked ones
};

struct ResourceList {
  std::vector<ListedResource> resources;
  std::string more = {};  // go on behind this path; empty: that was all
};

// A resource is listed for a quantity exactly when a hold of it, by a holder without a limit, would
// be accepted. O(log n) for each resource that is looked at.
ResourceList list_resources(const State& state, const ResourcesQuery& query, const Policy& policy,
                            Instant now);

}  // namespace holdfast
