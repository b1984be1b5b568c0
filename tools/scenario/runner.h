#pragma once

#include <cstdint>
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

// What a version that a command names was when the script ran as written.
struct WrittenVersion {
  bool was_current = false;
  std::uint64_t ahead = 0;  // of the log's head: a version yet to come; 0: neither
};

// What one run of a script gave, by line of the step.
struct Run {
  std::vector<Failure> failures;           // empty: passed; as_written only
  std::map<int, std::string> answers;      // those that must not depend on the sweep
  std::map<int, WrittenVersion> versions;  // of commands that name one
  std::size_t expectations = 0;
};

// Runs the steps against a new ledger. Expectations are checked in the mode as_written; the other
// modes take from such a run what the versions that commands name were.
Run run_script(const std::vector<Step>& steps, SweepMode mode, const Run* as_written = nullptr);

}  // namespace holdfast::scenario
