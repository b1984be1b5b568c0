#pragma once

#include <map>
#include <optional>
#include <string>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"
#include "ledger/domain/windows.h"

namespace holdfast {

inline constexpr Duration kMaxMaxTtl{7 * kDay.ms};
// Longest turnaround, default_ttl and max_hold_time.
inline constexpr Duration kMaxSetting{366 * kDay.ms};
inline constexpr std::size_t kMaxAttributes = 32;
inline constexpr std::size_t kMaxWindows = 10'000;  // of hours, and of blocks

using Attributes = std::map<AttributeName, Note>;

// What a `define` says of a resource. `own`, `nearest` and the like: DESIGN 1.2, along the path.
struct Definition {
  Quantity capacity{1};                              // own
  Duration turnaround{0};                            // own
  bool parts = false;                                // every level that has it
  std::optional<Duration> max_ttl = {};              // own value; the smallest on the path counts
  std::optional<Duration> default_ttl = {};          // nearest
  std::optional<Quantity> holder_limit = {};         // every level that has it
  std::optional<std::int64_t> extension_limit = {};  // nearest; 0 allowed
  std::optional<Duration> max_hold_time = {};        // nearest
  Attributes attributes = {};                        // own
  bool operator==(const Definition&) const = default;
};

// Whether what stands at or below the resource would stand otherwise: such a change is made only
// while nothing does.
inline bool moves_rooms(const Definition& before, const Definition& after) {
  return after.turnaround != before.turnaround || after.parts != before.parts ||
         after.holder_limit != before.holder_limit;
}

// The fields a `change` names; the others stay. An attribute without a value is taken away.
struct DefinitionChange {
  std::optional<Quantity> capacity = {};
  std::optional<Duration> turnaround = {};
  std::optional<bool> parts = {};
  std::optional<Duration> max_ttl = {};
  std::optional<Duration> default_ttl = {};
  std::optional<Quantity> holder_limit = {};
  std::optional<std::int64_t> extension_limit = {};
  std::optional<Duration> max_hold_time = {};
  std::map<AttributeName, std::optional<Note>> attributes = {};
};

// The two kinds of explicit spans a resource has.
enum class WindowKind : std::uint8_t { hours, blocked };

// One explicit span, added or removed.
struct WindowChange {
  WindowKind kind;
  bool add;
  Span span;
  bool operator==(const WindowChange&) const = default;
};

// A defined resource as it is now.
struct Resource {
  Definition definition;
  bool closed = false;
  Windows hours = {};    // nearest level that has any
  Windows blocked = {};  // all levels add up
  // The last event that moved rooms: what was placed at or below before it has ended or left.
  Position rules_since = {};

  void redefine(const Definition& after, Position at) {
    if (moves_rooms(definition, after)) rules_since = at;
    definition = after;
  }
  const Windows& windows(WindowKind kind) const {
    return kind == WindowKind::hours ? hours : blocked;
  }
  void apply(const WindowChange& change) {
    Windows& windows = change.kind == WindowKind::hours ? hours : blocked;
    if (change.add) {
      windows.add(change.span);
    } else {
      windows.remove(change.span);
    }
  }
  bool operator==(const Resource&) const = default;
};

}  // namespace holdfast
