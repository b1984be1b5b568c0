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

}  // namespace

Queries::Queries(Ledger& ledger, projections::Projections& projections,
                 const proof::SigningKey& key)
    : ledger_(ledger), projections_(projections), key_(key) {}

void Queries::ask(wire::Query::Reader query, const Caller& caller, Reply reply) {
  switch (query.which()) {
    case wire::Query::CLAIM:
      return claim(query.getClaim(), caller, std::move(reply));
    case wire::Query::CLAIMS:
      return claims(query.getClaims(), caller, std::move(reply));
    case wire::Query::AVAILABILITY:
      return availability(query.getAvailability(), caller, std::move(reply));
    case wire::Query::HISTORY:
      return history(query.getHistory(), caller, std::move(reply));
    case wire::Query::HEAD:
      return head(std::move(reply));
    case wire::Query::NEXT_FREE:
      return next_free(query.getNextFree(), caller, std::move(reply));
    case wire::Query::RESOURCES:
      return resources(query.getResources(), caller, std::move(reply));
    case wire::Query::TALLIES:
      return tallies(query.getTallies(), caller, std::move(reply));
    case wire::Query::ACCESS:  // another log's
      break;
  }
  KJ_FAIL_REQUIRE("a query that this server does not know");
}

void Queries::refuse(const Reply& reply, Refusal refusal) const {
  reply(refused_answer(std::move(refusal), ledger_.log().head()));
}

