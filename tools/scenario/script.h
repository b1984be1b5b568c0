#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

// Scenario files as text: lines into steps of words, each with what is expected of it (DESIGN 7).
namespace holdfast::scenario {

// A line's words; values with spaces stand in JSON quotes, which are undone here.
struct Step {
  int line = 0;
  std::vector<std::string> words;         // the first is the verb
  int expectation_line = 0;               // 0: none given
  std::vector<std::string> expected;      // the words after =>
};

struct ScriptError {
  int line;
  std::string what;
};

tl::expected<std::vector<Step>, ScriptError> parse_script(std::string_view text);

}  // namespace holdfast::scenario
