#pragma once

#include <tl/expected.hpp>

#include "api/client.h"
#include "tools/cli/connection.h"
#include "tools/cli/options.h"

// One question to the server, its answer printed. The request's union is filled.
namespace holdfast::cli {

Exit run_command(const Options& options, api::Request request);
Exit run_query(const Options& options, api::Request request);
Exit run_admin(const Options& options, api::Request request);

// The answer, unless there is none or it is a refusal of the whole; else how the program ends, and
// everything is printed.
tl::expected<api::Response, Exit> ask(const Options& options, Connection& connection,
                                      api::Request request);

// The answer to a request of one command, which has one outcome; else how the program ends, and
// everything is printed.
tl::expected<api::Response, Exit> ask_command(const Options& options, Connection& connection,
                                              api::Request request);
// {"position": ..., "accepted": ...} or "refused".
void print_outcome(wire::Response::Reader response);

// A refusal as the whole answer.
Exit print_refusal(const Options& options, wire::Refusal::Reader refusal);

}  // namespace holdfast::cli
