#pragma once

#include "api/holdfast.capnp.h"
#include "tools/cli/options.h"

namespace holdfast::cli {

// Ends what stands below a path, step by step to the end, or with `one_step` as far as the
// command's limit goes; a line a claim. With --json the answer to each step is a line. With a
// request id the steps behind the first have ID/2, ID/3 ..., so that the whole is safe to repeat.
Exit run_end_all(const Options& options, wire::Command::Reader command, bool one_step);

}  // namespace holdfast::cli
