#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>

#include "ledger/proof/export_manifest.h"

// Files that `holdfast export` has written, read again.
namespace holdfast::cli {

// Why a file is not what it should be; a sentence where it cannot be read at all.
using ExportFault = std::variant<proof::Flaw, std::string>;

// Where the manifest of a file stands, unless it was put elsewhere.
inline std::string manifest_beside(const std::string& file) { return file + ".manifest.json"; }

// The one beside the file, unless another is named.
tl::expected<proof::ExportManifest, ExportFault> read_manifest(const std::string& file,
                                                               const std::string& manifest);

// A file and what it is held against.
struct ExportPart {
  std::string file;
  proof::ExportManifest manifest;
};

// Called for every event of the file, with its stored bytes. An error ends the reading.
using TakeRecord = std::function<tl::expected<void, std::string>(Position, std::string_view)>;

// Holds the file against its manifest and the manifest against the key: that it is the file, byte
// for byte, and, unless it is filtered, that its events are those which the signed head was made
// of. What `take` was given is to be relied on only when it gives the head. Bounded memory.
tl::expected<proof::Head, ExportFault> check_export(const std::string& file,
                                                    const proof::ExportManifest& manifest,
                                                    const proof::VerifierKey& key,
                                                    const std::string& doing,
                                                    const TakeRecord& take);

}  // namespace holdfast::cli
