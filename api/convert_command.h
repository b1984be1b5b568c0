#pragma once

#include "api/caller.h"
#include "api/holdfast.capnp.h"
#include "ledger/domain/command.h"
#include "ledger/ledger.h"

// Commands of the wire made into the domain's. Readers of malformed messages throw kj::Exception,
// as they do for a command that this program does not know.
namespace holdfast::api {

// Checked in form (DESIGN 1.5 from bad_path to limit), with its content's digest; or the first
// refusal in the contract's order.
Submission to_submission(wire::Command::Reader command, const Caller& caller);

// SHA-256 over everything the client said but correlation_id, independent of how the message lies
// in memory and of fields that later versions of the schema add without the client giving them.
// About a microsecond. Any thread.
Digest content_digest(wire::Command::Reader command);

}  // namespace holdfast::api
