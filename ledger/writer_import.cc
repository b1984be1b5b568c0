// Import mode (DESIGN 6): the writer's commands come from a file, each at its own instant.
#include <utility>

#include "ledger/writer.h"

namespace holdfast {
namespace {

Refusal read_only(const char* because) { return {.reason = Reason::read_only, .field = because}; }

template <class Done>
std::function<void()> refused(Done done, const char* because) {
  return [done = std::move(done), refusal = read_only(because)] { done(tl::unexpected(refusal)); };
}

}  // namespace

void Writer::set_import(store::ImportProgress progress) {
  import_ = progress;
  importing_.store(in_import_mode());
  group_.import = import_;
}

void Writer::handle(ImportBeginItem& item) {
  const auto refuse = [&](const char* because) { say(refused(std::move(item.done), because)); };
  advance_to_now();
  if (committer_.disk_is_low()) return refuse("disk");
  // A file that was ended may be run again: whoever lost that answer hears the same.
  if (!import_ || import_->file != item.file) {
    if (!in_import_mode() && state_.head()) return refuse("ledger");
    if (in_import_mode() && import_->stage == store::ImportStage::judging) return refuse("file");
    const Instant begin = in_import_mode() ? import_->clock : kMinInstant;
    set_import({.file = item.file, .line = 0, .clock = begin});
    clock_.pin(begin);
  }
  taking_lines_ = true;
  say([done = std::move(item.done), line = import_->line] { done(line); });
}

// What keeps a line, and then all that follow it, from being judged now. The file is to be begun
// again: it goes on after the last line judged.
std::optional<Refusal> Writer::not_judged(const ImportLine& line) {
  if (!import_ || import_->stage != store::ImportStage::judging || !taking_lines_) {
    return read_only("import");
  }
  if (committer_.disk_is_low()) return read_only("disk");
  if (line.line <= import_->line) return read_only("line");
  return std::nullopt;
}

void Writer::handle(ImportLinesItem& item) {
  std::vector<Outcome> outcomes;
  outcomes.reserve(item.lines.size());
  make_room_for(item.lines.size());
  for (const ImportLine& line : item.lines) {
    if (auto refusal = not_judged(line)) {
      taking_lines_ = false;
      outcomes.push_back(tl::unexpected(*std::move(refusal)));
      continue;
    }
    outcomes.push_back(judge(line));
    count(line.submission, outcomes.back());
    import_->line = line.line;
    group_.import = import_;
  }
  group_.commands += item.lines.size();
  group_.answers.push_back(
      OutcomesAnswer{std::move(item.done), std::move(outcomes), state_.head()});
}

Outcome Writer::judge(const ImportLine& line) {
  if (!in_range(line.at) || line.at < import_->clock) {
    return tl::unexpected(Refusal{.reason = Reason::bad_time});
  }
  import_->clock = line.at;
  clock_.pin(line.at);
  const Instant now = advance_to_now();
  if (!record_all_lapsed(now)) return tl::unexpected(read_only("import"));
  return decide_now(line.submission, now);
}

// Before the line's own command, so that the log does not depend on how the file was cut into
// requests. False: the ledger is over, and nothing will be answered.
bool Writer::record_all_lapsed(Instant now) {
  while (sweep_on_.load() && state_.lapsed_claims() != 0) {
    if (!record_lapsed(now, options_.sweep_at_a_time)) return false;
    state_.advance(now);
    if (group_.size() < options_.max_group_commands) continue;
    group_.import = import_;
    if (!hand_over()) return false;
  }
  return true;
}

void Writer::handle(ImportEndItem& item) {
  const auto refuse = [&](const char* because) { say(refused(std::move(item.done), because)); };
  if (!import_ || !taking_lines_) return refuse("import");
  taking_lines_ = false;
  const bool over = !in_import_mode();
  if (over && item.more) return refuse("ledger");
  if (!over) {
    import_->stage = item.more ? store::ImportStage::awaiting : store::ImportStage::ended;
    set_import(*import_);
    if (!item.more) {
      clock_.release();
      advance_to_now();
    }
  }
  say([done = std::move(item.done)] { done({}); });
}

}  // namespace holdfast
