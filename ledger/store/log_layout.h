#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"
#include "ledger/store/ledger_id.h"
#include "ledger/store/merkle.h"
#include "ledger/store/merkle_proof.h"

// Keys and values of DATA/ledger, as FORMAT.md says them. Family `default`: events by position.
// Family `tree`: nodes of the Merkle tree. Family `meta`: everything else.
namespace holdfast::store {

// Where a ledger id began that accepted the loss of its parent's last positions.
struct Parent {
  LedgerId id;
  Position position;  // the parent's last position that was kept
  Digest root;        // Merkle root over the positions up to it
};

enum class ImportStage : std::uint8_t {
  judging = 0,   // lines of the file
  awaiting = 1,  // another file (--more)
  ended = 2,     // import mode is over
};

// Progress of the last import, durable with the events it belongs to.
struct ImportProgress {
  Digest file;             // SHA-256 of the file being imported
  std::uint64_t line = 0;  // last line judged, from 1; 0: none
  Instant clock;           // the ledger's instant, set by the file
  ImportStage stage = ImportStage::judging;
};

// Which ledger this is.
struct Identity {
  LedgerId id{};
  std::optional<Parent> parent;
};

// State of the log after one group.
struct Head {
  std::uint64_t group = 0;  // groups written so far
  Instant latest;           // latest instant of the ledger's clock
  MerkleFrontier tree;      // over all events

  Position position() const { return {tree.size()}; }
};

// The heads of the last groups are kept, so that the one which the watermark names is there when
// the log is a group ahead of it.
inline constexpr std::uint64_t kHeadSlots = 8;

std::string at_position(Position position);  // "position 12", for what people are told

std::array<char, 8> event_key(Position position);  // big-endian: keys sort as positions do
std::optional<Position> position_of_key(std::string_view key);

// The tree: its leaves in runs, which never reach beyond a multiple of kRunLeaves, and its nodes
// from level kNodeLevel on; what lies between is made from a run. Keys sort in the order in which
// runs and nodes are completed.
inline constexpr unsigned kNodeLevel = 8;
inline constexpr std::uint64_t kRunLeaves = std::uint64_t{1} << kNodeLevel;
using TreeKey = std::array<char, 9>;  // position of the last leaf below, big-endian; level
TreeKey node_key(MerkleNode node);
TreeKey run_key(Position last);
// Position of the run's last leaf; nothing: the key is not a run's.
std::optional<Position> end_of_run(std::string_view key);

inline constexpr std::string_view kIdentityKey = "identity";
inline constexpr std::string_view kImportKey = "import";
std::string head_key(std::uint64_t group);  // "head" and the slot's digit

std::string encode(const Identity& identity);
std::string encode(const Head& head);
std::string encode(const ImportProgress& progress);
std::optional<Identity> decode_identity(std::string_view bytes);
std::optional<Head> decode_head(std::string_view bytes);
std::optional<ImportProgress> decode_import(std::string_view bytes);

}  // namespace holdfast::store
