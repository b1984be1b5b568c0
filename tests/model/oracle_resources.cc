#include <algorithm>

#include "tests/model/oracle.h"

// Commands on resources, and checks.
namespace holdfast::testing {

void Oracle::judge(const Define& define) {
  const Definition& wanted = define.definition;
  if (defined(define.resource)) {
    if (definition(define.resource) != wanted) refuse({.reason = Reason::already_defined});
    return;
  }
  const bool reaches = wanted.turnaround.ms != 0 || wanted.parts || wanted.holder_limit;
  if (reaches && refuse_in_use(define.resource, true)) return;
  write(define.resource, Defined{wanted});
  Place& here = place(define.resource);
  here = Place{.path = here.path, .definition = wanted, .last = here.last};
  if (reaches) here.rules_since = here.last;
}

void Oracle::judge(const Change& change) {
  if (!defined(change.resource)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  const Definition before = definition(change.resource);
  const DefinitionChange& wanted = change.change;
  Definition after = before;
  if (wanted.capacity) after.capacity = *wanted.capacity;
  if (wanted.turnaround) after.turnaround = *wanted.turnaround;
  if (wanted.parts) after.parts = *wanted.parts;
  if (wanted.max_ttl) after.max_ttl = *wanted.max_ttl;
  if (wanted.default_ttl) after.default_ttl = *wanted.default_ttl;
  if (wanted.holder_limit) after.holder_limit = *wanted.holder_limit;
  if (wanted.extension_limit) after.extension_limit = *wanted.extension_limit;
  if (wanted.max_hold_time) after.max_hold_time = *wanted.max_hold_time;
  for (const auto& [name, value] : wanted.attributes) {
    after.attributes.erase(name);
    if (value) after.attributes.emplace(name, *value);
  }
  if (after == before) return;
  const bool reaches = after.turnaround != before.turnaround || after.parts != before.parts ||
                       after.holder_limit != before.holder_limit;
  if (reaches && refuse_in_use(change.resource, true)) return;
  write(change.resource, Changed{after});
  place(change.resource).definition = after;
  if (reaches) place(change.resource).rules_since = place(change.resource).last;
}

void Oracle::judge(const ChangeWindow& change) {
  if (!defined(change.resource)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  const WindowChange& wanted = change.change;
  Place& here = place(change.resource);
  auto& spans = wanted.kind == WindowKind::hours ? here.hours : here.blocked;
  const auto found = std::find(spans.begin(), spans.end(), wanted.span);
  if ((found != spans.end()) == wanted.add) return;
  if (wanted.add) {
    spans.push_back(wanted.span);
  } else {
    spans.erase(found);
  }
  write(change.resource, Changed{definition(change.resource), wanted});
}

void Oracle::judge(const Close& close) {
  if (!defined(close.resource)) {
    refuse({.reason = Reason::unknown_resource});
  } else if (!place(close.resource).closed) {
    write(close.resource, Closed{});
    place(close.resource).closed = true;
  }
}

void Oracle::judge(const Open& open) {
  if (!defined(open.resource)) {
    refuse({.reason = Reason::unknown_resource});
  } else if (place(open.resource).closed) {
    write(open.resource, Opened{});
    place(open.resource).closed = false;
  }
}

void Oracle::end_one(const Key& key) {
  Claim& claim = *find(key);
  if (claim.state == ClaimState::held) {
    write(claim, Released{claim.quantity, {0}});
    claim.state = ClaimState::released;
  } else {
    write(claim, Cancelled{claim.quantity, {0}});
    claim.state = ClaimState::cancelled;
  }
}

void Oracle::judge(const Retire& retire) {
  if (!defined(retire.resource)) {
    refuse({.reason = Reason::unknown_resource});
    return;
  }
  if (!retire.force && refuse_in_use(retire.resource, false)) return;
  std::vector<Key> standing;
  for (const Claim& claim : facts_.claims) {
    if (live(claim) && claim.resource == retire.resource) standing.push_back(claim.key);
  }
  std::sort(standing.begin(), standing.end(), [this](const Key& a, const Key& b) {
    const Instant from_a = find(a)->span ? find(a)->span->from : Instant{-1};
    const Instant from_b = find(b)->span ? find(b)->span->from : Instant{-1};
    return from_a != from_b ? from_a < from_b : a < b;
  });
  for (const Key& key : standing) end_one(key);
  write(retire.resource, Retired{retire.force});
  Place& here = place(retire.resource);
  here = Place{.path = here.path, .retired = true, .last = here.last};
}

void Oracle::judge(const Check& check) {
  for (const Check::Condition& condition : check.conditions) {
    if (refuse_condition(condition)) return;
  }
}

bool Oracle::refuse_condition(const Check::Condition& condition) {
  const auto failed = [this](std::string what, std::string actual) {
    return refuse({.reason = Reason::check_failed, .what = what, .actual = actual});
  };
  if (const auto* open = std::get_if<CheckOpen>(&condition)) {
    if (unknown(open->resource)) return failed("open", "unknown");
    return closed_at(open->resource) != nullptr && failed("open", "closed");
  }
  if (const auto* attribute = std::get_if<CheckAttribute>(&condition)) {
    const std::string what = "attr." + attribute->name.str();
    if (!defined(attribute->resource)) return failed(what, "unknown");
    for (const auto& [name, value] : definition(attribute->resource).attributes) {
      if (name == attribute->name) {
        return value != attribute->value && failed(what, value.str());
      }
    }
    return failed(what, "none");
  }
  if (const auto* free = std::get_if<CheckFree>(&condition)) {
    const Wish wish{free->resource,
                    free->span.value_or(Span{now_, now_ + Duration{1}}),
                    {1},
                    Holder::trusted("-")};
    const bool shut = unknown(wish.path) || closed_at(wish.path) != nullptr ||
                      outside_hours(wish.path, wish.span) ||
                      blocked_at(wish.path, wish.span) != nullptr;
    const std::int64_t units = shut ? 0 : tightest(wish, now_).free;
    return units < free->at_least && failed("free", std::to_string(units));
  }
  if (const auto* alive = std::get_if<CheckLive>(&condition)) {
    const Claim* claim = find(alive->key);
    if (claim == nullptr) return failed("live", "unknown");
    return !live(*claim) && failed("live", std::string(state_name(seen(*claim).state)));
  }
  const auto& version = std::get<CheckVersion>(condition);
  const Claim* claim = find(version.key);
  if (claim == nullptr) return failed("version", "unknown");
  return claim->version != version.version &&
         failed("version", std::to_string(claim->version.value));
}

}  // namespace holdfast::testing
