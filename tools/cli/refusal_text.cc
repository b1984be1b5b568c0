#include "tools/cli/refusal_text.h"

#include <fmt/format.h>

#include "api/text/fields.h"
#include "api/text/time_text.h"

namespace holdfast::cli {
namespace {

std::string text(capnp::Text::Reader text) { return {text.cStr(), text.size()}; }

std::string at(std::int64_t ms) {
  return in_range(Instant{ms}) ? api::to_text(Instant{ms}) : "an unknown instant";
}

std::string number(std::int64_t number) {
  return number == wire::NONE ? "an unknown number" : std::to_string(number);
}

std::string blocker(wire::Claim::Reader claim) {
  std::string holder = claim.hasHolder() ? " by " + text(claim.getHolder()) : "";
  if (claim.getState() == wire::ClaimState::COMMITTED) {
    std::string until = claim.getUntil() == wire::NONE ? "" : ", until " + at(claim.getUntil());
    return fmt::format("{} (booked{}{})", text(claim.getKey()), holder, until);
  }
  return fmt::format("{} (held{} until {})", text(claim.getKey()), holder,
                     at(claim.getExpiresAt()));
}

std::string blockers(wire::Refusal::Reader refusal) {
  std::string names;
  for (const auto claim : refusal.getBlockers()) {
    if (!names.empty()) names += ", ";
    names += blocker(claim);
  }
  if (names.empty()) return "";
  return names + (refusal.getBlockers().size() == 1 ? " stands" : " stand") + " in the way";
}

std::string conflict(wire::Refusal::Reader refusal) {
  std::string out = "not enough is free";
  if (refusal.getAvailable() != wire::NONE && refusal.getCapacity() != wire::NONE) {
    out = fmt::format("{} of {} units free", refusal.getAvailable(), refusal.getCapacity());
  }
  if (const std::string names = blockers(refusal); !names.empty()) out += "; " + names;
  if (refusal.getRetryAt() != wire::NONE) {
    return out + "; enough units lapse at " + at(refusal.getRetryAt()) + ": try again then";
  }
  return out + "; no expiry will free enough: choose another span or resource";
}

std::string in_use(wire::Refusal::Reader refusal) {
  const std::string names = blockers(refusal);
  return "live claims stand on it" + (names.empty() ? "" : ": " + names) +
         "; wait for their end, or retire with --force and --reason";
}

std::string key_reused(wire::Refusal::Reader refusal) {
  const std::string field = text(refusal.getField());
  if (field == "key") return "a claim with this key exists already: choose another key";
  if (field.empty()) return "this key is taken: choose another key";
  if (field == "request_id") {
    return "this request id was used for another command: choose another one";
  }
  return "a claim with this key exists already, with another " + field +
         ": choose another key, or repeat the hold as it was";
}

std::string times(std::int64_t times) { return times == 1 ? "once" : number(times) + " times"; }

std::string check_failed(wire::Refusal::Reader refusal) {
  const std::string what = text(refusal.getWhat());
  const std::string actual = text(refusal.getActual());
  if (what == "open") return "the resource is not open: it is " + actual;
  if (what == "free") return "fewer units are free than asked for: " + actual;
  if (what == "live") return "the claim is not live: it is " + actual;
  if (what == "version") return "the claim has another version: " + actual;
  if (actual == "unknown") return what + " is not there: nobody defined the resource";
  if (actual == "none") return "the resource has no " + what;
  return what + " is " + actual + ", not what was said";
}

std::string bad_text(wire::Refusal::Reader refusal) {
  const std::string field = text(refusal.getField());
  if (field == "label" || field == "reason") {
    return field + " must be given, as at most 4,096 bytes of UTF-8";
  }
  const int most = field == "request_id" ? 64 : 200;
  return fmt::format("{} must be given, as 1 to {} bytes of UTF-8 without control characters",
                     field, most);
}

// The name is one of a transaction or a resource, of a setting or of a query.
std::string limit(wire::Refusal::Reader refusal) {
  const std::string name = text(refusal.getName());
  const std::string most = number(refusal.getMax());
  if (name == "positions") {
    return fmt::format("a transaction has 1 to {} commands, a hold-any of n counting as n", most);
  }
  if (name == "depth") {
    return "a transaction cannot have another in it: write its commands out, or send them apart";
  }
  if (name == "n") return fmt::format("a hold-any holds at most {} resources", most);
  if (name == "limit") return fmt::format("--limit must be 1 to {}", most);
  if (name == "hours" || name == "blocked") {
    return fmt::format("a resource can have at most {} {} spans: `holdfast {}` some of them first",
                       most, name == "hours" ? "open" : name,
                       name == "hours" ? "unhours" : "unblock");
  }
  if (name == "attributes") return fmt::format("a resource can have at most {} attributes", most);
  const auto* setting = api::find_name(capnp::Schema::from<wire::Define>(), name);
  if (setting != nullptr && setting->kind == api::FieldKind::duration) {
    return fmt::format("{} can be at most {}", name, api::to_text(Duration{refusal.getMax()}));
  }
  return fmt::format("{} can be at most {}", name, most);
}

// What the reason means, without its fields; empty where the fields are needed.
std::string_view plain(wire::Reason reason) {
  switch (reason) {
    case wire::Reason::OVERLOADED:
      return "the server has too much to do: try again in a moment";
    case wire::Reason::READ_ONLY:
      return "the ledger takes no such commands now: an import is running or was begun on a ledger "
             "that is not empty, or disk space is low; see `holdfast head`";
    case wire::Reason::CLOCK_UNSAFE:
      return "the server's wall clock leapt: an operator checks it, then `holdfast confirm-clock`";
    case wire::Reason::BAD_PATH:
      return "a path is 1 to 200 bytes of UTF-8, segments separated by '/', none of them empty";
    case wire::Reason::BAD_KEY:
      return "a key is 1 to 200 bytes of UTF-8 without control characters";
    case wire::Reason::BAD_SPAN:
      return "give a beginning and a later end, or neither, from 1970 to 9999";
    case wire::Reason::BAD_QUANTITY:
      return "not a number of units that is possible here (1 to 10^9, at most what the claim has)";
    case wire::Reason::BAD_TTL:
      return "give a ttl or duration above zero, or an expiry in the future, not both";
    case wire::Reason::BAD_TIME:
      return "not an instant of this ledger: 2026-01-01T00:00:00Z, or @POSITION up to its head";
    case wire::Reason::FORBIDDEN:
      return "this is for an operator, or outside the paths of your token";
    case wire::Reason::UNKNOWN_RESOURCE:
      return "no such resource is defined: `holdfast define` it first";
    case wire::Reason::UNKNOWN_CLAIM:
      return "there never was such a claim";
    case wire::Reason::NOT_HOLDER:
      return "the claim belongs to another holder: `holdfast show` it";
    case wire::Reason::ALREADY_DEFINED:
      return "it is defined, with other fields: `holdfast change` it";
    case wire::Reason::OUTSIDE_HOURS:
      return "the span is not within one of the resource's hours: `holdfast availability` or "
             "`holdfast next-free` shows what is";
    default:
      return "";
  }
}

std::string detail(wire::Refusal::Reader refusal) {
  switch (refusal.getReason()) {
    case wire::Reason::BAD_TEXT:
      return bad_text(refusal);
    case wire::Reason::LIMIT:
      return limit(refusal);
    case wire::Reason::KEY_REUSED:
      return key_reused(refusal);
    case wire::Reason::IN_USE:
      return in_use(refusal);
    case wire::Reason::TERMINAL:
      return "the claim is over (" + text(refusal.getState()) + "), for good: use a new key";
    case wire::Reason::ALREADY_COMMITTED:
      return "the claim is a booking already";
    case wire::Reason::NOT_COMMITTED:
      return "the claim is no booking: it is " + text(refusal.getState());
    case wire::Reason::EXPIRED:
      return fmt::format("the hold ended at {}, now it is {}: hold anew",
                         at(refusal.getExpiresAt()), at(refusal.getNow()));
    case wire::Reason::NOT_EXPIRED:
      return fmt::format("the hold lasts until {}: it cannot be stolen before",
                         at(refusal.getExpiresAt()));
    case wire::Reason::STALE_VERSION:
      return fmt::format("the claim's version is {} by now: `holdfast show` it, then decide again",
                         number(refusal.getCurrent()));
    case wire::Reason::CAPACITY_MISMATCH:
      return fmt::format("the resource is defined with capacity {}: leave --capacity out",
                         number(refusal.getCapacity()));
    case wire::Reason::CLOSED:
      return fmt::format("{} is closed: choose another resource, or `holdfast open` it",
                         text(refusal.getPath()));
    case wire::Reason::EXTENSION_LIMIT:
      return fmt::format(
          "the hold has been extended {}, as often as it may be: commit it in time, "
          "or hold anew when it is over",
          times(refusal.getLimit()));
    case wire::Reason::HOLDER_LIMIT:
      return fmt::format(
          "the holder would have more than {} units at {} and below: end another "
          "claim of theirs first (`holdfast claims {} --holder ...`)",
          number(refusal.getLimit()), text(refusal.getPath()), text(refusal.getPath()));
    case wire::Reason::BLOCKED:
      return fmt::format(
          "the span meets a blocked one of {}: choose another span, or `holdfast "
          "unblock` it",
          text(refusal.getPath()));
    case wire::Reason::CHECK_FAILED:
      return check_failed(refusal);
    case wire::Reason::CONFLICT:
      return conflict(refusal);
    default:
      return std::string(plain(refusal.getReason()));
  }
}

}  // namespace

std::string refusal_text(wire::Refusal::Reader refusal) {
  const std::string reason = api::to_text(capnp::DynamicEnum(refusal.getReason()));
  const std::string rest = detail(refusal);
  return rest.empty() ? reason : reason + ": " + rest;
}

}  // namespace holdfast::cli
