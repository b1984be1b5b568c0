#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/decide.h"
#include "ledger/domain/ids.h"
#include "ledger/domain/refusal.h"
#include "ledger/domain/time.h"

namespace holdfast {

// Units free throughout `span`; neighbours have different numbers.
struct FreePiece {
  Span span;
  std::int64_t free;
  bool operator==(const FreePiece&) const = default;
};

struct AvailabilityQuery {
  Path resource;
  Span window;
  Quantity quantity{1};              // pieces with at least that many units
  std::optional<Duration> duration;  // pieces of an unbroken run of at least that length
  // Of an earlier page that ends where the window begins: where the run began that it ended in.
  std::optional<Instant> run_from = {};
};

// A span inside the pieces is listed exactly when a hold of it, for the quantity, would be accepted
// at this state. O(log n + change points within the window).
std::vector<FreePiece> availability(const State& state, const AvailabilityQuery& query,
                                    const Policy& policy);

// The first of the pieces, at most `limit`, and fewer where many change points hold few pieces.
struct AvailabilityPage {
  std::vector<FreePiece> pieces = {};
  // Goes on with a window from `window_from` and this run_from; none: that was all.
  struct Rest {
    Instant window_from;
    Instant run_from;
  };
  std::optional<Rest> rest = {};
};
// O(log n + change points it looks at): about `limit` of each thing that can be in the way, more
// only while a run is not seen to be long enough.
AvailabilityPage availability_page(const State& state, const AvailabilityQuery& query,
                                   std::size_t limit, const Policy& policy);

struct NextFreeQuery {
  Path resource;
  Duration duration;
  Quantity quantity{1};
  Span within;  // the whole of the span that is found lies in it
};

// The earliest span of exactly the duration that a hold for the quantity would be accepted on, with
// the units that such a hold would find; none: there is none. O(log n) for each stretch of time
// that is passed over, and the change points of U in it.
std::optional<FreePiece> next_free(const State& state, const NextFreeQuery& query,
                                   const Policy& policy);

// Units free at the instant, judged as a hold beginning then would be.
std::int64_t free_at(const State& state, const Path& resource, Instant at, const Policy& policy);

}  // namespace holdfast
