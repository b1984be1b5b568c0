#pragma once

#include <functional>
#include <optional>

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

 private:
  using AsOf = projections::AsOf;
  // Answers on the query thread, for a point in the log that the projections have reached.
  using Work = std::function<Fill(AsOf)>;

  void claim(wire::ClaimQuery::Reader query, const Caller& caller, Reply reply);
  void claims(wire::ClaimsQuery::Reader query, const Caller& caller, Reply reply);
  void availability(wire::AvailabilityQuery::Reader query, const Caller& caller, Reply reply);
  void next_free(wire::NextFreeQuery::Reader query, const Caller& caller, Reply reply);
  void resources(wire::ResourcesQuery::Reader query, const Caller& caller, Reply reply);
  void history(wire::HistoryQuery::Reader query, const Caller& caller, Reply reply);
  void tallies(wire::TalliesQuery::Reader query, const Caller& caller, Reply reply);
  void head(Reply reply);

  // Makes the answer from a state at an instant, to be given with its position.
  using Judge = std::function<std::function<Fill(Position)>(const State&, Instant)>;
  // From the writer's state or, of an earlier point, from the resource's as it was.
  void of_resource(const Path& resource, std::optional<NamedPoint> point, Judge judge, Reply reply);
  void refuse(const Reply& reply, Refusal refusal) const;
  void from_projections(std::optional<NamedPoint> point, Work work, Reply reply);
  void on_query_thread(std::optional<NamedPoint> point, AsOf now, Work work, Reply reply);
  tl::expected<AsOf, Fill> resolve(const std::optional<NamedPoint>& point, AsOf now) const;

  Ledger& ledger_;
  projections::Projections& projections_;
  const proof::SigningKey& key_;
  QueryThread thread_;
};

}  // namespace holdfast::api
