#include "projections/as_of.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

#include "projections/event_fold.h"
#include "projections/list_cursor.h"
#include "projections/queries.h"

namespace holdfast::projections {
namespace {

using Done = tl::expected<void, StorageError>;
using Visit = std::function<Done(const Event&)>;

constexpr std::size_t kReadAtOnce = 512;
// Claims in memory at a time, and so the most resources of one pass over the events.
constexpr std::size_t kMaxClaims = 10'000;
constexpr std::size_t kMaxResources = 10'000;

StorageError not_foldable(const Event& event, const std::string& why) {
  return {"event " + std::to_string(event.position.value) + " (" +
          std::string(type_name(event.happening)) + ") cannot be folded: it " + why};
}

Done visit_events(const store::Log& log, std::span<const Position> positions, const Visit& visit) {
  const auto events = log.read(positions);
  if (!events) return tl::unexpected(events.error());
  for (const Event& event : *events) {
    if (const Done done = visit(event); !done) return done;
  }
  return {};
}

Done visit_all(const store::Log& log, Position until, const Visit& visit) {
  if (!until) return {};
  Done outcome;
  const Done scanned = log.scan(Position{1}, until, [&](Event&& event) {
    outcome = visit(event);
    return outcome.has_value();
  });
  return scanned ? outcome : scanned;
}

Done visit_lists(const Generation& rows, const store::Log& log, std::vector<std::string> names,
                 Position until, const Visit& visit) {
  const Moment moment(rows);
  MergedLists lists(moment, std::move(names), {Position{1}, until});
  std::vector<Position> positions;
  do {
    positions.clear();
    if (const Done taken = lists.take(kReadAtOnce, positions); !taken) return taken;
    if (const Done visited = visit_events(log, positions, visit); !visited) return visited;
  } while (positions.size() == kReadAtOnce);
  return {};
}

// The claim whose event `last` is, after that event or an earlier one: not beyond `until`.
tl::expected<std::optional<Claim>, StorageError> fold_chain(const store::Log& log, Position last,
                                                            Position until) {
  auto chain = chain_of_claim(log, last);
  if (!chain) return tl::unexpected(chain.error());
  std::erase_if(*chain, [&](Position p) { return p > until; });
  std::reverse(chain->begin(), chain->end());
  std::optional<Claim> claim;
  std::span<const Position> rest = *chain;
  while (!rest.empty()) {
    const auto now = rest.first(std::min(kReadAtOnce, rest.size()));
    rest = rest.subspan(now.size());
    const Done folded = visit_events(log, now, [&](const Event& event) -> Done {
      if (const auto next = fold(claim, event); !next) {
        return tl::unexpected(not_foldable(event, next.error()));
      }
      return {};
    });
    if (!folded) return tl::unexpected(folded.error());
  }
  return claim;
}

bool only_live(StateFilter state) {
  return state == StateFilter::live || state == StateFilter::held ||
         state == StateFilter::committed;
}

// The claims with the least keys from `from` on, as many as memory is meant for.
class LeastClaims {
 public:
  LeastClaims(const store::Log& log, StateFilter state, std::string from)
      : log_(log), drop_ended_(only_live(state)), from_(std::move(from)) {}

  Done fold_in(const Event& event) {
    if (!event.key) return {};
    const std::string key = event.key->str();
    if (key < from_ || (ceiling_ && key >= *ceiling_)) return {};
    auto found = claims_.find(key);
    if (std::holds_alternative<Moved>(event.happening)) {
      // It may come from where its events were not looked at.
      auto so_far = fold_chain(log_, event.previous_of_claim, event.previous_of_claim);
      if (!so_far) return tl::unexpected(so_far.error());
      found = claims_.insert_or_assign(key, std::move(*so_far)).first;
    } else if (found == claims_.end()) {
      if (!std::holds_alternative<Held>(event.happening)) return {};  // was let go when it ended
      found = claims_.emplace(key, std::nullopt).first;
    }
    if (const auto folded = fold(found->second, event); !folded) {
      return tl::unexpected(not_foldable(event, folded.error()));
    }
    if (drop_ended_ && is_ended(found->second->state)) claims_.erase(found);
    if (claims_.size() > kMaxClaims) {
      const auto greatest = std::prev(claims_.end());
      ceiling_ = greatest->first;
      claims_.erase(greatest);
    }
    return {};
  }

  std::map<std::string, std::optional<Claim>, std::less<>>& claims() { return claims_; }
  // Keys from here on have not been looked at; none: all have.
  const std::optional<std::string>& ceiling() const { return ceiling_; }

