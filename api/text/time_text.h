#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/time.h"

// Time as people write it. No locale, no time zone of the machine, no clock.
namespace holdfast::api {

// RFC 3339 with its offset: 2026-01-01T00:00:00Z, 2026-03-08T01:30:00.250-05:00. Refused, with a
// sentence saying why: no offset, a day that the calendar does not have, leap seconds, anything
// finer than a millisecond. The result may lie outside [kMinInstant, kMaxInstant], for whoever
// judges it to say so: in_range().
tl::expected<Instant, std::string> parse_instant(std::string_view text);

// 2026-01-01T00:00:00Z, with .mmm when there are milliseconds. Requires in_range().
std::string to_text(Instant instant);
void append_text(Instant instant, std::string& out);

// 1d2h30m, 59.999s, 250ms, -5s: whole numbers of d, h, m, s, ms, each at most once and in that
// order; a fraction of up to three digits on s alone; one sign for all of it.
tl::expected<Duration, std::string> parse_duration(std::string_view text);

// Under two minutes in seconds, else in days, hours, minutes, seconds: 60s, 59.999s, 1d2h30m, 0s.
std::string to_text(Duration duration);

// Where text may count instants from: the beginning of a scenario.
struct TimeBase {
  std::optional<Instant> t0;
};

// RFC 3339, or with a t0 an offset from it: 10h, 59.999s.
tl::expected<Instant, std::string> parse_instant(std::string_view text, const TimeBase& base);
// With a t0 the offset from it, else RFC 3339. Requires in_range().
std::string to_text(Instant instant, const TimeBase& base);

}  // namespace holdfast::api
