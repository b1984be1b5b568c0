#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/text/words.h"

// Scenario files as text: lines into steps of words, each with what is expected of it (DESIGN 7).
namespace holdfast::scenario {

struct Step {
  int line = 0;
  std::string verb;
  std::vector<api::Word> words;
  std::vector<Step> inner;          // of a transact, up to its end
  int expectation_line = 0;         // 0: none given
  std::vector<api::Word> expected;  // the words after =>
};

struct ScriptError {
  int line;
  std::string what;
};

tl::expected<std::vector<Step>, ScriptError> parse_script(std::string_view text);

}  // namespace holdfast::scenario
