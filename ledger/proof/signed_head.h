#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"
#include "ledger/proof/signed_note.h"
#include "ledger/store/ledger_id.h"

// What a ledger states of itself, and can be held to: a checkpoint as transparency logs make them
// (C2SP tlog-checkpoint, in a C2SP signed-note), text that any tool for those can check.
//
//     holdfast/8976832936fcbcd5da90641b26fef354     the origin: the ledger's id
//     500000                                        size: position of the last event
//     +eq03bKrYjU8D4vJ5X7e4Q0MoLj1v/WtkmPk22BxvRo=  root of the Merkle tree over the events
//     at 1796115706000                              the ledger's instant, Unix milliseconds
//     paths 1042 pY9vTq…=                           how many paths have events, root over them
//
//     — holdfast/8976832936fcbcd5da90641b26fef354 Gkf3…
namespace holdfast::proof {

// Over the last positions of all paths (path_proof.h), as of the head's size.
struct PathsRoot {
  std::uint64_t count = 0;
  Digest root{};
  bool operator==(const PathsRoot&) const = default;
};

struct Head {
  store::LedgerId ledger{};
  std::uint64_t size = 0;
  Digest root{};
  Instant at;
  std::optional<PathsRoot> paths = {};
  bool operator==(const Head&) const = default;
};

// The text with its signature, ending with a line break.
std::string sign_head(const Head& head, const SigningKey& key);

// The head that a note states, if the key has signed it; else why not.
tl::expected<Head, NoteFault> read_signed_head(std::string_view note, const VerifierKey& key);
// What the note states, whoever has signed it. Not to be relied on.
std::optional<Head> read_unchecked_head(std::string_view note);

// The notes of a file of published heads, one after the other, with an empty line between two.
std::vector<std::string_view> split_notes(std::string_view file);

}  // namespace holdfast::proof
