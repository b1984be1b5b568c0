#pragma once

#include <rocksdb/file_system.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "ledger/proof/log_audit.h"

namespace holdfast::access {

// Whether there is an access log beside the ledger in `dir`, which is DATA.
bool has_access_log(const std::string& dir);

// The access log of the ledger in `dir`, held against its own tree, head and watermark, as
// proof::audit_log() does with the ledger's. Reads every record; opens read-only; changes nothing.
tl::expected<proof::Audited, proof::LogFlaw> audit_access_log(
    std::shared_ptr<rocksdb::FileSystem> fs,  // null: the operating system's
    const std::string& dir, const std::function<void(Position reached, Position of)>& progress);

}  // namespace holdfast::access