void Queries::claim(wire::ClaimQuery::Reader query, const Caller& caller, Reply reply) {
  auto key = to_query(query);
  if (!key) return refuse(reply, key.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return refuse(reply, point.error());
  Work as_of = [this, key = *key, scope = caller.grant.scope](AsOf at) {
    auto claim = projections_.claim_as_of(key.view(), at);
    if (!claim) return storage_answer(claim.error());
    if (!*claim || !scope.covers((*claim)->resource.view()))
      return refused_answer(Refusal{Reason::unknown_claim}, at.position);
    return claim_answer(std::move(**claim), at.position);
  };
  if (*point) return from_projections(*point, std::move(as_of), std::move(reply));
  ledger_.read([this, key = *key, scope = caller.grant.scope, as_of = std::move(as_of),
                reply = std::move(reply)](const State& state, Instant now) -> Ledger::Deliver {
    if (auto claim = state.claim(key.view()); claim && scope.covers(claim->resource.view())) {
      return [reply, claim = std::move(*claim)](Position at) { reply(claim_answer(claim, at)); };
    }
    return [this, as_of, reply, now](Position at) {
      on_query_thread(std::nullopt, {at, now}, as_of, reply);
    };
  });
}

void Queries::claims(wire::ClaimsQuery::Reader query, const Caller& caller, Reply reply) {
  const auto asked = to_query(query, caller);
  if (!asked) return refuse(reply, asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return refuse(reply, point.error());
  if (*point) {
    Work as_of = [this, asked = *asked](AsOf at) {
      auto page = projections_.claims_as_of(asked, at);
      return page ? claims_answer(std::move(*page)) : storage_answer(page.error());
    };
    return from_projections(*point, std::move(as_of), std::move(reply));
  }
  ledger_.read([this, asked = *asked, reply = std::move(reply)](const State& state,
                                                                Instant now) -> Ledger::Deliver {
    if (auto page = live_claims(state, asked, kMaxVisited)) {
      return [reply, page = std::move(*page)](Position at) mutable {
        page.at = at;
        reply(claims_answer(std::move(page)));
      };
    }
    return [this, asked, reply, now](Position at) {
      Work rows = [this, asked](AsOf as_of) {
        auto page = projections_.claims(asked, as_of.now);
        return page ? claims_answer(std::move(*page)) : storage_answer(page.error());
      };
      on_query_thread(std::nullopt, {at, now}, std::move(rows), reply);
    };
  });
}

void Queries::availability(wire::AvailabilityQuery::Reader query, const Caller& caller,
                           Reply reply) {
  const auto asked = to_query(query, caller);
  if (!asked) return refuse(reply, asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return refuse(reply, point.error());
  Judge judge = [this, asked = *asked](const State& state,
                                       Instant now) -> std::function<Fill(Position)> {
    if (!asked.window) {
      return [free = free_at(state, asked.resource, now, ledger_.policy())](Position at) {
        return free_answer(free, at);
      };
    }
    return [page = availability_page(state, *asked.window, asked.limit, ledger_.policy())](
               Position at) { return pieces_answer(page, at); };
  };
  of_resource(asked->resource, *point, std::move(judge), std::move(reply));
}

void Queries::next_free(wire::NextFreeQuery::Reader query, const Caller& caller, Reply reply) {
  const auto asked = to_query(query, caller);
  if (!asked) return refuse(reply, asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return refuse(reply, point.error());
  Judge judge = [this, asked = *asked](const State& state,
                                       Instant now) -> std::function<Fill(Position)> {
    AvailabilityPage found;
    if (const auto piece = holdfast::next_free(state, asked.at(now), ledger_.policy())) {
      found.pieces.push_back(*piece);
    }
    return [found = std::move(found)](Position at) { return pieces_answer(found, at); };
  };
  of_resource(asked->resource, *point, std::move(judge), std::move(reply));
}

void Queries::of_resource(const Path& resource, std::optional<NamedPoint> point, Judge judge,
                          Reply reply) {
  if (!point) {
    return ledger_.read([judge = std::move(judge), reply = std::move(reply)](
                            const State& state, Instant now) -> Ledger::Deliver {
      return [fill = judge(state, now), reply](Position at) { reply(fill(at)); };
    });
  }
  Work as_of = [this, judge = std::move(judge), resource](AsOf at) {
    const auto state = projections_.resource_as_of(resource, at);
    if (!state) return storage_answer(state.error());
    return judge(*state, at.now)(at.position);
  };
  from_projections(std::move(point), std::move(as_of), std::move(reply));
}

void Queries::resources(wire::ResourcesQuery::Reader query, const Caller& caller, Reply reply) {
  auto asked = to_query(query, caller);
  if (!asked) return refuse(reply, asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return refuse(reply, point.error());
  if (!*point) {
    asked->most_visited = kMaxResourcesVisited;
    return ledger_.read([this, asked = *asked, reply = std::move(reply)](
                            const State& state, Instant now) -> Ledger::Deliver {
      return [list = list_resources(state, asked, ledger_.policy(), now),
              reply](Position at) mutable { reply(resources_answer(std::move(list), at)); };
    });
  }
  Work as_of = [this, asked = std::move(*asked)](AsOf at) {
    auto list = projections_.resources_as_of(asked, ledger_.policy(), at);
    return list ? resources_answer(std::move(*list), at.position) : storage_answer(list.error());
  };
  from_projections(*point, std::move(as_of), std::move(reply));
}

void Queries::history(wire::HistoryQuery::Reader query, const Caller& caller, Reply reply) {
  const auto asked = to_query(query, caller);
  if (!asked) return refuse(reply, asked.error());
  const auto point = to_point(query.hasAsOf(), query.getAsOf());
  if (!point) return refuse(reply, point.error());
  Work work = [this, asked = *asked](AsOf at) {
    auto page = projections_.history(asked, at.position);
    return page ? history_answer(std::move(*page)) : storage_answer(page.error());
  };
  from_projections(*point, std::move(work), std::move(reply));
}

void Queries::tallies(wire::TalliesQuery::Reader query, const Caller& caller, Reply reply) {
  auto asked = to_query(query, caller);
  if (!asked) return refuse(reply, asked.error());
  ledger_.read([this, asked = std::move(*asked), reply = std::move(reply)](
                   const State& state, Instant now) -> Ledger::Deliver {
    auto lapsed = unrecorded(state, asked.resource);
    return [this, asked, lapsed = std::move(lapsed), reply, now](Position at) {
      if (!lapsed) {
        return reply(error_answer(wire::ErrorKind::UNAVAILABLE,
                                  "very many holds have lapsed and are being recorded: ask again"));
      }
      Work rows = [this, asked, lapsed = *lapsed](AsOf as_of) {
        auto page = projections_.tallies(asked, lapsed, as_of.now);
        return page ? tallies_answer(std::move(*page)) : storage_answer(page.error());
      };
      on_query_thread(std::nullopt, {at, now}, std::move(rows), reply);
    };
  });
}

void Queries::head(Reply reply) {
  ledger_.read([this, reply = std::move(reply)](const State& state,
                                                Instant now) -> Ledger::Deliver {
    return [this, reply, now, live = state.live_claims()](Position) {
      const store::Log& log = ledger_.log();
      const Head head{log.id(), log.parent(), log.head(), log.root(), now, live, ledger_.status()};
      reply([this, head](wire::Response::Builder response) {
        put_head(head, projections_.progress(), key_, response);
      });
    };
  });
}

void Queries::from_projections(std::optional<NamedPoint> point, Work work, Reply reply) {
  ledger_.read([this, point = std::move(point), work = std::move(work), reply = std::move(reply)](
                   const State&, Instant now) -> Ledger::Deliver {
    return [this, point, work, reply, now](Position at) {
      on_query_thread(point, {at, now}, work, reply);
    };
  });
}

void Queries::on_query_thread(std::optional<NamedPoint> point, AsOf now, Work work, Reply reply) {
  const bool taken =
      thread_.post([this, point = std::move(point), now, work = std::move(work), reply] {
        if (!projections_.wait_for(now.position)) {
          return reply(error_answer(
              wire::ErrorKind::UNAVAILABLE,
              projections_.progress().stopped.value_or("the projections have been stopped")));
        }
        const auto at = resolve(point, now);
        reply(at ? work(*at) : at.error());
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