 private:
  const store::Log& log_;
  bool drop_ended_;
  std::string from_;
  std::optional<std::string> ceiling_;
  std::map<std::string, std::optional<Claim>, std::less<>> claims_;
};

Done visit_concerned(const Generation& rows, const store::Log& log, const ClaimsQuery& query,
                     Position until, const Visit& visit) {
  if (!query.holder.empty()) {
    return visit_lists(rows, log, {list_name(ListKind::holder, query.holder)}, until, visit);
  }
  if (!query.resource.empty()) {
    return visit_lists(rows, log, lists_of_subtree(query.resource), until, visit);
  }
  return visit_all(log, until, visit);
}

using InSight = std::function<bool(std::string_view)>;

// Folds the events of some paths. A claim that moves to another path is out of sight there: it is
// let go, and read anew from its chain should it come back.
class ResourceFold {
 public:
  ResourceFold(const store::Log& log, InSight in_sight, std::optional<Duration> past_horizon)
      : log_(log), in_sight_(std::move(in_sight)), state_(past_horizon) {}

  Done fold_in(const Event& event) {
    // An ended claim may have been let go below; only a steal comes after the end.
    if (event.previous_of_claim && state_.find(event.key->view()) == nullptr) {
      const auto before = fold_chain(log_, event.previous_of_claim, event.previous_of_claim);
      if (!before) return tl::unexpected(before.error());
      const bool forgotten =
          is_ended((*before)->state) || state_.has_left(**before, event.recorded_at);
      forgotten ? state_.recall(**before) : state_.restore_claim(**before);
    }
    state_.evolve(event);
    const Path* to = second_resource(event);
    if (to != nullptr && !in_sight_(to->view())) state_.let_go(event.key->view());
    if (++folded_ % kReadAtOnce == 0) state_.forget_through(event.position);
    return {};
  }

  State take() { return std::move(state_); }

 private:
  const store::Log& log_;
  InSight in_sight_;
  State state_;
  std::size_t folded_ = 0;
};

// The events of the paths above, and of the path itself; with `below` those below it too.
Done visit_place(const Generation& rows, const store::Log& log, std::string_view resource,
                 bool below, Position until, const Visit& visit) {
  std::vector<std::string> lists;
  for (std::string_view path = resource; !path.empty(); path = parent_of(path)) {
    lists.push_back(list_name(ListKind::own, path));
  }
  if (below) lists.push_back(list_name(ListKind::below, resource));
  return visit_lists(rows, log, std::move(lists), until, visit);
}

State settled(ResourceFold fold, AsOf as_of) {
  State state = fold.take();
  state.set_head(as_of.position);
  state.advance(as_of.now);
  state.let_all_leave();
  return state;
}

// The state of the path and the paths above it, and with `below` of what lies below it.
tl::expected<State, StorageError> fold_place(const Generation& rows, const store::Log& log,
                                             const Path& resource, bool below, AsOf as_of) {
  ResourceFold fold(
      log,
      [&](std::string_view path) {
        return at_or_below(resource.view(), path) || (below && at_or_below(path, resource.view()));
      },
      as_of.past_horizon);
  const Done folded = visit_place(rows, log, resource.view(), below, as_of.position,
                                  [&](const Event& event) { return fold.fold_in(event); });
  if (!folded) return tl::unexpected(folded.error());
  return settled(std::move(fold), as_of);
}

Done visit_subtree(const Generation& rows, const store::Log& log, std::string_view resource,
                   Position until, const Visit& visit) {
  if (!resource.empty()) return visit_place(rows, log, resource, true, until, visit);
  return visit_all(log, until, visit);
}

// The defined paths at and below one, from `from` on, as many as are wanted.
class DefinedPaths {
 public:
  DefinedPaths(std::string_view resource, std::string from, std::size_t most)
      : resource_(resource), from_(std::move(from)), most_(most) {}

  void fold_in(const Event& event) {
    const std::string path = event.resource.str();
    if (!at_or_below(path, resource_) || path < from_ || (ceiling_ && path >= *ceiling_)) return;
    if (const auto* defined = std::get_if<Defined>(&event.happening)) {
      has_parts_[path] = defined->definition.parts;
    } else if (const auto* changed = std::get_if<Changed>(&event.happening)) {
      has_parts_[path] = changed->definition.parts;
    } else if (std::holds_alternative<Retired>(event.happening)) {
      has_parts_.erase(path);
    }
    if (has_parts_.size() <= most_) return;
    ceiling_ = std::prev(has_parts_.end())->first;
    has_parts_.erase(std::prev(has_parts_.end()));
  }

  const std::map<std::string, bool>& has_parts() const { return has_parts_; }
  // Paths from here on have not been looked at; none: all have.
  const std::optional<std::string>& ceiling() const { return ceiling_; }

