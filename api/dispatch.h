#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "api/access_recorder.h"
#include "api/answer.h"
#include "api/caller.h"
#include "api/holdfast.capnp.h"
#include "api/tokens.h"
#include "ledger/ledger.h"
#include "ledger/proof/signing_key.h"
#include "projections/projections.h"

namespace holdfast::api {

// Carries requests out: commands and reads of what is current through the ledger, everything else
// from the projections on a thread of its own once those have reached the position of the read.
class Dispatch {
 public:
  // All outlive the Dispatch. Heads are signed with `key`. `recorder` null: nothing is recorded.
  // `tokens` null: every caller is an operator.
  Dispatch(Ledger& ledger, projections::Projections& projections, const proof::SigningKey& key,
           const AccessRecorder* recorder = nullptr, Tokens* tokens = nullptr);
  // Waits for what is being carried out.
  ~Dispatch();

  // Who is talking, or the error that turns the connection away. The answer to an accepted hello
  // is given through `reply`, like any other.
  tl::expected<Caller, Fill> greet(wire::Hello::Reader hello, std::string source,
                                   const Reply& reply);

  // Whether what its token gives is what it gave when it was greeted.
  bool is_still_granted(Caller& caller) const;

  // Reads the token file again and notes it in the access log: the tokens' summary(), or why they
  // stay as they were. Any thread.
  tl::expected<std::string, std::string> reload_tokens();

  // The connection has ended: nothing more comes from it.
  void farewell(const Caller& caller);

  const AccessRecorder* recorder() const;

  // Any request but hello and subscription, recorded. Commands of calls from one thread are decided
  // in the order of the calls. May throw kj::Exception for a malformed request, before `reply` is
  // called or kept.
  void handle(wire::Request::Reader request, const Caller& caller, Reply reply);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::api
