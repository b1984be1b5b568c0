#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/domain/state.h"
#include "ledger/ledger.h"
#include "ledger/store/log.h"
#include "ledger/store/memory_file_system.h"
#include "tests/ledger/domain/text.h"
#include "tests/ledger/domain/world.h"
#include "tests/ledger/fake_time.h"

namespace holdfast {

// A projection that keeps everything in maps.
class Maps final : public Recall, public CommittedSink {
 public:
  Position projected() const override;
  tl::expected<std::vector<std::optional<Claim>>, store::StorageError> forgotten(
      std::span<const std::string_view> keys) const override;
  tl::expected<std::vector<Position>, store::StorageError> last_events(
      std::span<const std::string_view> paths) const override;
  tl::expected<std::optional<Position>, store::StorageError> request(
      std::string_view actor, std::string_view request_id) const override;
  void committed(CommittedEvents events) override;

  void fold(const Event& event);
  // As rows give it back: live claims and definitions, no ends of chains.
  State restored() const;
  // How often last positions were asked for.
  std::size_t asked_for_last_events() const { return asked_for_last_events_; }
  // committed() blocks until let go: the committer is kept from answering.
  void hold_back(bool on);
  void wait_until_held_back() const;
  // Nothing can be recalled any more.
  void fail() { failing_ = true; }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool hold_back_ = false;
  bool held_back_ = false;
  std::atomic<bool> failing_ = false;
  mutable std::atomic<std::size_t> asked_for_last_events_ = 0;
  State state_;
  std::set<Key> keys_;
  std::map<std::string, Position, std::less<>> last_;
  std::map<std::pair<std::string, std::string>, Position> requests_;
};

// A whole ledger over a disk in memory, with clocks set by hand.
class RunningLedger {
 public:
  explicit RunningLedger(LedgerOptions options = quiet());
  ~RunningLedger();

  // Without the sweep.
  static LedgerOptions quiet();

  Ledger& ledger() { return *ledger_; }
  store::Log& log() { return *log_; }
  Maps& maps() { return *maps_; }
  store::MemoryDisk& disk() { return disk_; }
  FakeTime time{testing::kT0};

  void restart();  // a clean stop
  void crash();    // what is not synced is lost

  // Decided and durable.
  std::vector<Outcome> submit(std::vector<Submission> commands);
  Outcome submit(Command command);
  // A line as testing::World takes it, its answer as text.
  std::string run(std::string_view line);
  SweepReport sweep(std::size_t limit);
  // The claim as text, and the instant it was read at.
  std::string show(std::string_view key);
  Instant now();
  // Everything in the log, an event a line.
  std::string events();
  std::vector<Event> event_list();

  tl::expected<std::uint64_t, Refusal> import_begin(std::uint8_t file);
  std::vector<Outcome> import_lines(std::vector<ImportLine> lines);
  tl::expected<void, Refusal> import_end(bool more = false);

 private:
  void open();
  void close();

  LedgerOptions options_;
  store::MemoryDisk disk_;
  std::unique_ptr<store::Log> log_;
  std::unique_ptr<Maps> maps_;
  std::unique_ptr<Ledger> ledger_;
};

std::string text_of(const Outcome& outcome);

// A hold of a resource without a span.
Command hold(std::string_view path, std::string_view key);

}  // namespace holdfast
