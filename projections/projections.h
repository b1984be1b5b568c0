#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/availability.h"
#include "ledger/domain/resource_list.h"
#include "ledger/domain/scope.h"
#include "ledger/domain/state.h"
#include "ledger/proof/path_proof.h"
#include "ledger/proof/replay_statement.h"
#include "ledger/recall.h"
#include "ledger/store/log.h"

// What is derived from the log and can be thrown away: current claims, the ends of position
// chains, request ids, history lists. In DATA/projections; rebuilt when missing or not readable.
namespace holdfast::projections {

using store::StorageError;

struct Options {
  std::shared_ptr<rocksdb::FileSystem> fs;   // null: the operating system's
  std::string dir;                           // DATA
  std::uint64_t checkpoint_every = 200'000;  // events between two durable checkpoints
  std::size_t max_queued_events = 200'000;   // beyond: committed() blocks
};

// How the rows were found at open().
struct OpenReport {
  Position checkpoint;  // the rows were durable up to here; what follows was read from the log
  std::optional<std::string> rebuilt_because;  // none: they were good
};

struct Progress {
  Position position;                     // applied and readable
  Instant at;                            // recorded_at of the last event applied
  std::optional<std::string> stopped;    // why it stopped: position, type, reason
  std::optional<Position> rebuilt = {};  // how far a rebuild has come, while one runs
};

// What is empty lets everything through.
struct HistoryQuery {
  std::string resource = {};  // at and below; of an event about two resources, either
  std::string key = {};
  std::string holder = {};
  std::string actor = {};
  std::string request_id = {};  // of `actor`
  std::string type = {};
  std::string correlation_id = {};
  std::optional<Span> recorded = {};
  std::optional<Span> effective = {};  // when it took effect: an expiry when it was due
  Scope scope = {};                    // of one of its resources
  Position from{1};
  Position until = {};  // 0: up to `at`
  bool newest_first = false;
  std::size_t limit = 100;
};

// The point in the log a query is judged at: events up to `position`, at instant `now`.
struct AsOf {
  Position position;
  Instant now;
  std::optional<Duration> past_horizon = {};  // Projections' own
};

enum class StateFilter { live, held, committed, released, expired, cancelled, stolen, all };

struct ClaimsQuery {
  std::string resource = {};  // at and below; empty: no filter
  std::string holder = {};
  std::string cart = {};
  StateFilter state = StateFilter::live;
  std::string after_key = {};  // cursor: keys greater than this
  std::size_t limit = 100;
  Scope scope = {};
};

// A UTC day, by its number from 1970-01-01 on.
struct Day {
  std::uint32_t number = 0;
  auto operator<=>(const Day&) const = default;
};
constexpr Day day_of(Instant at) { return {static_cast<std::uint32_t>(at.ms / kDay.ms)}; }
constexpr Instant begin_of(Day day) { return {day.number * kDay.ms}; }

// Claims that something happened to, however many units they have, and in however many parts.
struct TallyCounts {
  std::uint64_t holds = 0;
  std::uint64_t commits = 0;
  std::uint64_t expiries = 0;
  std::uint64_t releases = 0;
  std::uint64_t steals = 0;
  std::uint64_t cancellations = 0;
  bool operator==(const TallyCounts&) const = default;
};
struct Tally {
  Path resource;
  Day day;
  TallyCounts counts;
};
struct TalliesQuery {
  struct Cursor {
    std::string path;
    Day day;
  };
  std::string resource = {};  // at and below; empty: all
  Day from = {};
  Day until{~std::uint32_t{0}};  // not part of it
  Scope scope = {};
  std::optional<Cursor> behind = {};
  std::size_t limit = 100;
};
struct TallyPage {
  std::vector<Tally> items = {};                  // by path, then by day
  std::optional<TalliesQuery::Cursor> more = {};  // go on behind what was looked at last
  Position at = {};                               // the position at which it is true
};

template <class T>
struct Page {
  std::vector<T> items;
  bool more = false;  // claims: go on behind the last item's key
  Position at;        // the position at which it is true
};

// Last positions of paths, with what proves them beside a head of size `at`.
struct PathEnds {
  Position at;
  proof::PathProofs proofs;
};

struct HistoryPage {
  std::vector<Event> items;
  std::optional<Position> more;  // go on behind this position, which was looked at last
  Position at;                   // the position at which it is true
};

struct Rebuilt {
  Position position;                        // the rebuilt rows have come to this position
  std::vector<std::string> differences;     // row by row, at most 100; none: equal
  std::optional<std::string> not_compared;  // why there was nothing to compare with
};

class Projections final : public Recall, public CommittedSink {
 public:
  // Opens or rebuilds; catches up with the log from the checkpoint; gives the writer's state,
  // whose head is the log's and whose past horizon is the one that `state` comes with. The
  // projector thread runs until the end. `log` must outlive the Projections' use. An event that
  // cannot be read or folded is an error, which names it.
  static tl::expected<std::unique_ptr<Projections>, StorageError> open(const Options& options,
                                                                       const store::Log& log,
                                                                       State& state);
  ~Projections() override;  // stop()

