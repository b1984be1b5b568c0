#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/event.h"
#include "ledger/proof/path_proof.h"
#include "ledger/proof/signed_head.h"

// Events with what proves them, for somebody who has nothing but the ledger's public key. A JSON
// file: docs/EVIDENCE.md.
namespace holdfast::proof {

struct ProvedRecord {
  Position position;
  std::string record;  // as it is stored
  MerklePath path;     // to the head's root
  bool operator==(const ProvedRecord&) const = default;
};

struct Bundle {
  std::string head;                     // a signed note
  std::optional<std::string> resource;  // of a resource's whole history: which
  std::vector<ProvedRecord> records;    // in order of position
  std::vector<PathProof> paths;         // of a whole history: of the resource and each path above
  bool operator==(const Bundle&) const = default;
};

std::string to_json(const Bundle& bundle);
// The error says where the text is no bundle.
tl::expected<Bundle, std::string> parse_bundle(std::string_view json);

// What of a bundle does not hold, with the position it is about (0: none).
struct Flaw {
  enum class Kind {
    malformed,      // no bundle, no note, no event
    other_ledger,   // the head is of another ledger than the key
    other_key,      // signed by another key
    bad_signature,  // the head's text was changed
    not_in_log,     // an event that is not in the tree which the head states
    left_out,       // an event that must be there is not
    not_asked,      // an event that is no part of the history
    bad_paths,      // the proofs of last positions do not show them
  };
  Kind kind;
  Position position;
  std::string what;
};
std::string_view name_of(Flaw::Kind kind);

struct Verified {
  Head head;
  std::vector<Event> events;
  // All there is on the resource and on the paths above it up to the head.
  bool complete = false;
};
tl::expected<Verified, Flaw> verify(const Bundle& bundle, const VerifierKey& key);

// The paths whose history concerns a resource: its own and those above it, from the top.
std::vector<std::string> paths_of(std::string_view resource);

// The events that touch a path are a chain: where the one before this is. 0: this is the first.
// Nothing: the event does not touch the path.
std::optional<Position> previous_on(std::string_view path, const Event& event);

}  // namespace holdfast::proof
