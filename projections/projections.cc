#include "projections/projections.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "projections/as_of.h"
#include "projections/fold.h"
#include "projections/folders.h"
#include "projections/path_ends.h"
#include "projections/projector.h"
#include "projections/queries.h"
#include "projections/rebuild.h"
#include "projections/restore.h"

namespace holdfast::projections {
namespace {

// A rebuild that is this near to the projector catches up while the projector waits.
constexpr std::uint64_t kNear = 4'096;
constexpr std::int64_t kNoRebuild = -1;

Folders folders_of(const Options& options) {
  return Folders(options.fs ? options.fs : rocksdb::FileSystem::Default(), options.dir);
}

}  // namespace

class Projections::Impl {
 public:
  Impl(const Options& options, const store::Log& log, Folders folders, StartingPoint start,
       std::optional<Duration> past_horizon)
      : log_(log),
        past_horizon_(past_horizon),
        folders_(std::move(folders)),
        opened_(std::move(start.opened)),
        projector_(std::move(start.fold), options) {}

  const store::Log& log() const { return log_; }
  std::optional<Duration> past_horizon() const { return past_horizon_; }
  const OpenReport& opened() const { return opened_; }
  Projector& projector() { return projector_; }
  std::shared_ptr<Generation> rows() const { return projector_.rows(); }
  Progress progress() const;

  tl::expected<Rebuilt, StorageError> rebuild(const std::function<void(Position)>& progress);

  // Gives up a rebuild that runs, and waits until it has.
  void no_more_rebuilds() {
    give_up_ = true;
    const std::lock_guard waited(rebuilding_);
  }

 private:
  tl::expected<Rebuilt, StorageError> rebuild_as(std::uint64_t number,
                                                 std::shared_ptr<Generation> rows,
                                                 const GoOn& go_on);
  tl::expected<void, StorageError> come_near(Fold& fold, const GoOn& go_on);
  tl::expected<std::unique_ptr<Moment>, StorageError> meet(Fold& fold, const GoOn& go_on,
                                                           std::shared_ptr<Generation>& live);
  tl::expected<void, StorageError> swap(std::uint64_t number, std::unique_ptr<Fold> fold,
                                        const GoOn& go_on);
  StorageError stopped() const;

