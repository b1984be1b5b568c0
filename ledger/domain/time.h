#pragma once

#include <compare>
#include <cstdint>
#include <optional>

// Time as the domain sees it: values handed in, never read from a clock.
namespace holdfast {

// A length of time in milliseconds. Negative values exist only as unchecked input.
struct Duration {
  std::int64_t ms = 0;
  auto operator<=>(const Duration&) const = default;
};

// Unix milliseconds, UTC. Valid instants lie in [kMinInstant, kMaxInstant].
struct Instant {
  std::int64_t ms = 0;
  auto operator<=>(const Instant&) const = default;
};

inline constexpr Instant kMinInstant{0};
inline constexpr Instant kMaxInstant{253'402'300'799'999};  // 9999-12-31T23:59:59.999Z

inline constexpr Duration kSecond{1'000};
inline constexpr Duration kMinute{60'000};
inline constexpr Duration kHour{3'600'000};
inline constexpr Duration kDay{86'400'000};

constexpr bool in_range(Instant t) { return kMinInstant <= t && t <= kMaxInstant; }
constexpr Instant operator+(Instant t, Duration d) { return {t.ms + d.ms}; }
constexpr Instant operator-(Instant t, Duration d) { return {t.ms - d.ms}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.ms - b.ms}; }
constexpr Duration operator-(Instant a, Instant b) { return {a.ms - b.ms}; }

// Behind every instant that a clock may show.
inline constexpr Instant kNever{kMaxInstant.ms + 1};

// Half-open [from, until), never empty once checked.
struct Span {
  Instant from;
  Instant until;
  auto operator<=>(const Span&) const = default;
};

// What a claim without a span occupies: every instant there is, turnaround included.
inline constexpr Span kAllOfTime{Instant{-1}, Instant{2 * kMaxInstant.ms}};

constexpr bool meets(const Span& a, const Span& b) { return a.from < b.until && b.from < a.until; }

// The instants a claim's units are not free: its span, then the turnaround.
constexpr Span occupied(const std::optional<Span>& span, Duration turnaround) {
  return span ? Span{span->from, span->until + turnaround} : kAllOfTime;
}

}  // namespace holdfast
