#include "api/dispatch_query.h"

#include <kj/debug.h>
#include <algorithm>
#include <utility>

#include "api/live_claims.h"
#include "ledger/proof/signed_head.h"

namespace holdfast::api {

namespace {

// Claims that one query may look at on the writer's thread: a millisecond or two.
constexpr std::size_t kMaxVisited = 20'000;

// Likewise resources.
constexpr std::size_t kMaxResourcesVisited = 1'000;

// The ledger as the committer saw it, with the projections as they are when the answer is made.
struct Head {
  store::LedgerId id;
  std::optional<store::Parent> parent;
  Position size;
  Digest root;
  Instant now;
  std::size_t live_claims;
  Ledger::Status status;
};

void put_head(const Head& head, const projections::Progress& progress, const proof::SigningKey& key,
              wire::Response::Builder response) {
  response.setPosition(head.size.value);
  auto answer = response.initHead();
  answer.setLedgerId(bytes(head.id));
  answer.setSize(head.size.value);
  answer.setRoot(bytes(head.root));
  answer.setNow(head.now.ms);
  if (head.parent) {
    answer.setParentId(bytes(head.parent->id));
    answer.setParentPosition(static_cast<std::int64_t>(head.parent->position.value));
    answer.setParentRoot(bytes(head.parent->root));
  }
  const std::uint64_t projected = std::min(progress.position.value, head.size.value);
  answer.setProjected(projected);
  answer.setLag(head.size.value - projected);
  if (progress.position) answer.setProgressAt(progress.at.ms);
  if (progress.stopped) answer.setProjectionError(*progress.stopped);
  if (progress.rebuilt) answer.setRebuilt(static_cast<std::int64_t>(progress.rebuilt->value));
  answer.setLiveClaims(head.live_claims);
  answer.setImporting(head.status.importing);
  answer.setReadOnly(head.status.read_only);
  answer.setClockUnsafe(head.status.clock_unsafe);
  const proof::Head stated{head.id, head.size.value, head.root, head.now};
  answer.setNote(proof::sign_head(stated, key));
  answer.setPublicKey(proof::to_text({head.id, key.public_key()}));
}

// Holds below the path that have lapsed and are not recorded as expired yet; none: too many.
std::optional<std::vector<Key>> unrecorded(const State& state, std::string_view path) {
  std::optional<std::vector<Key>> keys(std::in_place);
  std::size_t visited = 0;
  state.visit_unrecorded([&](const StandingClaim& claim) {
    if (++visited > kMaxVisited) {
      keys.reset();
      return false;
    }
    if (at_or_below(claim.resource->path.view(), path)) keys->push_back(claim.key);
    return true;
  });
  return keys;
}

// Pieces of availability that queries asked together may list.
constexpr std::uint64_t kMaxPiecesOfAll = kMaxPieces;

Refusal over_limit(const char* name, std::uint64_t max) {
  Refusal refusal{Reason::limit};
  refusal.name = name;
  refusal.max = static_cast<std::int64_t>(max);
  return refusal;
}

std::uint64_t pieces_of(wire::Query::Reader query) {
  if (!query.isAvailability()) return 0;
  const auto availability = query.getAvailability();
  if (availability.getFrom() == wire::NONE && availability.getUntil() == wire::NONE) return 0;
  return availability.getLimit() > 0 ? availability.getLimit() : kMaxPieces;
}

// Nothing: they may be asked together.
std::optional<Refusal> refuse_together(capnp::List<wire::Query>::Reader queries) {
  KJ_REQUIRE(queries.size() > 0, "queries, but none");
  if (queries.size() > kMaxQueries) return over_limit("queries", kMaxQueries);
  std::uint64_t pieces = 0;
  for (const auto query : queries) {
    KJ_REQUIRE(query.isClaim() || query.isAvailability() || query.isNextFree(),
               "a query that is asked alone");
    pieces += pieces_of(query);
  }
  if (pieces > kMaxPiecesOfAll) return over_limit("pieces", kMaxPiecesOfAll);
  return std::nullopt;
}

}  // namespace

Queries::Queries(Ledger& ledger, projections::Projections& projections,
                 const proof::SigningKey& key)
    : ledger_(ledger), projections_(projections), key_(key) {}

void Queries::ask(wire::Query::Reader query, const Caller& caller, Reply reply) {
  auto find = finding(query, caller);
  if (!find) return refuse(reply, std::move(find.error()));
  ledger_.read([this, find = std::move(*find), reply = std::move(reply)](
                   const State& state, Instant now) -> Ledger::Deliver {
    return [this, found = find(state, now), reply](Position at) { give(found, at, reply); };
  });
}

void Queries::ask(capnp::List<wire::Query>::Reader queries, const Caller& caller, Reply reply) {
  if (auto refusal = refuse_together(queries)) return refuse(reply, std::move(*refusal));
  std::vector<Find> finds;
  finds.reserve(queries.size());
  for (const auto query : queries) {
    auto find = finding(query, caller);
    finds.push_back(find ? std::move(*find) : [refusal = find.error()](const State&, Instant) {
      return Found{[refusal](Position at) { return refused_answer(refusal, at); }};
    });
  }
  ledger_.read([this, finds = std::move(finds), reply = std::move(reply)](
                   const State& state, Instant now) -> Ledger::Deliver {
    std::vector<Found> found;
    found.reserve(finds.size());
    for (const Find& find : finds) found.push_back(find(state, now));
    return [this, found = std::move(found), reply](Position at) { give_all(found, at, reply); };
  });
}

Queries::Finding Queries::finding(wire::Query::Reader query, const Caller& caller) const {
  switch (query.which()) {
    case wire::Query::CLAIM:
      return claim(query.getClaim(), caller);
    case wire::Query::CLAIMS:
      return claims(query.getClaims(), caller);
    case wire::Query::AVAILABILITY:
      return availability(query.getAvailability(), caller);
    case wire::Query::HISTORY:
      return history(query.getHistory(), caller);
    case wire::Query::HEAD:
      return head();
    case wire::Query::NEXT_FREE:
      return next_free(query.getNextFree(), caller);
    case wire::Query::RESOURCES:
      return resources(query.getResources(), caller);
    case wire::Query::TALLIES:
      return tallies(query.getTallies(), caller);
    case wire::Query::ACCESS:  // another log's
      break;
  }
  KJ_FAIL_REQUIRE("a query that this server does not know");
}

void Queries::refuse(const Reply& reply, Refusal refusal) const {
  reply(refused_answer(std::move(refusal), ledger_.log().head()));
}

Queries::Finding Queries::claim(wire::ClaimQuery::Reader query, const Caller& caller) const {
  auto key = to_query(query);
  if (!key) return tl::unexpected(key.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return tl::unexpected(point.error());
  OfProjections as_of = [this, key = *key, scope = caller.grant.scope](AsOf at) {
    auto claim = projections_.claim_as_of(key.view(), at);
    if (!claim) return storage_answer(claim.error());
    if (!*claim || !scope.covers((*claim)->resource.view()))
      return refused_answer(Refusal{Reason::unknown_claim}, at.position);
    return claim_answer(std::move(**claim), at.position);
  };
  if (*point) return of_projections(*point, std::move(as_of));
  return [this, key = std::move(*key), scope = caller.grant.scope, as_of = std::move(as_of)](
             const State& state, Instant now) {
    if (auto claim = state.claim(key.view()); claim && scope.covers(claim->resource.view())) {
      return Found{[claim = std::move(*claim)](Position at) { return claim_answer(claim, at); }};
    }
    return of_projections(std::nullopt, now, as_of);
  };
}

Queries::Finding Queries::claims(wire::ClaimsQuery::Reader query, const Caller& caller) const {
  auto asked = to_query(query, caller);
  if (!asked) return tl::unexpected(asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return tl::unexpected(point.error());
  if (*point) {
    return of_projections(*point, [this, asked = std::move(*asked)](AsOf at) {
      auto page = projections_.claims_as_of(asked, at);
      return page ? claims_answer(std::move(*page)) : storage_answer(page.error());
    });
  }
  return [this, asked = std::move(*asked)](const State& state, Instant now) {
    if (auto page = live_claims(state, asked, kMaxVisited)) {
      return Found{[page = std::move(*page)](Position at) mutable {
        page.at = at;
        return claims_answer(std::move(page));
      }};
    }
    return of_projections(std::nullopt, now, [this, asked](AsOf as_of) {
      auto page = projections_.claims(asked, as_of.now);
      return page ? claims_answer(std::move(*page)) : storage_answer(page.error());
    });
  };
}

Queries::Finding Queries::availability(wire::AvailabilityQuery::Reader query,
                                       const Caller& caller) const {
  auto asked = to_query(query, caller);
  if (!asked) return tl::unexpected(asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return tl::unexpected(point.error());
  const Path resource = asked->resource;
  return of_resource(
      resource, *point,
      [this, asked = std::move(*asked)](const State& state,
                                        Instant now) -> std::function<Fill(Position)> {
        if (!asked.window) {
          return [free = free_at(state, asked.resource, now, ledger_.policy())](Position at) {
            return free_answer(free, at);
          };
        }
        return [page = availability_page(state, *asked.window, asked.limit, ledger_.policy())](
                   Position at) { return pieces_answer(page, at); };
      });
}

Queries::Finding Queries::next_free(wire::NextFreeQuery::Reader query, const Caller& caller) const {
  auto asked = to_query(query, caller);
  if (!asked) return tl::unexpected(asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return tl::unexpected(point.error());
  const Path resource = asked->resource;
  return of_resource(
      resource, *point, [this, asked = std::move(*asked)](const State& state, Instant now) {
        AvailabilityPage found;
        const auto piece = holdfast::next_free(state, asked.at(now), ledger_.policy());
        if (piece) found.pieces.push_back(*piece);
        return [found = std::move(found)](Position at) { return pieces_answer(found, at); };
      });
}

Queries::Find Queries::of_resource(const Path& resource, const std::optional<NamedPoint>& point,
                                   OfState answer) const {
  if (!point) {
    return [answer = std::move(answer)](const State& state, Instant now) {
      return Found{answer(state, now)};
    };
  }
  return of_projections(point, [this, answer = std::move(answer), resource](AsOf at) {
    const auto state = projections_.resource_as_of(resource, at);
    if (!state) return storage_answer(state.error());
    return answer(*state, at.now)(at.position);
  });
}

Queries::Finding Queries::resources(wire::ResourcesQuery::Reader query,
                                    const Caller& caller) const {
  auto asked = to_query(query, caller);
  if (!asked) return tl::unexpected(asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return tl::unexpected(point.error());
  if (*point) {
    return of_projections(*point, [this, asked = std::move(*asked)](AsOf at) {
      auto list = projections_.resources_as_of(asked, ledger_.policy(), at);
      return list ? resources_answer(std::move(*list), at.position) : storage_answer(list.error());
    });
  }
  asked->most_visited = kMaxResourcesVisited;
  return [this, asked = std::move(*asked)](const State& state, Instant now) {
    return Found{[list = list_resources(state, asked, ledger_.policy(), now)](Position at) mutable {
      return resources_answer(std::move(list), at);
    }};
  };
}

Queries::Finding Queries::history(wire::HistoryQuery::Reader query, const Caller& caller) const {
  auto asked = to_query(query, caller);
  if (!asked) return tl::unexpected(asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return tl::unexpected(point.error());
  return of_projections(*point, [this, asked = std::move(*asked)](AsOf at) {
    auto page = projections_.history(asked, at.position);
    return page ? history_answer(std::move(*page)) : storage_answer(page.error());
  });
}

Queries::Finding Queries::tallies(wire::TalliesQuery::Reader query, const Caller& caller) const {
  auto asked = to_query(query, caller);
  if (!asked) return tl::unexpected(asked.error());
  return [this, asked = std::move(*asked)](const State& state, Instant now) {
    auto lapsed = unrecorded(state, asked.resource);
    if (!lapsed) {
      return Found{[](Position) {
        return error_answer(wire::ErrorKind::UNAVAILABLE,
                            "very many holds have lapsed and are being recorded: ask again");
      }};
    }
    return of_projections(
        std::nullopt, now, [this, asked, lapsed = std::move(*lapsed)](AsOf as_of) {
          auto page = projections_.tallies(asked, lapsed, as_of.now);
          return page ? tallies_answer(std::move(*page)) : storage_answer(page.error());
        });
  };
}

Queries::Find Queries::head() const {
  return [this](const State& state, Instant now) {
    return Found{[this, now, live = state.live_claims()](Position) -> Fill {
      const store::Log& log = ledger_.log();
      const Head head{log.id(), log.parent(), log.head(), log.root(), now, live, ledger_.status()};
      return [this, head](wire::Response::Builder response) {
        put_head(head, projections_.progress(), key_, response);
      };
    }};
  };
}

Queries::Find Queries::of_projections(const std::optional<NamedPoint>& point,
                                      OfProjections answer) const {
  return [this, point, answer = std::move(answer)](const State&, Instant now) {
    return of_projections(point, now, answer);
  };
}

Queries::Found Queries::of_projections(const std::optional<NamedPoint>& point, Instant now,
                                       OfProjections answer) const {
  return {[this, point, now, answer = std::move(answer)](Position at) {
            const auto as_of = resolve(point, {at, now});
            return as_of ? answer(*as_of) : as_of.error();
          },
          true};
}

void Queries::give(Found found, Position at, const Reply& reply) {
  if (!found.of_projections) return reply(found.answer(at));
  on_query_thread(
      at, [found = std::move(found), at] { return found.answer(at); }, reply);
}

void Queries::give_all(std::vector<Found> found, Position at, const Reply& reply) {
  const bool of_projections = std::ranges::any_of(found, &Found::of_projections);
  auto answer = [found = std::move(found), at] {
    std::vector<Fill> answers;
    answers.reserve(found.size());
    for (const Found& one : found) answers.push_back(one.answer(at));
    return answers_answer(std::move(answers), at);
  };
  if (!of_projections) return reply(answer());
  on_query_thread(at, std::move(answer), reply);
}

void Queries::on_query_thread(Position at, std::function<Fill()> answer, const Reply& reply) {
  const bool taken = thread_.post([this, at, answer = std::move(answer), reply] {
    if (projections_.wait_for(at)) return reply(answer());
    reply(error_answer(wire::ErrorKind::UNAVAILABLE, projections_.progress().stopped.value_or(
                                                         "the projections have been stopped")));
  });
  if (!taken) refuse(reply, Refusal{Reason::overloaded});
}

// `now` is the head and the ledger's clock as they were when the query was taken.
tl::expected<projections::AsOf, Fill> Queries::resolve(const std::optional<NamedPoint>& point,
                                                       AsOf now) const {
  if (!point) return now;
  const auto bad_time = [&] {
    return tl::unexpected(refused_answer(Refusal{Reason::bad_time}, now.position));
  };
  if (point->position) {
    if (*point->position > now.position) return bad_time();
    const auto event = ledger_.log().read(*point->position);
    if (!event) return tl::unexpected(storage_answer(event.error()));
    return AsOf{*point->position, event->recorded_at};
  }
  if (*point->instant > now.now) return bad_time();
  const auto position = projections_.position_at(*point->instant);
  if (!position) return tl::unexpected(storage_answer(position.error()));
  return AsOf{std::min(*position, now.position), *point->instant};
}

}  // namespace holdfast::api