  const store::Log& log_;
  const std::optional<Duration> past_horizon_;
  Folders folders_;
  OpenReport opened_;
  Projector projector_;
  std::mutex rebuilding_;
  std::atomic<std::int64_t> rebuilt_ = kNoRebuild;
  std::atomic<bool> give_up_ = false;
};

Progress Projections::Impl::progress() const {
  Progress progress = projector_.progress();
  if (const auto rebuilt = rebuilt_.load(); rebuilt != kNoRebuild) {
    progress.rebuilt = Position{static_cast<std::uint64_t>(rebuilt)};
  }
  return progress;
}

tl::expected<Rebuilt, StorageError> Projections::Impl::rebuild(
    const std::function<void(Position)>& progress) {
  const std::unique_lock alone(rebuilding_, std::try_to_lock);
  if (!alone) return tl::unexpected(StorageError{"a rebuild is running already"});
  const auto number = folders_.fresh();
  if (!number) return tl::unexpected(number.error());
  auto rows = create_generation(folders_, *number, log_.id());
  if (!rows) return tl::unexpected(rows.error());
  const GoOn go_on = [&](Position at) {
    rebuilt_ = static_cast<std::int64_t>(at.value);
    if (progress) progress(at);
    return !give_up_;
  };
  rebuilt_ = 0;
  auto rebuilt = rebuild_as(*number, *rows, go_on);
  rebuilt_ = kNoRebuild;
  if (!rebuilt) (*rows)->give_up();
  return rebuilt;
}

tl::expected<Rebuilt, StorageError> Projections::Impl::rebuild_as(std::uint64_t number,
                                                                  std::shared_ptr<Generation> rows,
                                                                  const GoOn& go_on) {
  const auto filled = fill(rows, log_, projector_.applied(), go_on);
  if (!filled) return tl::unexpected(filled.error());
  auto fold = Fold::open(rows);
  if (!fold) return tl::unexpected(fold.error());
  if (const auto near = come_near(**fold, go_on); !near) return tl::unexpected(near.error());

  Rebuilt rebuilt;
  std::shared_ptr<Generation> live;
  const auto stored = meet(**fold, go_on, live);
  if (!stored) return tl::unexpected(stored.error());
  auto differences = compare(**stored, Moment(*rows));
  if (!differences) return tl::unexpected(differences.error());
  rebuilt.differences = std::move(*differences);

  if (const auto near = come_near(**fold, go_on); !near) return tl::unexpected(near.error());
  if (const auto status = rows->flush(true); !status.ok()) {
    return tl::unexpected(rows->error(status));
  }
  const auto swapped = swap(number, std::move(*fold), go_on);
  if (!swapped) return tl::unexpected(swapped.error());
  rebuilt.position = projector_.applied();
  return rebuilt;
}

tl::expected<void, StorageError> Projections::Impl::come_near(Fold& fold, const GoOn& go_on) {
  for (Position live = projector_.applied(); live.value - fold.at().position.value > kNear;
       live = projector_.applied()) {
    if (const auto caught_up = catch_up(fold, log_, live, go_on); !caught_up) return caught_up;
  }
  return {};
}

// Brings the fold to the projector's position, and gives the live rows as they are there.
tl::expected<std::unique_ptr<Moment>, StorageError> Projections::Impl::meet(
    Fold& fold, const GoOn& go_on, std::shared_ptr<Generation>& live) {
  tl::expected<std::unique_ptr<Moment>, StorageError> met = tl::unexpected(stopped());
  projector_.pause([&](std::unique_ptr<Fold>& projecting) {
    const auto caught_up = catch_up(fold, log_, projecting->at().position, go_on);
    if (!caught_up) {
      met = tl::unexpected(caught_up.error());
      return;
    }
    live = projecting->rows();
    met = std::make_unique<Moment>(*live);
  });
  return met;
}

tl::expected<void, StorageError> Projections::Impl::swap(std::uint64_t number,
                                                         std::unique_ptr<Fold> fold,
                                                         const GoOn& go_on) {
  tl::expected<void, StorageError> swapped = tl::unexpected(stopped());
  projector_.pause([&](std::unique_ptr<Fold>& projecting) {
    swapped = catch_up(*fold, log_, projecting->at().position, go_on);
    if (swapped) swapped = folders_.set_current(number);
    if (!swapped) return;
    projecting->rows()->give_up();  // its folder goes with its last reader
    projecting = std::move(fold);
  });
  return swapped;
}

StorageError Projections::Impl::stopped() const {
  return {"the projections have stopped: " + projector_.progress().stopped.value_or("shut down")};
}

// -- Projections

Projections::Projections(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Projections::~Projections() { stop(); }

tl::expected<std::unique_ptr<Projections>, StorageError> Projections::open(const Options& options,
                                                                           const store::Log& log,
                                                                           State& state) {
  Folders folders = folders_of(options);
  auto start = find_or_rebuild(folders, log, state);
  if (!start) return tl::unexpected(start.error());
  auto impl = std::make_unique<Impl>(options, log, std::move(folders), std::move(*start),
                                     state.past_horizon());
  return std::unique_ptr<Projections>(new Projections(std::move(impl)));
}

const OpenReport& Projections::opened() const { return impl_->opened(); }

Position Projections::projected() const { return impl_->projector().applied(); }

tl::expected<std::vector<std::optional<Claim>>, StorageError> Projections::forgotten(
    std::span<const std::string_view> keys) const {
  return forgotten_claims(*impl_->rows(), keys, impl_->past_horizon().has_value());
}

tl::expected<std::vector<Position>, StorageError> Projections::last_events(
    std::span<const std::string_view> paths) const {
  return last_events_on(*impl_->rows(), paths);
}

tl::expected<std::optional<Position>, StorageError> Projections::request(
    std::string_view actor, std::string_view request_id) const {
  return find_request(*impl_->rows(), actor, request_id);
}

void Projections::committed(CommittedEvents events) {
  if (!events->empty()) impl_->projector().enqueue(std::move(events));
}

Progress Projections::progress() const { return impl_->progress(); }

bool Projections::wait_for(Position position) const {
  return impl_->projector().wait_for(position);
}

tl::expected<HistoryPage, StorageError> Projections::history(const HistoryQuery& query,
                                                             Position at) const {
  return find_history(*impl_->rows(), impl_->log(), query, at);
}

tl::expected<Page<Claim>, StorageError> Projections::claims(const ClaimsQuery& query,
                                                            Instant now) const {
  return find_claims(*impl_->rows(), impl_->log(), query, now);
}

tl::expected<PathEnds, StorageError> Projections::path_ends(
    std::span<const std::string> asked) const {
  return prove_path_ends(*impl_->rows(), asked);
}

tl::expected<Position, StorageError> Projections::position_at(Instant instant) const {
  return find_position(impl_->log(), projected(), instant);
}

tl::expected<std::optional<Claim>, StorageError> Projections::claim_as_of(std::string_view key,
                                                                          AsOf as_of) const {
  return fold_claim(*impl_->rows(), impl_->log(), key, as_of);
}

tl::expected<Page<Claim>, StorageError> Projections::claims_as_of(const ClaimsQuery& query,
                                                                  AsOf as_of) const {
  return fold_claims(*impl_->rows(), impl_->log(), query, as_of);
}

tl::expected<State, StorageError> Projections::resource_as_of(const Path& resource,
                                                              AsOf as_of) const {
  as_of.past_horizon = impl_->past_horizon();
  return fold_resource(*impl_->rows(), impl_->log(), resource, as_of);
}

tl::expected<ResourceList, StorageError> Projections::resources_as_of(const ResourcesQuery& query,
                                                                      const Policy& policy,
                                                                      AsOf as_of) const {
  as_of.past_horizon = impl_->past_horizon();
  return fold_resources(*impl_->rows(), impl_->log(), query, policy, as_of);
}

tl::expected<TallyPage, StorageError> Projections::tallies(const TalliesQuery& query,
                                                           std::span<const Key> unrecorded,
                                                           Instant now) const {
  return find_tallies(*impl_->rows(), query, unrecorded, now);
}

tl::expected<Rebuilt, StorageError> Projections::rebuild(
    const std::function<void(Position)>& progress) {
  return impl_->rebuild(progress);
}

void Projections::stop() {
  impl_->no_more_rebuilds();
  impl_->projector().stop();
}

void Projections::abandon() {
  impl_->no_more_rebuilds();
  impl_->projector().abandon();
}

// -- with the server stopped

namespace {

// Compares the stored rows, if there are good ones, at the log's head. What is wrong with them,
// even that they cannot be read, is a difference.
void compare_stored(const FoundGeneration& found, const store::Log& log, const Generation& fresh,
                    Rebuilt& rebuilt) {
  if (!found.rows) {
    rebuilt.not_compared = found.not_good_because;
    return;
  }
  const auto differences = [&]() -> tl::expected<std::vector<std::string>, StorageError> {
    const auto stored = Fold::open(found.rows);
    if (!stored) return tl::unexpected(stored.error());
    const auto there = catch_up(**stored, log, log.head(), [](Position) { return true; });
    if (!there) return tl::unexpected(there.error());
    return compare(Moment(*found.rows), Moment(fresh));
  }();
  rebuilt.differences = differences ? *differences : std::vector{differences.error().what};
}

tl::expected<void, StorageError> install_generation(Folders& folders, std::uint64_t number,
                                                    Generation& rows) {
  const rocksdb::Status flushed = rows.flush(true);
  if (!flushed.ok()) return tl::unexpected(rows.error(flushed));
  if (const auto set = folders.set_current(number); !set) return set;
  rows.keep();
  return folders.remove_others(number);
}

// A generation of the events up to a position. Its folder goes with it, unless it is kept.
tl::expected<std::shared_ptr<Generation>, StorageError> build_aside(
    const Folders& folders, std::uint64_t number, const store::Log& log, Position until,
    const std::function<void(Position)>& progress) {
  auto rows = create_generation(folders, number, log.id());
  if (!rows) return rows;
  (*rows)->give_up();
  const auto built = fill(*rows, log, until, [&](Position at) {
    if (progress) progress(at);
    return true;
  });
  if (!built) return tl::unexpected(built.error());
  return rows;
}

}  // namespace

tl::expected<Rebuilt, StorageError> rebuild_stopped(const Options& options, const store::Log& log,
                                                    bool install,
                                                    const std::function<void(Position)>& progress) {
  Folders folders = folders_of(options);
  if (const auto made = folders.create(); !made) return tl::unexpected(made.error());
  auto found = find_generation(folders, log);
  if (!found) return tl::unexpected(found.error());
  const auto number = folders.fresh();
  if (!number) return tl::unexpected(number.error());
  const auto rows = build_aside(folders, *number, log, log.head(), progress);
  if (!rows) return tl::unexpected(rows.error());
  Rebuilt rebuilt;
  rebuilt.position = log.head();
  compare_stored(*found, log, **rows, rebuilt);
  found->rows.reset();
  if (install) {
    const auto installed = install_generation(folders, *number, **rows);
    if (!installed) return tl::unexpected(installed.error());
  }
  return rebuilt;
}

tl::expected<std::vector<proof::RowsDigest>, StorageError> digest_stopped(
    const Options& options, const store::Log& log, Position until,
    const std::function<void(Position)>& progress) {
  Folders folders = folders_of(options);
  if (const auto made = folders.create(); !made) return tl::unexpected(made.error());
  // Open as long as this takes: an error where a server has them.
  const auto stored = find_generation(folders, log);
  if (!stored) return tl::unexpected(stored.error());
  const auto number = folders.fresh();
  if (!number) return tl::unexpected(number.error());
  const auto rows = build_aside(folders, *number, log, until, progress);
  if (!rows) return tl::unexpected(rows.error());
  return digest(Moment(**rows));
}

}  // namespace holdfast::projections
