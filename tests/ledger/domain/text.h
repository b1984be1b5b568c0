#pragma once

#include <string>
#include <vector>

#include "ledger/domain/decide.h"
#include "ledger/domain/event.h"
#include "ledger/domain/refusal.h"

// Values of the domain as one line of text, with everything in them that is set: what tables of
// expectations are written in and what a difference is shown with.
namespace holdfast::testing {

// 2026-01-01T00:00:00Z, as in scenario files.
inline constexpr Instant kT0{1'767'225'600'000};

// Offset from kT0 in the largest unit that divides it: "0s", "90s", "10h", "59999ms".
std::string text_of(Instant at);
std::string text_of(Duration length);
std::string text_of(const std::optional<Span>& span);  // "10h-11h", "always"
std::string text_of(const Definition& definition);

// "h1 held room-1 10h-11h x1 v2 last=2 holder=ann at=0s expires=60s", then what else is set.
std::string text_of(const Claim& claim);

// "conflict available=0 capacity=1 blockers=h1,h2 retry_at=60s"
std::string text_of(const Refusal& refusal);

// "ok #2+1 available=0 | claim"; "ok unchanged | claim"; flags replayed and clamped.
std::string text_of(const Accepted& accepted);

// "#2 tx=2+1 at=0s held room-1 h1 prev=1,0 by=ann available=0 x1 expires=60s holder=ann"
std::string text_of(const Event& event);
std::string text_of(const std::vector<Event>& events);  // a line each

}  // namespace holdfast::testing
