#include "projections/as_of.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

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
    const std::string& key = event.key->str();
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
  if (!until) return {};
  Done outcome;
  const Done scanned = log.scan(Position{1}, until, [&](Event&& event) {
    outcome = visit(event);
    return outcome.has_value();
  });
  return scanned ? outcome : scanned;
}

// Folds the events of some paths. A claim that moves to another path is out of sight there: it is
// let go, and read anew from its chain should it come back.
class ResourceFold {
 public:
  ResourceFold(const store::Log& log, std::function<bool(std::string_view)> in_sight)
      : log_(log), in_sight_(std::move(in_sight)) {}

  Done fold_in(const Event& event) {
    // An ended claim may have been let go below; only a steal comes after the end.
    if (event.previous_of_claim && state_.find(event.key->view()) == nullptr) {
      const auto before = fold_chain(log_, event.previous_of_claim, event.previous_of_claim);
      if (!before) return tl::unexpected(before.error());
      is_ended((*before)->state) ? state_.recall(**before) : state_.restore_claim(**before);
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
  std::function<bool(std::string_view)> in_sight_;
  State state_;
  std::size_t folded_ = 0;
};

// The state of the path and the paths above it, and with `below` of what lies below it.
tl::expected<State, StorageError> fold_place(const Generation& rows, const store::Log& log,
                                             const Path& resource, bool below, AsOf as_of) {
  std::vector<std::string> lists;
  for (std::string_view path = resource.view(); !path.empty(); path = parent_of(path)) {
    lists.push_back(list_name(ListKind::own, path));
  }
  if (below) lists.push_back(list_name(ListKind::below, resource.view()));
  ResourceFold fold(log, [&](std::string_view path) {
    return at_or_below(resource.view(), path) || (below && at_or_below(path, resource.view()));
  });
  const Done folded = visit_lists(rows, log, std::move(lists), as_of.position,
                                  [&](const Event& event) { return fold.fold_in(event); });
  if (!folded) return tl::unexpected(folded.error());
  State state = fold.take();
  state.set_head(as_of.position);
  state.advance(as_of.now);
  return state;
}

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

}  // namespace holdfast::projections
