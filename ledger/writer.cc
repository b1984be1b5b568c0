#include "ledger/writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast {
namespace {

constexpr Duration kRetrySweep{1'000};

tl::unexpected<Refusal> refuse(Reason reason, std::string field = {}) {
  return tl::unexpected(Refusal{.reason = reason, .field = std::move(field)});
}

bool is_within(const Accepted& answer, const Scope& scope) {
  return (!answer.claim || scope.covers(answer.claim->resource.view())) &&
         std::all_of(answer.parts.begin(), answer.parts.end(),
                     [&](const Accepted& part) { return is_within(part, scope); });
}

}  // namespace

Writer::Writer(const store::Log& log, State state, const TimeSource& source, const Recall& recall,
               CommandQueue& queue, Committer& committer, Fatal& fatal, LedgerCounts& counts,
               const LedgerOptions& options)
    : recall_(recall),
      queue_(queue),
      committer_(committer),
      fatal_(fatal),
      counts_(counts),
      options_(options),
      state_(std::move(state)),
      clock_(source, log.latest(), options.max_clock_leap),
      now_(log.latest()),
      recollection_(recall, log, state_),
      import_(log.import()),
      sweep_on_(options.sweep) {
  importing_.store(in_import_mode());
  if (in_import_mode()) clock_.pin(import_->clock);
}

void Writer::run() {
  std::vector<Item> items;
  release_what_was_bound();
  while ((queue_.take(options_.max_group_commands, patience(), items) || !sweeps_.empty()) &&
         !fatal_.over()) {
    if (!recollect(items)) break;
    for (Item& item : items) {
      std::visit([this](auto& it) { handle(it); }, item);
    }
    items.clear();
    if (!sweep_some() || !hand_over()) break;
    state_.forget_through(recall_.projected());
  }
  queue_.drop();
}

Ledger::Status Writer::status() const {
  const bool importing = importing_.load();
  return {.importing = importing,
          .read_only = importing || committer_.disk_is_low(),
          .clock_unsafe = clock_unsafe_.load()};
}

// One call for what all the commands name, before the first of them is decided.
bool Writer::recollect(const std::vector<Item>& items) {
  bool any = false;
  const auto expect = [&](const Submission& submission) {
    if (!submission) return;
    recollection_.expect(*submission);
    any = true;
  };
  for (const Item& item : items) {
    if (const auto* submitted = std::get_if<SubmitItem>(&item)) {
      for (const Submission& submission : submitted->commands) expect(submission);
    } else if (const auto* import = std::get_if<ImportLinesItem>(&item)) {
      for (const ImportLine& line : import->lines) expect(line.submission);
    }
  }
  if (!any) return true;
  const auto fetched = recollection_.fetch();
  return fetched || fail(fetched.error());
}

Instant Writer::advance_to_now() {
  now_ = clock_.now();
  clock_unsafe_.store(clock_.unsafe());
  committer_.used(now_);
  state_.advance(now_);
  return now_;
}

void Writer::handle(SubmitItem& item) {
  const Instant now = advance_to_now();
  std::vector<Outcome> outcomes;
  outcomes.reserve(item.commands.size());
  make_room_for(item.commands.size());
  for (const Submission& submission : item.commands) {
    outcomes.push_back(judge(submission, now));
    count(submission, outcomes.back());
  }
  group_.commands += item.commands.size();
  group_.answers.push_back(
      OutcomesAnswer{std::move(item.done), std::move(outcomes), state_.head()});
}

void Writer::handle(ReadItem& item) {
  counts_.reads.add();
  const Instant now = advance_to_now();
  group_.answers.push_back(ReadAnswer{item.read(state_, now), state_.head()});
}

void Writer::handle(SweepItem& item) {
  sweeps_.push_back({.limit = item.limit, .done = std::move(item.done)});
}

void Writer::handle(DisconnectItem& item) {
  for (Key& key : bindings_.take(item.connection)) to_release_.push_back(std::move(key));
  const Instant now = advance_to_now();
  if (may_sweep()) release_some(now);
}

void Writer::handle(ConfirmClockItem& item) {
  clock_.confirm();
  advance_to_now();
  say(std::move(item.done));
}

void Writer::say(std::function<void()> answer) {
  group_.answers.push_back(OtherAnswer{std::move(answer)});
}

void Writer::count(const Submission& submission, const Outcome& outcome) {
  const auto told = [&] {
    if (!outcome) return Told::refused;
    if (outcome->replayed) return Told::replayed;
    return outcome->changed() ? Told::accepted : Told::unchanged;
  }();
  const std::size_t command = submission ? submission->action.index() : LedgerCounts::kCommands - 1;
  counts_.commands[command][static_cast<std::size_t>(told)].add();
  if (!outcome) counts_.refusals[static_cast<std::size_t>(outcome.error().reason)].add();
}

Outcome Writer::judge(const Submission& submission, Instant now) {
  if (in_import_mode()) return refuse(Reason::read_only, "import");
  if (committer_.disk_is_low()) return refuse(Reason::read_only, "disk");
  if (clock_.unsafe()) return refuse(Reason::clock_unsafe);
  return decide_now(submission, now);
}

Outcome Writer::decide_now(const Submission& submission, Instant now) {
  if (!submission) return tl::unexpected(submission.error());
  const Command& command = *submission;
  if (auto outcome = said_before(command)) {
    if (*outcome) bind(command, **outcome);
    return *std::move(outcome);
  }
  std::vector<Key> fresh_keys(fresh_keys_needed(command.action), Key::trusted({}));
  for (Key& key : fresh_keys) key = fresh_keys_.make(now);
  const Given given{.now = now, .fresh_keys = fresh_keys, .policy = options_.policy};
  auto judged = holdfast::judge(state_, command, given);
  while (judged && !judged->unknown.empty()) {
    if (const auto fetched = recollection_.fetch_paths_of(judged->unknown); !fetched) {
      fail(fetched.error());
      return refuse(Reason::overloaded);  // never said: after a fault nothing is
    }
    judged = holdfast::judge(state_, command, given);
  }
  if (!judged) return tl::unexpected(std::move(judged.error()));
  bind(command, judged->answer);
  if (judged->events.empty()) return std::move(judged->answer);
  take(judged->events);
  return remember(command, std::move(judged->answer));
}

// Answers to commands with a request id. What a part of a transaction leaves as it was has no event
// to tell it from again.
Outcome Writer::remember(const Command& command, Accepted answer) {
  const auto& id = command.asker.request_id;
  if (!id) return answer;
  RememberedRequest request{
      .transaction = answer.first, .content = command.content, .answer = answer};
  for (Accepted& part : request.answer.parts) {
    if (part.count == 0) part = Accepted{};
  }
  state_.remember(command.asker.actor, *id, std::move(request));
  return answer;
}

void Writer::bind(const Command& command, const Accepted& answer) {
  const std::uint64_t connection = command.asker.connection;
  if (connection == 0) return;
  const auto lives = [this](std::string_view key) { return is_bound_hold(key); };
  if (const auto* transact = std::get_if<Transact>(&command.action)) {
    for (std::size_t i = 0; i < answer.parts.size(); ++i) {
      bind(*transact->steps[i].command, answer.parts[i]);
    }
  } else if (const auto* hold = std::get_if<Hold>(&command.action)) {
    if (hold->bound && is_bound_hold(answer.claim->key.view())) {
      bindings_.bind(answer.claim->key, connection, lives);
    }
  } else if (const auto* any = std::get_if<HoldAny>(&command.action)) {
    for (const Accepted& part : answer.parts) {
      if (any->bound && is_bound_hold(part.claim->key.view())) {
        bindings_.bind(part.claim->key, connection, lives);
      }
    }
  }
}

// What is newer than the projections the state remembers; the rest is recollected into it.
// An asker may see less than when it was given.
std::optional<Outcome> Writer::said_before(const Command& command) const {
  const Asker& asker = command.asker;
  if (!asker.request_id) return std::nullopt;
  const auto* request = state_.request(asker.actor.view(), asker.request_id->view());
  if (request == nullptr) return std::nullopt;
  if (request->content != command.content) return refuse(Reason::key_reused, "request_id");
  if (!is_within(request->answer, asker.scope)) return refuse(Reason::unknown_claim);
  Outcome outcome = request->answer;
  outcome->replayed = true;
  return outcome;
}

// Most commands write one event: the group's are moved once, not again and again as it grows.
void Writer::make_room_for(std::size_t commands) {
  const std::size_t needed = group_.events.size() + commands;
  if (needed > group_.events.capacity()) {
    group_.events.reserve(std::max(needed, 2 * group_.events.capacity()));
  }
}

void Writer::take(std::vector<Event>& events) {
  group_.events.insert(group_.events.end(), std::make_move_iterator(events.begin()),
                       std::make_move_iterator(events.end()));
}

// The sweep writes where commands may.
bool Writer::may_sweep() const {
  return !in_import_mode() && !clock_.unsafe() && !committer_.disk_is_low();
}

// How long the writer may sleep: until the next hold lapses.
std::optional<Duration> Writer::patience() const {
  if (!sweeps_.empty()) return Duration{0};
  if (!to_release_.empty()) return may_sweep() ? Duration{0} : kRetrySweep;
  if (!sweep_on_.load() || in_import_mode()) return std::nullopt;
  if (state_.lapsed_claims() != 0) return may_sweep() ? Duration{0} : kRetrySweep;
  const auto due = state_.next_due();
  if (!due) return std::nullopt;
  return std::clamp(*due - now_, Duration{1}, kDay);
}

// One piece of what an operator asked for, or of what is to be recorded without being asked.
bool Writer::sweep_some() {
  if (sweeps_.empty() && !sweep_on_.load() && to_release_.empty()) return true;
  const Instant now = advance_to_now();
  if (may_sweep() && !release_some(now)) return false;
  if (sweeps_.empty() && !sweep_on_.load()) return true;
  std::size_t piece = options_.sweep_at_a_time;
  if (!sweeps_.empty()) piece = std::min(piece, sweeps_.front().limit);
  std::size_t recorded = 0;
  if (may_sweep()) {
    const auto done = record_lapsed(now, piece);
    if (!done) return false;
    recorded = *done;
  }
  if (sweeps_.empty()) return true;
  RunningSweep& sweep = sweeps_.front();
  sweep.limit -= recorded;
  sweep.recorded += recorded;
  if (sweep.limit != 0 && recorded != 0) return true;
  const SweepReport report{.recorded = sweep.recorded, .left = state_.unrecorded_claims()};
  say([done = std::move(sweep.done), report] { done(report); });
  sweeps_.pop_front();
  return true;
}

// How many; none: storage failed.
std::optional<std::size_t> Writer::record_lapsed(Instant now, std::size_t limit) {
  if (state_.lapsed_claims() == 0 || limit == 0) return 0;
  if (const auto fetched = recollection_.fetch_lapsed(limit); !fetched) {
    fail(fetched.error());
    return std::nullopt;
  }
  std::vector<Event> events = sweep(state_, now, limit);
  for (const Event& event : events) state_.evolve(event);
  take(events);
  return events.size();
}

bool Writer::is_bound_hold(std::string_view key) const {
  const StandingClaim* claim = state_.find(key);
  return claim != nullptr && claim->bound && claim->live() && claim->state == ClaimState::held;
}

void Writer::release_what_was_bound() {
  state_.visit_subtree({}, [&](const StandingClaim& claim) {
    if (is_bound_hold(claim.key.view())) to_release_.push_back(claim.key);
    return true;
  });
  if (to_release_.empty()) return;
  std::sort(to_release_.begin(), to_release_.end());
  const Instant now = advance_to_now();
  if (may_sweep()) release_some(now);
}

// One piece. False: storage failed.
bool Writer::release_some(Instant now) {
  std::vector<Key> keys;
  std::vector<Path> paths;
  for (std::size_t left = options_.sweep_at_a_time; left > 0 && !to_release_.empty(); --left) {
    Key key = std::move(to_release_.front());
    to_release_.pop_front();
    if (!is_bound_hold(key.view())) continue;
    paths.push_back(state_.find(key.view())->resource->path);
    keys.push_back(std::move(key));
  }
  if (const auto fetched = recollection_.fetch_paths_of(paths); !fetched) {
    return fail(fetched.error());
  }
  std::vector<Event> released;
  for (const Key& key : keys) {
    auto event = release_bound(state_, key.view(), now);
    if (!event) continue;  // named twice
    state_.evolve(*event);
    released.push_back(std::move(*event));
  }
  take(released);
  return true;
}

bool Writer::fail(const store::StorageError& error) {
  fatal_.raise(error);
  return false;
}

bool Writer::hand_over() {
  if (group_.empty()) return true;
  group_.latest = now_;
  return committer_.hand_over(std::exchange(group_, {}));
}

}  // namespace holdfast
