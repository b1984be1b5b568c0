#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/domain/claim.h"
#include "ledger/domain/command.h"
#include "ledger/domain/decide.h"

// Random stories: commands over so few resources, keys, holders and instants that they meet often.
namespace holdfast::testing {

// Choices that follow from one number.
class Choices {
 public:
  explicit Choices(std::uint64_t number) : state_(number) {}
  std::int64_t below(std::int64_t n);
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(below(static_cast<std::int64_t>(of.size())))];
  }

 private:
  std::uint64_t state_;
};

// Everything in spans and turnarounds is a multiple of it.
inline constexpr Duration kGrid = {10 * kMinute.ms};
inline constexpr std::int64_t kCells = 8;  // spans lie in the first of them

const std::vector<Path>& story_paths();
Policy any_policy(Choices& choices);
Span any_span(Choices& choices);
// What time it is next; `claims`: those there are, at whose expiry things happen.
Instant any_later(Choices& choices, Instant now, const std::vector<Claim>& claims);
// `known` tells of a claim by key, so that most commands name its holder and its version.
using Known = std::function<std::optional<Claim>(const Key&)>;
Command any_command(Choices& choices, Instant now, const Known& known);

// A line for each command, as in scenario files.
std::string text_of(const Command& command);

// Runs the property over stories: 200 of up to 200 steps, or as HOLDFAST_STORIES says. True when
// it held for all; else the shortest story found to break it is printed, with its seed. A property
// answers with what went wrong.
bool holds_for_stories(
    const std::string& name,
    const std::function<std::optional<std::string>(const std::vector<std::uint64_t>&)>& property);

}  // namespace holdfast::testing
