#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/claim.h"
#include "ledger/domain/event.h"
#include "ledger/store/log.h"

namespace holdfast {

// What the writer has forgotten because the projections hold it durably or in memory. Implemented
// by the projections; called by the writer thread only.
class Recall {
 public:
  virtual ~Recall() = default;

  // Everything up to this position can be asked for. Never goes back.
  virtual Position projected() const = 0;

  // Claims that a state may have forgotten, by key: those that have ended and, with a past horizon,
  // bookings; none where the ledger, up to projected(), knows no such claim.
  virtual tl::expected<std::vector<std::optional<Claim>>, store::StorageError> forgotten(
      std::span<const std::string_view> keys) const = 0;
  // Position of the last event on each path; 0: none up to projected().
  virtual tl::expected<std::vector<Position>, store::StorageError> last_events(
      std::span<const std::string_view> paths) const = 0;
  // First position of the transaction accepted under an actor's request id.
  virtual tl::expected<std::optional<Position>, store::StorageError> request(
      std::string_view actor, std::string_view request_id) const = 0;
};

// The events of a group, durable from now on; shared by all that they are passed on to.
using CommittedEvents = std::shared_ptr<const std::vector<Event>>;

// Where committed groups go: the projector, and whoever else listens in front of it.
class CommittedSink {
 public:
  virtual ~CommittedSink() = default;
  // Called by the committer thread, in order of position, once the events are durable. May block
  // to hold the writer back when the projector is far behind.
  virtual void committed(CommittedEvents events) = 0;
};

}  // namespace holdfast
