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
  LeastClaims(StateFilter state, std::string from)
      : drop_ended_(only_live(state)), from_(std::move(from)) {}

  Done fold_in(const Event& event) {
    if (!event.key) return {};
    const std::string& key = event.key->str();
    if (key < from_ || (ceiling_ && key >= *ceiling_)) return {};
    auto found = claims_.find(key);
    if (found == claims_.end()) {
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

// Folds the path's own events and those of the paths above.
class ResourceFold {
 public:
  explicit ResourceFold(const store::Log& log) : log_(log) {}

  Done fold_in(const Event& event) {
    // An ended claim may have been let go below; only a steal comes after the end.
    if (event.previous_of_claim && state_.find(event.key->view()) == nullptr) {
      const auto ended = fold_chain(log_, event.previous_of_claim, event.previous_of_claim);
      if (!ended) return tl::unexpected(ended.error());
      state_.recall(**ended);
    }
    state_.evolve(event);
    if (++folded_ % kReadAtOnce == 0) state_.forget_through(event.position);
    return {};
  }

  State take() { return std::move(state_); }

 private:
  const store::Log& log_;
  State state_;
  std::size_t folded_ = 0;
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
    LeastClaims least(query.state, std::move(*from));
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
  std::vector<std::string> lists;
  for (std::string_view path = resource.view(); !path.empty(); path = parent_of(path)) {
    lists.push_back(list_name(ListKind::own, path));
  }
  ResourceFold resource_fold(log);
  const Done folded = visit_lists(rows, log, std::move(lists), as_of.position,
                                  [&](const Event& event) { return resource_fold.fold_in(event); });
  if (!folded) return tl::unexpected(folded.error());
  State state = resource_fold.take();
  state.set_head(as_of.position);
  state.advance(as_of.now);
  return state;
}

}  // namespace holdfast::projections
