#pragma once

#include "api/answer.h"
#include "api/holdfast.capnp.h"
#include "api/query_thread.h"
#include "ledger/access/access_log.h"
#include "ledger/ledger.h"
#include "ledger/proof/signing_key.h"

namespace holdfast::api {

// Answers queries of the access log on a thread of its own: whatever was recorded before is in the
// answer.
class AccessQueries {
 public:
  // All outlive it. Heads of the access log are signed with `key`. `log` null: there is none.
  AccessQueries(Ledger& ledger, access::AccessLog* log, const proof::SigningKey& key)
      : ledger_(ledger), log_(log), key_(key) {}

  // From any thread.
  void ask(wire::AccessQuery::Reader query, const Reply& reply);

 private:
  Ledger& ledger_;
  access::AccessLog* const log_;
  const proof::SigningKey& key_;
  QueryThread thread_;
};

}  // namespace holdfast::api
