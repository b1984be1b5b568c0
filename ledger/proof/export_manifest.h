#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/proof/flaw.h"
#include "ledger/proof/signed_head.h"
#include "ledger/store/merkle.h"
#include "ledger/store/merkle_proof.h"

// What stands beside a file of exported events, and ties it to a signed head: docs/EXPORT.md.
namespace holdfast::proof {

using store::MerklePath;

enum class ExportFormat { jsonl, csv, bytes };
std::string_view name_of(ExportFormat format);
std::optional<ExportFormat> export_format(std::string_view name);

struct ExportManifest {
  std::string file;  // its name, without a folder
  ExportFormat format = ExportFormat::jsonl;
  Position from{1};  // of an empty ledger 1 to 0
  Position until;
  std::uint64_t count = 0;          // of events in the file
  std::uint64_t bytes = 0;          // of the file
  Digest sha256{};                  // of the file
  Digest root{};                    // of the Merkle tree over positions 1 to `until`
  std::vector<Digest> before = {};  // peaks of the tree over the positions before `from`
  MerklePath consistency = {};      // from that root to the head's; empty where `until` is its size
  // Words and values; where there are any the file has only the events of the range that pass.
  std::vector<std::pair<std::string, std::string>> filter = {};
  std::string head;     // a signed note
  std::string program;  // which made it, with its version
  bool operator==(const ExportManifest&) const = default;
};

// One JSON object with line breaks. Requires a head that can be read.
std::string to_json(const ExportManifest& manifest);
// The error says where the text is none.
tl::expected<ExportManifest, std::string> parse_manifest(std::string_view json);

// The head that the manifest carries, signed by the key, if range and root follow from it.
tl::expected<Head, Flaw> check_manifest(const ExportManifest& manifest, const VerifierKey& key);

// The tree over the positions before the range, to which the range's records are added. Nothing
// where `before` cannot be its peaks.
std::optional<store::MerkleFrontier> tree_before(const ExportManifest& manifest);

// The peaks of a tree of `size` > 0 leaves, from its last leaf and that leaf's inclusion path.
// Nothing for a path that no such tree has.
std::optional<std::vector<Digest>> peaks_from_last(std::uint64_t size, const Digest& leaf,
                                                   const MerklePath& path);

}  // namespace holdfast::proof
