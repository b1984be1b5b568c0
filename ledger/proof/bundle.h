#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/event.h"
#include "ledger/proof/flaw.h"
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
