#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/ids.h"
#include "ledger/proof/signed_head.h"

namespace holdfast::proof {

// What of a bundle or an export does not hold, with the position it is about (0: none).
struct Flaw {
  enum class Kind {
    malformed,      // no bundle, no manifest, no note, no event
    other_ledger,   // the head is of another ledger than the key
    other_key,      // signed by another key
    bad_signature,  // the head's text was changed
    other_file,     // not the file that the manifest is of
    not_in_log,     // an event that is not in the log which the head states
    left_out,       // an event that must be there is not
    not_asked,      // an event that is no part of the history
    bad_paths,      // the proofs of last positions do not show them
  };
  Kind kind;
  Position position;
  std::string what;
};
std::string_view name_of(Flaw::Kind kind);

// The head that the note states, if the key has signed it. `what` of another ledger is the flaw.
tl::expected<Head, Flaw> checked_head(std::string_view note, const VerifierKey& key,
                                      const std::string& what);

}  // namespace holdfast::proof