  const OpenReport& opened() const;

  // Recall and CommittedSink. committed() blocks while the projector is max_queued_events behind;
  // once it has stopped, events are let go: the log has them.
  Position projected() const override;
  tl::expected<std::vector<std::optional<Claim>>, StorageError> forgotten(
      std::span<const std::string_view> keys) const override;
  tl::expected<std::vector<Position>, StorageError> last_events(
      std::span<const std::string_view> paths) const override;
  tl::expected<std::optional<Position>, StorageError> request(
      std::string_view actor, std::string_view request_id) const override;
  void committed(CommittedEvents events) override;

  // -- queries, from any thread, not the writer's or committer's (they read disk)
  Progress progress() const;
  // Returns once `position` is applied; false when the projector has stopped before it.
  bool wait_for(Position position) const;

  // True at `at`, which must be applied. Looks at a bounded number of events.
  tl::expected<HistoryPage, StorageError> history(const HistoryQuery& query, Position at) const;
  // Ended and live claims from the rows, in order of key, judged at `now`.
  tl::expected<Page<Claim>, StorageError> claims(const ClaimsQuery& query, Instant now) const;

  // `unrecorded`: keys of holds at and below the query's path that had lapsed by `now` and whose
  // expiry was not recorded at a position that is applied. They count as expired.
  tl::expected<TallyPage, StorageError> tallies(const TalliesQuery& query,
                                                std::span<const Key> unrecorded, Instant now) const;

  // As of the position that the rows have just come to. Goes through all paths there are, twice
  // when any are asked for.
  tl::expected<PathEnds, StorageError> path_ends(std::span<const std::string> asked) const;

  // As of: folds what concerns the question from the log. Positions must be applied.
  // Last position recorded at the instant or before, of those applied; 0: none.
  tl::expected<Position, StorageError> position_at(Instant instant) const;
  tl::expected<std::optional<Claim>, StorageError> claim_as_of(std::string_view key,
                                                               AsOf as_of) const;
  tl::expected<Page<Claim>, StorageError> claims_as_of(const ClaimsQuery& query, AsOf as_of) const;
  // The state as far as it concerns one resource (itself and the paths above it), without claims
  // that have ended.
  tl::expected<State, StorageError> resource_as_of(const Path& resource, AsOf as_of) const;

  // Folds at most 10,000 resources, so that a page can be shorter than its limit.
  tl::expected<ResourceList, StorageError> resources_as_of(const ResourcesQuery& query,
                                                           const Policy& policy, AsOf as_of) const;

  // Builds anew beside the live ones from the log, compares both at one position, and swaps the
  // new ones in, different or not (a synced CURRENT file). Queries and writers go on. One at a
  // time; an error leaves the live ones as they are.
  tl::expected<Rebuilt, StorageError> rebuild(const std::function<void(Position)>& progress);

  // Applies what is queued, makes a durable checkpoint, then the projector ends; a rebuild that
  // runs is given up. Idempotent.
  void stop();
  // As a crash would: ends without writing.
  void abandon();

 private:
  class Impl;
  explicit Projections(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// With the server stopped, and a log that may be open read-only: brings the stored projections to
// the log's head as the server would, builds anew beside them, compares, and with `install` puts
// the new ones in their place.
tl::expected<Rebuilt, StorageError> rebuild_stopped(const Options& options, const store::Log& log,
                                                    bool install,
                                                    const std::function<void(Position)>& progress);

// With the server stopped, and a log that may be open read-only: builds anew, of the events up to a
// position of the log, and gives the digests of what it has built (rebuild.h). The stored
// projections are not looked at, and no rows are left behind.
tl::expected<std::vector<proof::RowsDigest>, StorageError> digest_stopped(
    const Options& options, const store::Log& log, Position until,
    const std::function<void(Position)>& progress);

}  // namespace holdfast::projections
