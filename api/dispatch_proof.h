#pragma once

#include <functional>

#include "api/answer.h"
#include "api/proof.capnp.h"
#include "api/query_thread.h"
#include "ledger/ledger.h"
#include "ledger/proof/signing_key.h"
#include "projections/projections.h"

namespace holdfast::api {

// A stored event on its way into an answer, with its inclusion path where one was asked for.
struct ProvedRecord {
  Position position;
  std::string bytes;
  store::MerklePath audit;
};

// Answers requests for proofs and stored bytes, on a thread of its own, since a root over all paths
// takes as long as there are paths. Linearizable: whatever was answered before is in them.
class Proofs {
 public:
  // All outlive the Proofs.
  Proofs(Ledger& ledger, projections::Projections& projections, const proof::SigningKey& key);

  // From any thread. May throw kj::Exception before `reply` is called or kept.
  void ask(wire::Proof::Reader request, Reply reply);

 private:
  // Answers on the thread, for a head that is durable.
  using Work = std::function<Fill(projections::AsOf)>;

  void records(wire::Records::Reader request, const Reply& reply);
  void inclusion(wire::Inclusion::Reader request, const Reply& reply);
  void chain(wire::Chain::Reader request, const Reply& reply);
  void consistency(wire::Consistency::Reader request, const Reply& reply);
  void paths(wire::Paths::Reader request, const Reply& reply);
  void at_head(Work work, const Reply& reply);
  // Adds to each its inclusion path.
  Fill proved(std::vector<ProvedRecord> records, std::uint64_t size, Position at) const;
  Fill signed_head(const std::vector<std::string>& asked, projections::AsOf head) const;

  Ledger& ledger_;
  projections::Projections& projections_;
  const proof::SigningKey& key_;
  QueryThread thread_;
};

}  // namespace holdfast::api
