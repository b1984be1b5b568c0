#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/domain/claim.h"
#include "ledger/domain/ids.h"
#include "ledger/domain/resource.h"

// Bytes of the rows. They can change with kRowFormat: rows of another format are rebuilt.
namespace holdfast::projections {

inline constexpr std::uint64_t kRowFormat = 4;

// The claim without its key, which is the row's key.
void append_row(std::string& out, const Claim& claim);
std::optional<Claim> read_claim(std::string_view key, std::string_view row);

// A path that was defined at some time: as it is now, or retired.
struct DefinitionRow {
  std::optional<Resource> resource;  // none: retired
  bool operator==(const DefinitionRow&) const = default;
};
void append_row(std::string& out, const DefinitionRow& definition);
std::optional<DefinitionRow> read_definition(std::string_view row);

// How far the rows beside it have come.
struct Checkpoint {
  Position position;
  Instant at;  // recorded_at of the event at `position`
};
void append_row(std::string& out, const Checkpoint& checkpoint);
std::optional<Checkpoint> read_checkpoint(std::string_view row);

std::string request_key(std::string_view actor, std::string_view request_id);

}  // namespace holdfast::projections
