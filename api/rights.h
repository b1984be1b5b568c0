#pragma once

#include "api/caller.h"
#include "api/holdfast.capnp.h"

namespace holdfast::api {

// Whether a role may send the request at all: apps command and query, auditors query and prove,
// operators do everything. What a request is about is judged where it is read, by the scope.
// Commands are never refused here, since each has an answer of its own; an auditor's are all
// `forbidden` (to_submission). May throw kj::Exception for a malformed request.
bool may_send(Role role, wire::Request::Reader request);

}  // namespace holdfast::api
