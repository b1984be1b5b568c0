#pragma once

#include <capnp/message.h>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "api/dispatch.h"
#include "api/holdfast.capnp.h"
#include "ledger/clock.h"
#include "ledger/ledger.h"
#include "ledger/proof/signing_key.h"
#include "ledger/store/log.h"
#include "ledger/store/memory_file_system.h"
#include "projections/projections.h"

// The real ledger, store, projections and dispatch over a disk in memory, with a clock that a
// scenario sets.
namespace holdfast::scenario {

inline constexpr Instant kT0{1'767'225'600'000};  // 2026-01-01T00:00:00Z

class ScenarioTime final : public TimeSource {
 public:
  Instant wall() const override { return {wall_ms_.load()}; }
  std::int64_t steady_ms() const override { return steady_ms_.load(); }

  // Time passes until the wall clock shows `at`; when it shows a later instant already, the wall
  // clock alone is set.
  void pass_to(Instant at);
  void step_wall(Duration by) { wall_ms_ += by.ms; }

 private:
  std::atomic<std::int64_t> wall_ms_ = kT0.ms;
  std::atomic<std::int64_t> steady_ms_ = 0;
};

// An answer, owned.
class Answer {
 public:
  Answer() : message_(std::make_unique<capnp::MallocMessageBuilder>()) {}
  wire::Response::Builder builder() { return message_->getRoot<wire::Response>(); }
  wire::Response::Reader root() const { return message_->getRoot<wire::Response>().asReader(); }

 private:
  std::unique_ptr<capnp::MallocMessageBuilder> message_;
};

class World {
 public:
  World();
  ~World();

  ScenarioTime& time() { return time_; }

  // Of the next open(); none: nothing leaves.
  void set_past_horizon(Duration horizon) { past_horizon_ = horizon; }

  // Errors are faults of the ledger: the run cannot go on.
  tl::expected<void, std::string> open();
  void close();       // a clean stop
  void crash();       // what was not synced is lost
  void disconnect();  // and comes back on another connection

  Answer ask(wire::Request::Reader request, const std::string& actor);
  // A list whole, its cursors followed; any other answer as it is.
  Answer ask_whole(wire::Request::Builder request, const std::string& actor);
  void sweep_all();
  Instant ledger_now();
  std::uint64_t events() const { return log_->head().value; }
  // The differences between the rebuilt projections and the live ones.
  tl::expected<std::vector<std::string>, std::string> rebuild();

 private:
  ScenarioTime time_;
  store::MemoryDisk disk_;
  std::unique_ptr<store::Log> log_;
  std::unique_ptr<projections::Projections> projections_;
  std::unique_ptr<Ledger> ledger_;
  const proof::SigningKey key_ = proof::SigningKey::generate();
  std::unique_ptr<api::Dispatch> dispatch_;
  std::uint64_t connection_ = 1;
  std::optional<Duration> past_horizon_;
};

}  // namespace holdfast::scenario
