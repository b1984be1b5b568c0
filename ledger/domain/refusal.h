#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/domain/claim.h"

namespace holdfast {

// The ledger's no, in order of precedence (DESIGN 1.5). The numbers are those of the wire.
enum class Reason : std::uint8_t {
  overloaded,
  read_only,
  clock_unsafe,
  bad_path,
  bad_key,
  bad_text,
  bad_span,
  bad_quantity,
  bad_ttl,
  bad_time,
  limit,
  forbidden,
  key_reused,
  unknown_resource,
  unknown_claim,
  not_holder,
  already_defined,
  in_use,
  terminal,
  already_committed,
  not_committed,
  expired,
  not_expired,
  stale_version,
  capacity_mismatch,
  extension_limit,
  holder_limit,
  closed,
  outside_hours,
  blocked,
  conflict,
  check_failed,
};

// A normal answer: nothing changed, no position taken. Which fields are set depends on the reason.
struct Refusal {
  Reason reason;
  std::string field = {};                      // bad_text, key_reused
  std::string name = {};                       // limit
  std::optional<std::int64_t> max = {};        // limit
  std::optional<ClaimState> state = {};        // terminal, not_committed
  std::optional<Instant> expires_at = {};      // expired, not_expired
  std::optional<Instant> now = {};             // expired
  std::optional<Position> current = {};        // stale_version
  std::optional<std::int64_t> capacity = {};   // capacity_mismatch, conflict
  std::optional<std::int64_t> available = {};  // conflict
  std::string path = {};                       // closed, blocked, holder_limit: the nearest
  std::optional<std::int64_t> allowed = {};    // holder_limit, extension_limit
  std::string what = {};                       // check_failed: what was checked
  std::string actual = {};                     // check_failed: what it is instead
  std::vector<Claim> blockers = {};            // conflict, in_use: at most 16
  std::optional<Instant> retry_at = {};        // conflict
  std::optional<Claim> claim = {};             // already_committed: the booking
  // Of a transaction the refusal is that of its first refused position, with every refused position
  // of its `positions`, in order.
  std::size_t position = 0;  // from 1; 0: not of a transaction
  std::size_t positions = 0;
  std::vector<Refusal> refused = {};
};

inline constexpr std::size_t kMaxBlockers = 16;

// "key_reused" and so on: the words of DESIGN 1.5.
std::string_view reason_name(Reason reason);
std::string_view state_name(ClaimState state);

}  // namespace holdfast
