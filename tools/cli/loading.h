#pragma once

#include <string>
#include <vector>

#include "ledger/store/log_layout.h"
#include "tools/cli/export_file.h"
#include "tools/cli/options.h"

namespace holdfast::cli {

// Makes a ledger in `data` of exported bytes that were verified, up to `parent.position`, and
// prints what became of it. The files are held against their manifests again.
Exit load_parts(const Options& options, const std::string& data,
                const std::vector<ExportPart>& parts, const proof::VerifierKey& key,
                const store::Parent& parent);

}  // namespace holdfast::cli
