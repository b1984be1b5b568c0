#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/live/hub.h"
#include "api/server.h"
#include "ledger/ledger.h"
#include "projections/projections.h"

// What a running server tells about itself: docs/METRICS.md.
namespace holdfast::api {

// Whether clients can be sent here, and if not why not: words for people.
struct Readiness {
  std::vector<std::string> obstacles;  // none: ready
};

// Any thread.
class Metrics {
 public:
  // All outlive it. `dir`: DATA, whose folders are measured.
  Metrics(Ledger& ledger, const projections::Projections& projections, const Hub& hub,
          const Server& server, std::string dir);

  // All of them, in the text format that Prometheus reads. Waits for the writer as a query does, at
  // most a second: what only it knows is left out where it does not answer.
  std::string text() const;
  // Likewise.
  Readiness readiness() const;

 private:
  // What the writer's thread has told.
  struct Standing {
    std::size_t live_claims;
    std::size_t unrecorded;
  };
  std::optional<Standing> ask_writer() const;

  Ledger& ledger_;
  const projections::Projections& projections_;
  const Hub& hub_;
  const Server& server_;
  const std::string dir_;
};

}  // namespace holdfast::api
