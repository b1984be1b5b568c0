#pragma once

#include "api/holdfast.capnp.h"
#include "tools/cli/options.h"

namespace holdfast::cli {

// A query that is answered page by page (claims, history, resources): follows the cursors to the
// end, or to the limit that the query has. Prints each page as it comes; with --json all of them
// are one object, whose `position` is that of the last page.
Exit run_listing(const Options& options, wire::Query::Reader query);

}  // namespace holdfast::cli
