#include "tools/cli/end_all.h"

#include <fmt/format.h>

#include <string>

#include "tools/cli/answer_text.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/progress.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

api::Request step_request(wire::Command::Reader command, const std::string& cursor,
                          std::uint64_t step) {
  api::Request request;
  request.root().initBatch(1).setWithCaveats(0, command);
  auto asked = request.root().getBatch()[0];
  if (!cursor.empty()) asked.getEndAll().setCursor(cursor);
  if (step > 1 && command.hasRequestId()) {
    asked.setRequestId(fmt::format("{}/{}", command.getRequestId().cStr(), step));
  }
  return request;
}

// Where the next step goes on; empty: that was all. A step said again is not told whether it was
// all; it goes on from where it began all the same: behind `cursor`, or before the first it wrote.
std::string cursor_behind(wire::Accepted::Reader step, const std::string& cursor) {
  if (step.hasCursor() || !step.getReplayed()) return step.getCursor().cStr();
  return cursor.empty() ? std::to_string(step.getFirstPosition() - 1) : cursor;
}

// The claims that were ended, by how; of a dry run those that would be.
class EndedClaims {
 public:
  explicit EndedClaims(bool dry_run) : dry_run_(dry_run) {}

  void add(wire::Accepted::Reader step) {
    for (const auto part : step.getParts()) {
      const auto state = part.getClaim().getState();
      const bool was_hold = state == wire::ClaimState::RELEASED || state == wire::ClaimState::HELD;
      ++(was_hold ? released_ : cancelled_);
    }
  }
  std::uint64_t all() const { return released_ + cancelled_; }
  std::string text() const {
    if (all() == 0) return "no live claims there\n";
    return fmt::format("{}{} released, {} cancelled\n", dry_run_ ? "dry run; would be: " : "",
                       released_, cancelled_);
  }

 private:
  bool dry_run_;
  std::uint64_t released_ = 0;
  std::uint64_t cancelled_ = 0;
};

}  // namespace

Exit run_end_all(const Options& options, wire::Command::Reader command, bool one_step) {
  const bool dry_run = command.getEndAll().getDryRun();
  Connection connection(options);
  Progress progress(dry_run ? "counting" : "ending", 0, "claims");
  Table table = claims_table();
  EndedClaims ended(dry_run);
  std::string cursor = command.getEndAll().getCursor().cStr();
  for (std::uint64_t step = 1;; ++step) {
    const auto answer = ask_command(options, connection, step_request(command, cursor, step));
    if (!answer) return answer.error();
    const auto outcome = answer->root().getOutcomes()[0];
    progress.hide();
    if (options.json) print_outcome(answer->root());
    if (outcome.isRefused()) {
      return options.json ? Exit::refused : print_refusal(options, outcome.getRefused());
    }
    const auto accepted = outcome.getAccepted();
    ended.add(accepted);
    if (!options.json) {
      add_claims(table, accepted);
      table.flush();
    }
    cursor = cursor_behind(accepted, cursor);
    if (cursor.empty() || one_step) break;
    progress.show(0, ended.all());
  }
  if (options.json) return Exit::accepted;
  print(ended.text());
  if (!cursor.empty()) print("more: go on with --cursor '" + printable(cursor) + "'\n");
  return Exit::accepted;
}

}  // namespace holdfast::cli
