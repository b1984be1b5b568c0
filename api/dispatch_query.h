#pragma once

#include <functional>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "api/answer.h"
#include "api/caller.h"
#include "api/convert_query.h"
#include "api/query_thread.h"
#include "ledger/ledger.h"
#include "ledger/proof/signing_key.h"
#include "projections/projections.h"

namespace holdfast::api {

// Answers queries, linearizable: each begins with a read on the ledger's writer, which gives the
// position and the instant that the answer is for. What is current and in the writer's state is
// answered from there, everything else on the query thread once the projections have reached that
// position.
class Queries {
 public:
  // All outlive the Queries. Heads are signed with `key`.
  Queries(Ledger& ledger, projections::Projections& projections, const proof::SigningKey& key);

  // From any thread. May throw kj::Exception before `reply` is called or kept.
  void ask(wire::Query::Reader query, const Caller& caller, Reply reply);
  // Several of what the ledger answers one by one: a claim, what is free on a resource, when it is
  // free next. One read, so that all are of one position.
  void ask(capnp::List<wire::Query>::Reader queries, const Caller& caller, Reply reply);

 private:
  using AsOf = projections::AsOf;
  // Makes an answer from a state at an instant, to be given with its position.
  using OfState = std::function<std::function<Fill(Position)>(const State&, Instant)>;
  // Makes an answer for a point in the log that the projections have reached.
  using OfProjections = std::function<Fill(AsOf)>;

  // What the writer has found, which the answer is made of.
  struct Found {
    std::function<Fill(Position at)> answer;
    bool of_projections = false;  // which must have reached the position
  };
  // Quick, since it runs on the writer's thread.
  using Find = std::function<Found(const State&, Instant now)>;
  using Finding = tl::expected<Find, Refusal>;

  Finding finding(wire::Query::Reader query, const Caller& caller) const;
  Finding claim(wire::ClaimQuery::Reader query, const Caller& caller) const;
  Finding claims(wire::ClaimsQuery::Reader query, const Caller& caller) const;
  Finding availability(wire::AvailabilityQuery::Reader query, const Caller& caller) const;
  Finding next_free(wire::NextFreeQuery::Reader query, const Caller& caller) const;
  Finding resources(wire::ResourcesQuery::Reader query, const Caller& caller) const;
  Finding history(wire::HistoryQuery::Reader query, const Caller& caller) const;
  Finding tallies(wire::TalliesQuery::Reader query, const Caller& caller) const;
  Find head() const;

  // From the writer's state or, of an earlier point, from the resource's as it was.
  Find of_resource(const Path& resource, const std::optional<NamedPoint>& point,
                   OfState answer) const;
  Find of_projections(const std::optional<NamedPoint>& point, OfProjections answer) const;
  Found of_projections(const std::optional<NamedPoint>& point, Instant now,
                       OfProjections answer) const;
  void give(Found found, Position at, const Reply& reply);
  void give_all(std::vector<Found> found, Position at, const Reply& reply);
  void on_query_thread(Position at, std::function<Fill()> answer, const Reply& reply);
  void refuse(const Reply& reply, Refusal refusal) const;
  tl::expected<AsOf, Fill> resolve(const std::optional<NamedPoint>& point, AsOf now) const;

  Ledger& ledger_;
  projections::Projections& projections_;
  const proof::SigningKey& key_;
  QueryThread thread_;
};

}  // namespace holdfast::api
