#include "ledger/domain/resource_list.h"

#include "ledger/domain/admission.h"
#include "ledger/domain/state.h"

namespace holdfast {
namespace {

using DefinedResources = State::DefinedResources;

// The first defined path at or below the query's that is behind `after`. Those below a path stand
// together, but not right behind it: `a`, `a-b`, `a/b`.
DefinedResources::const_iterator first_behind(const DefinedResources& defined,
                                              const ResourcesQuery& query) {
  if (query.resource.empty()) return defined.upper_bound(query.after);
  if (query.after < query.resource) {
    const auto own = defined.find(query.resource);
    if (own != defined.end()) return own;
  }
  const std::string below = query.resource + "/";
  return query.after < below ? defined.lower_bound(below) : defined.upper_bound(query.after);
}

ListedResource listed(const ResourceNode& node, std::int64_t free) {
  const Resource& resource = *node.defined;
  return {.path = node.path,
          .definition = resource.definition,
          .closed = resource.closed,
          .free = free,
          .claims = node.live_claims,
          .hours = resource.hours.size(),
          .blocked = resource.blocked.size()};
}

}  // namespace

ResourceList list_resources(const State& state, const ResourcesQuery& query, const Policy& policy,
                            Instant now) {
  const Span span = query.span.value_or(Span{now, now + Duration{1}});
  const DefinedResources& defined = state.defined();
  ResourceList list;
  std::string_view last;
  std::size_t visited = 0;
  auto it = first_behind(defined, query);
  while (it != defined.end()) {
    const auto& [path, node] = *it;
    const bool beyond = !query.through.empty() && path > query.through;
    if (beyond || !at_or_below(path, query.resource)) break;
    if (list.resources.size() == query.limit || visited == query.most_visited) {
      list.more = last;
      break;
    }
    ++visited;
    last = path;
    if (query.scope.covers(path)) {
      const std::int64_t free = units_for_a_hold(PathRules(state, path, policy), span);
      if (free >= query.at_least) list.resources.push_back(listed(*node, free));
    }
    it = path == query.resource ? defined.lower_bound(query.resource + "/") : std::next(it);
  }
  return list;
}

}  // namespace holdfast