  // What their state depends on: the paths themselves, those above, and all below a whole.
  InSight in_sight() const {
    std::unordered_set<std::string> on_the_way;
    std::unordered_set<std::string> wholes;
    for (const auto& [path, whole] : has_parts_) {
      if (whole) wholes.insert(path);
      for (std::string_view p = path; !p.empty(); p = parent_of(p)) on_the_way.emplace(p);
    }
    return [on_the_way = std::move(on_the_way), wholes = std::move(wholes)](std::string_view path) {
      if (on_the_way.contains(std::string(path))) return true;
      while (!path.empty() && !wholes.contains(std::string(path))) path = parent_of(path);
      return !path.empty();
    };
  }

 private:
  std::string_view resource_;
  std::string from_;
  std::size_t most_;
  std::optional<std::string> ceiling_;
  std::map<std::string, bool> has_parts_;
};

}  // namespace

tl::expected<Position, StorageError> find_position(const store::Log& log, Position head,
                                                   Instant instant) {
  Position known;              // recorded by then, or 0
  Position beyond = head + 1;  // recorded later, or none
  while (beyond.value - known.value > 1) {
    const Position middle{known.value + (beyond.value - known.value) / 2};
    const auto event = log.read(middle);
    if (!event) return tl::unexpected(event.error());
    (event->recorded_at <= instant ? known : beyond) = middle;
  }
  return known;
}

tl::expected<std::optional<Claim>, StorageError> fold_claim(const Generation& rows,
                                                            const store::Log& log,
                                                            std::string_view key, AsOf as_of) {
  const auto now = Moment(rows).claim(key);
  if (!now || !*now) return now;
  auto then = fold_chain(log, (*now)->last_event, as_of.position);
  if (then && *then) judge(**then, as_of.now);
  return then;
}

tl::expected<Page<Claim>, StorageError> fold_claims(const Generation& rows, const store::Log& log,
                                                    const ClaimsQuery& query, AsOf as_of) {
  Page<Claim> page;
  page.at = as_of.position;
  for (std::optional<std::string> from = query.after_key + '\0'; from && !page.more;) {
    LeastClaims least(log, query.state, std::move(*from));
    const Done folded = visit_concerned(rows, log, query, as_of.position,
                                        [&](const Event& event) { return least.fold_in(event); });
    if (!folded) return tl::unexpected(folded.error());
    for (auto& [key, claim] : least.claims()) {
      judge(*claim, as_of.now);
      if (!wanted(query, *claim)) continue;
      page.more = page.items.size() == query.limit;
      if (page.more) break;
      page.items.push_back(std::move(*claim));
    }
    from = least.ceiling();
  }
  return page;
}

tl::expected<State, StorageError> fold_resource(const Generation& rows, const store::Log& log,
                                                const Path& resource, AsOf as_of) {
  auto state = fold_place(rows, log, resource, false, as_of);
  if (!state) return state;
  // Only for the whole of what lies below does it matter what stands there.
  const Resource* defined = state->definition(resource.view());
  if (defined == nullptr || !defined->definition.parts) return state;
  return fold_place(rows, log, resource, true, as_of);
}

tl::expected<ResourceList, StorageError> fold_resources(const Generation& rows,
                                                        const store::Log& log,
                                                        const ResourcesQuery& query,
                                                        const Policy& policy, AsOf as_of) {
  // Where units are asked for, few of many may be listed.
  const std::size_t most = query.at_least > 0 ? kMaxResources : query.limit;
  for (std::optional<std::string> from = query.after + '\0'; from;) {
    DefinedPaths paths(query.resource, *from, most);
    const Done found =
        visit_subtree(rows, log, query.resource, as_of.position, [&](const Event& event) -> Done {
          paths.fold_in(event);
          return {};
        });
    if (!found) return tl::unexpected(found.error());
    from = paths.ceiling();
    if (paths.has_parts().empty()) continue;

    const InSight in_sight = paths.in_sight();
    ResourceFold fold(log, in_sight, as_of.past_horizon);
    const Done folded =
        visit_subtree(rows, log, query.resource, as_of.position, [&](const Event& event) -> Done {
          const Path* to = second_resource(event);
          const bool seen =
              in_sight(event.resource.view()) || (to != nullptr && in_sight(to->view()));
          return seen ? fold.fold_in(event) : Done{};
        });
    if (!folded) return tl::unexpected(folded.error());
    ResourcesQuery these = query;
    these.through = paths.has_parts().rbegin()->first;
    these.most_visited = paths.has_parts().size();
    ResourceList list = list_resources(settled(std::move(fold), as_of), these, policy, as_of.now);
    if (list.more.empty() && from) list.more = these.through;
    return list;
  }
  return ResourceList{};
}

}  // namespace holdfast::projections
