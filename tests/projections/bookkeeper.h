#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ledger/domain/decide.h"
#include "ledger/domain/state.h"
#include "ledger/store/log.h"
#include "ledger/store/memory_file_system.h"
#include "projections/projections.h"

// A writer without threads: decides commands against a state that forgets nothing, which is what
// the projections are compared with, and appends their events to a log on a disk in memory.
namespace holdfast::projections {

class Bookkeeper {
 public:
  explicit Bookkeeper(std::uint32_t seed = 1);

  // -- by hand: the events that the command gave, empty when it was refused or changed nothing
  std::vector<Event> run(Action action, std::optional<std::string> request_id = {});
  std::vector<Event> sweep(std::size_t limit = 100);
  void pass(Duration time) {
    now_ = now_ + time;
    state_.advance(now_);
  }

  // -- at random: commands of every kind, some accepted, until about `events` more were written
  std::vector<Event> busy(std::size_t events);

  const std::vector<Event>& events() const { return events_; }
  const State& state() const { return state_; }
  Instant now() const { return now_; }
  const std::vector<std::string>& keys() const { return keys_; }
  static const std::vector<std::string>& paths();
  static const std::vector<std::string>& holders();
  static const std::vector<std::string>& actors();
  static const std::vector<std::string>& carts();

  store::MemoryDisk& disk() { return disk_; }
  store::Log& log() { return *log_; }
  Options options() const;
  // Closes the log, loses what was not synced, and opens it again.
  void crash();
  void close_log() { log_.reset(); }
  void open_log(bool read_only = false);

 private:
  Action any_action();
  Action any_single();
  Action any_transact();
  Action any_resource_action();
  Action any_window();
  Action any_claim_action();
  Action any_move(const Key& key, const Holder& holder);
  Action any_hold();
  Action any_hold_any();
  Path any_path();
  Span any_span();
  Duration any_length(std::uint64_t least, std::uint64_t more);
  Key recent_key();
  std::string any(const std::vector<std::string>& of);
  std::uint64_t below(std::uint64_t n);
  Command command(Action action, std::optional<std::string> request_id);
  std::vector<Event> keep(std::vector<Event> events);

  store::MemoryDisk disk_;
  std::shared_ptr<rocksdb::FileSystem> fs_;
  std::unique_ptr<store::Log> log_;
  State state_;
  Instant now_{1'767'225'600'000};
  std::vector<Event> events_;
  std::vector<std::string> keys_;
  std::mt19937 random_;
  std::uint64_t fresh_ = 0;
  std::uint64_t requests_ = 0;  // no id is accepted twice: the writer would have replayed it
};

// The event is one of the path's own: a move is of both its resources.
bool is_of(const Event& event, std::string_view path);
bool is_at_or_below(const Event& event, std::string_view path);

// The state after the first events, up to the position.
State state_at(const std::vector<Event>& events, Position position);

// What differs between the projections with the state restored from them and the whole fold;
// empty: nothing. Both are judged at the bookkeeper's instant.
std::string difference(const Bookkeeper& books, const Projections& projections, State& restored);

}  // namespace holdfast::projections
