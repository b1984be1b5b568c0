#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/scenario/script.h"

namespace holdfast::scenario {

// Who says when lapsed holds are recorded.
enum class SweepMode { as_written, always_on, always_off };

struct Failure {
  int line;
  std::string what;
};

// What one run of a script gave, by line of the step.
struct Run {
  std::vector<Failure> failures;            // empty: passed; as_written only
  std::map<int, std::string> answers;       // those that must not depend on the sweep
  std::map<int, bool> version_was_current;  // of commands that name a version
  std::size_t expectations = 0;
};

// Runs the steps against a new ledger. Expectations are checked in the mode as_written; the other
// modes take from such a run whether a version that a command names was the current one.
Run run_script(const std::vector<Step>& steps, SweepMode mode, const Run* as_written = nullptr);

}  // namespace holdfast::scenario
