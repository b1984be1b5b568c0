#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/proof/signed_note.h"

// What a replay of a log has come to, signed by the ledger: whoever has a copy of the log can
// repeat it and compare. docs/EVIDENCE.md shows one.
namespace holdfast::proof {

// All rows of a projection, in order of their keys.
struct RowsDigest {
  std::string name;  // letters
  std::uint64_t rows = 0;
  Digest digest{};
  bool operator==(const RowsDigest&) const = default;
};

struct ReplayStatement {
  store::LedgerId ledger{};
  std::uint64_t size = 0;        // of the log
  Digest root{};                 // at that size
  std::string program;           // which made it, with its version
  std::uint64_t row_format = 0;  // of the projections: those of another have other digests
  std::vector<RowsDigest> projections;
  bool operator==(const ReplayStatement&) const = default;
};

// A signed note. The same statement by the same key has the same bytes.
std::string sign_statement(const ReplayStatement& statement, const SigningKey& key);
tl::expected<ReplayStatement, NoteFault> read_signed_statement(std::string_view note,
                                                               const VerifierKey& key);

// What the projections here have that the stated ones do not: sentences, none where they are equal.
std::vector<std::string> differences(const ReplayStatement& stated, const ReplayStatement& here);

}  // namespace holdfast::proof
