#include <algorithm>
#include <array>

#include "ledger/domain/event.h"
#include "ledger/domain/event_type.h"
#include "ledger/domain/refusal.h"

namespace holdfast {

namespace {

constexpr std::array<std::string_view, std::variant_size_v<Happening>> kTypeNames = {
    "defined",  "changed",   "closed",    "opened", "retired", "held",   "extended",
    "released", "committed", "cancelled", "stolen", "moved",   "expired"};

}  // namespace

std::string_view type_name(const Happening& happening) { return kTypeNames[happening.index()]; }

bool is_type_name(std::string_view name) {
  return std::find(kTypeNames.begin(), kTypeNames.end(), name) != kTypeNames.end();
}

const Path* second_resource(const Event& event) {
  const auto* moved = std::get_if<Moved>(&event.happening);
  return moved != nullptr && moved->to ? &*moved->to : nullptr;
}

std::string_view state_name(ClaimState state) {
  static constexpr std::array<std::string_view, 6> kNames = {"held",    "committed", "released",
                                                             "expired", "cancelled", "stolen"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view reason_name(Reason reason) {
  static constexpr std::array<std::string_view, 32> kNames = {
      "overloaded",      "read_only",       "clock_unsafe", "bad_path",         "bad_key",
      "bad_text",        "bad_span",        "bad_quantity", "bad_ttl",          "bad_time",
      "limit",           "forbidden",       "key_reused",   "unknown_resource", "unknown_claim",
      "not_holder",      "already_defined", "in_use",       "terminal",         "already_committed",
      "not_committed",   "expired",         "not_expired",  "stale_version",    "capacity_mismatch",
      "extension_limit", "holder_limit",    "closed",       "outside_hours",    "blocked",
      "conflict",        "check_failed"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace holdfast
