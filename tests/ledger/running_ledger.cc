#include "tests/ledger/running_ledger.h"

namespace holdfast {

Position Maps::projected() const {
  const std::lock_guard lock(mutex_);
  return state_.head();
}

tl::expected<std::vector<std::optional<Claim>>, store::StorageError> Maps::forgotten(
    std::span<const std::string_view> keys) const {
  if (failing_) return tl::unexpected(store::StorageError{"the maps are torn"});
  const std::lock_guard lock(mutex_);
  std::vector<std::optional<Claim>> claims;
  for (const std::string_view key : keys) {
    const StandingClaim* claim = state_.find(key);
    const bool ended = claim != nullptr && is_ended(claim->state);
    claims.push_back(ended ? std::optional(State::snapshot(*claim)) : std::nullopt);
  }
  return claims;
}

tl::expected<std::vector<Position>, store::StorageError> Maps::last_events(
    std::span<const std::string_view> paths) const {
  ++asked_for_last_events_;
  const std::lock_guard lock(mutex_);
  std::vector<Position> last;
  for (const std::string_view path : paths) {
    const auto it = last_.find(path);
    last.push_back(it == last_.end() ? Position{} : it->second);
  }
  return last;
}

tl::expected<std::optional<Position>, store::StorageError> Maps::request(
    std::string_view actor, std::string_view request_id) const {
  const std::lock_guard lock(mutex_);
  const auto it = requests_.find({std::string(actor), std::string(request_id)});
  return it == requests_.end() ? std::nullopt : std::optional(it->second);
}

void Maps::committed(CommittedEvents events) {
  {
    std::unique_lock lock(mutex_);
    held_back_ = hold_back_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hold_back_; });
    held_back_ = false;
  }
  for (const Event& event : *events) fold(event);
}

void Maps::fold(const Event& event) {
  const std::lock_guard lock(mutex_);
  state_.evolve(event);
  if (event.key) keys_.insert(*event.key);
  last_[event.resource.str()] = event.position;
  if (const Path* second = second_resource(event)) last_[second->str()] = event.position;
  if (event.request_id) {
    requests_.try_emplace({event.actor.str(), event.request_id->str()}, event.transaction);
  }
}

State Maps::restored() const {
  const std::lock_guard lock(mutex_);
  State state;
  state.set_head(state_.head());
  for (const auto& [path, last] : last_) {
    if (const Resource* resource = state_.definition(path)) {
      state.restore_definition(Path::trusted(path), *resource);
    } else if (state_.is_retired(path)) {
      state.restore_definition(Path::trusted(path), std::nullopt);
    }
  }
  for (const Key& key : keys_) {
    const StandingClaim& standing = *state_.find(key.view());
    if (is_ended(standing.state)) continue;
    Claim claim = State::snapshot(standing);
    claim.state = standing.state;  // a row knows nothing of now
    state.restore_claim(claim);
  }
  return state;
}

void Maps::hold_back(bool on) {
  const std::lock_guard lock(mutex_);
  hold_back_ = on;
  changed_.notify_all();
}

void Maps::wait_until_held_back() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return held_back_; });
}

LedgerOptions RunningLedger::quiet() {
  LedgerOptions options;
  options.sweep = false;
  return options;
}

RunningLedger::RunningLedger(LedgerOptions options) : options_(options) { open(); }

RunningLedger::~RunningLedger() { close(); }

void RunningLedger::open() {
  store::OpenOptions options;
  options.fs = disk_.mount();
  options.dir = "/data";
  auto log = store::Log::open(options);
  ASSERT_TRUE(log) << log.error().what;
  log_ = std::move(*log);
  maps_ = std::make_unique<Maps>();
  const auto scanned = log_->scan({1}, log_->head(), [&](Event&& event) {
    maps_->fold(event);
    return true;
  });
  ASSERT_TRUE(scanned) << scanned.error().what;
  ledger_ = std::make_unique<Ledger>(*log_, maps_->restored(), time, *maps_, *maps_, options_);
}

void RunningLedger::close() {
  if (maps_) maps_->hold_back(false);
  ledger_.reset();
  maps_.reset();
  log_.reset();
}

void RunningLedger::restart() {
  close();
  open();
}

void RunningLedger::crash() {
  maps_->hold_back(false);
  ledger_->abandon();
  disk_.crash();
  close();
  open();
}

std::vector<Outcome> RunningLedger::submit(std::vector<Submission> commands) {
  std::promise<std::vector<Outcome>> answered;
  ledger_->submit(std::move(commands), [&](std::vector<Outcome> outcomes, Position) {
    answered.set_value(std::move(outcomes));
  });
  return answered.get_future().get();
}

Outcome RunningLedger::submit(Command command) {
  std::vector<Submission> commands;
  commands.emplace_back(std::move(command));
  return std::move(submit(std::move(commands)).front());
}

std::string RunningLedger::run(std::string_view line) {
  return text_of(submit(testing::command_of(line)));
}

SweepReport RunningLedger::sweep(std::size_t limit) {
  std::promise<SweepReport> answered;
  ledger_->sweep(limit, [&](SweepReport report) { answered.set_value(report); });
  return answered.get_future().get();
}

std::string RunningLedger::show(std::string_view key) {
  std::promise<std::string> answered;
  ledger_->read([&](const State& state, Instant) -> Ledger::Deliver {
    const auto claim = state.claim(key);
    return [&, text = claim ? testing::text_of(*claim) : "none"](Position) {
      answered.set_value(text);
    };
  });
  return answered.get_future().get();
}

Instant RunningLedger::now() {
  std::promise<Instant> answered;
  ledger_->read([&](const State&, Instant at) -> Ledger::Deliver {
    return [&, at](Position) { answered.set_value(at); };
  });
  return answered.get_future().get();
}

std::vector<Event> RunningLedger::event_list() {
  std::vector<Event> events;
  const auto scanned = log_->scan({1}, log_->head(), [&](Event&& event) {
    events.push_back(std::move(event));
    return true;
  });
  EXPECT_TRUE(scanned) << scanned.error().what;
  return events;
}

std::string RunningLedger::events() { return testing::text_of(event_list()); }

tl::expected<std::uint64_t, Refusal> RunningLedger::import_begin(std::uint8_t file) {
  std::promise<tl::expected<std::uint64_t, Refusal>> answered;
  ledger_->import_begin(Digest{std::byte{file}}, [&](tl::expected<std::uint64_t, Refusal> line) {
    answered.set_value(std::move(line));
  });
  return answered.get_future().get();
}

std::vector<Outcome> RunningLedger::import_lines(std::vector<ImportLine> lines) {
  std::promise<std::vector<Outcome>> answered;
  ledger_->import_lines(std::move(lines), [&](std::vector<Outcome> outcomes, Position) {
    answered.set_value(std::move(outcomes));
  });
  return answered.get_future().get();
}

tl::expected<void, Refusal> RunningLedger::import_end(bool more) {
  std::promise<tl::expected<void, Refusal>> answered;
  ledger_->import_end(
      more, [&](tl::expected<void, Refusal> ended) { answered.set_value(std::move(ended)); });
  return answered.get_future().get();
}

std::string text_of(const Outcome& outcome) {
  return outcome ? testing::text_of(*outcome) : testing::text_of(outcome.error());
}

Command hold(std::string_view path, std::string_view key) {
  return testing::command_of("hold " + std::string(path) + " key=" + std::string(key));
}

}  // namespace holdfast
