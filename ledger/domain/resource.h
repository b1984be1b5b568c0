#pragma once

#include <map>
#include <optional>
#include <string>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"

namespace holdfast {

inline constexpr Duration kMaxMaxTtl{7 * kDay.ms};

// What a `define` says of a resource. Hours, blocks, parts, limits and attributes join here.
struct Definition {
  Quantity capacity{1};
  Duration turnaround{0};
  std::optional<Duration> max_ttl;      // own value; the smallest on the path counts
  std::optional<Duration> default_ttl;  // own value; the nearest on the path counts
  bool operator==(const Definition&) const = default;
};

// The fields a `change` names; the others stay.
struct DefinitionChange {
  std::optional<Quantity> capacity;
  std::optional<Duration> turnaround;
  std::optional<Duration> max_ttl;
  std::optional<Duration> default_ttl;
};

// A defined resource as it is now.
struct Resource {
  Definition definition;
  bool closed = false;
  bool operator==(const Resource&) const = default;
};

}  // namespace holdfast
