#include "ledger/store/log.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "ledger/domain/invariant.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/log_recovery.h"
#include "ledger/store/log_verify.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kReadAhead = 2 << 20;
constexpr std::size_t kReadAtOnce = 512;

rocksdb::Slice slice(const std::array<char, 8>& key) { return {key.data(), key.size()}; }

tl::expected<Event, StorageError> decode_at(Position position, std::string_view bytes) {
  auto event = decode(bytes);
  const std::string where = "position " + std::to_string(position.value) + ": ";
  if (!event) return fail(where + event.error());
  if (event->position != position) {
    return fail(where + "the event there says position " + std::to_string(event->position.value));
  }
  return std::move(*event);
}

}  // namespace

struct Log::Impl {
  Impl(Recovered recovered, std::shared_ptr<rocksdb::FileSystem> file_system, std::string data_dir)
      : fs(std::move(file_system)),
        dir(std::move(data_dir)),
        db(std::move(recovered.db)),
        watermark(std::move(recovered.watermark)),
        identity(recovered.survey.identity),
        tip(std::move(recovered.survey.heads.front())),
        head(tip.position()),
        root(tip.tree.root()),
        latest(recovered.latest),
        import(recovered.survey.import) {}

  tl::expected<void, StorageError> check_usable() const {
    if (!failed.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock(mutex);
    return fail(failure);
  }

  tl::unexpected<StorageError> fail_for_good(const std::string& what) {
    const std::lock_guard lock(mutex);
    failure = what + ". The log takes and answers nothing more; a restart recovers it";
    failed.store(true, std::memory_order_release);
    return fail(failure);
  }

  tl::expected<void, StorageError> check_readable(Position from, Position until) const {
    if (auto usable = check_usable(); !usable) return usable;
    const std::lock_guard lock(mutex);
    if (from && until <= head) return {};
    return fail("there is no position " + std::to_string(from ? until.value : 0) +
                ": the log ends at position " + std::to_string(head.value));
  }

  tl::expected<void, StorageError> mark(const Mark& to) {
    if (auto done = watermark->write(to); !done) return fail_for_good(done.error().what);
    return {};
  }

  const std::shared_ptr<rocksdb::FileSystem> fs;
  const std::string dir;
  const std::unique_ptr<LogDb> db;
  std::optional<Watermark> watermark;  // none: read-only
  const Identity identity;

  // The appending thread's own.
  Head tip;
  std::string bytes;
  rocksdb::WriteBatch batch;

  mutable std::mutex mutex;  // guards what follows, which the appending thread changes
  Position head;
  Digest root;
  Instant latest;
  std::optional<ImportProgress> import;
  std::string failure;
  std::atomic<bool> failed = false;
};

tl::expected<std::unique_ptr<Log>, StorageError> Log::open(const OpenOptions& options) {
  const auto fs = options.fs ? options.fs : rocksdb::FileSystem::Default();
  auto recovered = recover({.fs = fs,
                            .dir = options.dir,
                            .read_only = options.read_only,
                            .accept_loss_from = options.accept_loss_from});
  if (!recovered) return tl::unexpected(recovered.error());
  return std::unique_ptr<Log>(
      new Log(std::make_unique<Impl>(std::move(*recovered), fs, options.dir)));
}

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Log::~Log() = default;

LedgerId Log::id() const { return impl_->identity.id; }

std::optional<Parent> Log::parent() const { return impl_->identity.parent; }

Position Log::head() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->head;
}

Digest Log::root() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->root;
}

Instant Log::latest() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->latest;
}

std::optional<ImportProgress> Log::import() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->import;
}

std::optional<std::uint64_t> Log::free_bytes() const {
  std::uint64_t bytes = 0;
  if (!impl_->fs->GetFreeSpace(impl_->dir, {}, &bytes, nullptr).ok()) return std::nullopt;
  return bytes;
}

tl::expected<void, StorageError> Log::append(std::span<const Event> events, const GroupNote& note) {
  return append_pieces(std::span(&events, 1), note);
}

tl::expected<void, StorageError> Log::append_pieces(std::span<const std::span<const Event>> pieces,
                                                    const GroupNote& note) {
  Impl& log = *impl_;
  HOLDFAST_INVARIANT(log.watermark, "a log opened read-only is not appended to");
  if (auto usable = log.check_usable(); !usable) return usable;

  log.batch.Clear();
  for (const std::span<const Event> events : pieces) {
    for (const Event& event : events) {
      HOLDFAST_INVARIANT(event.position == log.tip.position() + 1, "positions are dense");
      encode(event, log.bytes);
      log.tip.tree.append(log.bytes);
      log.batch.Put(log.db->events(), slice(event_key(event.position)), log.bytes);
    }
  }
  ++log.tip.group;
  log.tip.latest = std::max(log.tip.latest, note.latest);
  log.batch.Put(log.db->meta(), head_key(log.tip.group), encode(log.tip));
  if (note.import) log.batch.Put(log.db->meta(), kImportKey, encode(*note.import));

  rocksdb::WriteOptions write;
  write.sync = true;
  if (auto status = log.db->db().Write(write, &log.batch); !status.ok()) {
    return log.fail_for_good("the log cannot be written: " + status.ToString());
  }
  const Mark mark{.ledger = log.identity.id,
                  .group = log.tip.group,
                  .position = log.tip.position(),
                  .root = log.tip.tree.root(),
                  .latest = std::max(log.tip.latest, latest())};
  if (auto marked = log.mark(mark); !marked) return marked;

  const std::lock_guard lock(log.mutex);
  log.head = mark.position;
  log.root = mark.root;
  log.latest = mark.latest;
  if (note.import) log.import = note.import;
  return {};
}

tl::expected<void, StorageError> Log::refresh(Instant latest) {
  Impl& log = *impl_;
  HOLDFAST_INVARIANT(log.watermark, "a log opened read-only is not refreshed");
  if (auto usable = log.check_usable(); !usable) return usable;
  const Mark mark{.ledger = log.identity.id,
                  .group = log.tip.group,
                  .position = log.tip.position(),
                  .root = root(),
                  .latest = std::max(latest, this->latest())};
  if (auto marked = log.mark(mark); !marked) return marked;
  const std::lock_guard lock(log.mutex);
  log.latest = mark.latest;
  return {};
}

tl::expected<Event, StorageError> Log::read(Position position) const {
  if (auto readable = impl_->check_readable(position, position); !readable) {
    return tl::unexpected(readable.error());
  }
  rocksdb::PinnableSlice value;
  const auto status =
      impl_->db->db().Get({}, impl_->db->events(), slice(event_key(position)), &value);
  if (!status.ok()) {
    return fail("position " + std::to_string(position.value) +
                " cannot be read: " + status.ToString());
  }
  return decode_at(position, value.ToStringView());
}

tl::expected<std::vector<Event>, StorageError> Log::read(
    std::span<const Position> positions) const {
  std::vector<Event> events;
  events.reserve(positions.size());
  std::vector<std::array<char, 8>> names;
  std::vector<rocksdb::Slice> keys;
  while (!positions.empty()) {
    const auto some = positions.first(std::min(positions.size(), kReadAtOnce));
    positions = positions.subspan(some.size());
    names.clear();
    keys.clear();
    for (const Position position : some) {
      if (auto readable = impl_->check_readable(position, position); !readable) {
        return tl::unexpected(readable.error());
      }
      names.push_back(event_key(position));
    }
    for (const auto& name : names) keys.push_back(slice(name));
    std::vector<rocksdb::PinnableSlice> values(some.size());
    std::vector<rocksdb::Status> statuses(some.size());
    impl_->db->db().MultiGet({}, impl_->db->events(), keys.size(), keys.data(), values.data(),
                             statuses.data());
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!statuses[i].ok()) {
        return fail("position " + std::to_string(some[i].value) +
                    " cannot be read: " + statuses[i].ToString());
      }
      auto event = decode_at(some[i], values[i].ToStringView());
      if (!event) return tl::unexpected(event.error());
      events.push_back(std::move(*event));
    }
  }
  return events;
}

namespace {

// Calls `visit(position, bytes)` for every event stored in [from, until]: expected<bool, error>,
// false to stop.
template <class Visit>
tl::expected<void, StorageError> scan_bytes(const LogDb& db, Position from, Position until,
                                            Visit visit) {
  const auto bound = event_key(until + 1);
  const rocksdb::Slice upper = slice(bound);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  options.readahead_size = kReadAhead;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> at(db.db().NewIterator(options, db.events()));
  const auto first = event_key(from);
  at->Seek(slice(first));
  for (Position position = from; position <= until; position = position + 1, at->Next()) {
    const std::string name = "position " + std::to_string(position.value);
    if (!at->Valid()) {
      return fail(at->status().ok() ? name + " is missing"
                                    : name + " cannot be read: " + at->status().ToString());
    }
    if (position_of_key(at->key().ToStringView()) != position) return fail(name + " is missing");
    const tl::expected<bool, StorageError> more = visit(position, at->value().ToStringView());
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
  }
  return {};
}

}  // namespace

tl::expected<void, StorageError> Log::scan(Position from, Position until,
                                           const std::function<bool(Event&&)>& visit) const {
  if (from > until) return {};
  if (auto readable = impl_->check_readable(from, until); !readable) return readable;
  return scan_bytes(
      *impl_->db, from, until,
      [&](Position position, std::string_view bytes) -> tl::expected<bool, StorageError> {
        auto event = decode_at(position, bytes);
        if (!event) return tl::unexpected(event.error());
        return visit(std::move(*event));
      });
}

tl::expected<void, StorageError> Log::verify(const std::function<void(Position)>& progress) const {
  constexpr std::uint64_t kProgressEvery = 65'536;
  const Position until = head();
  const Digest expected = root();
  if (auto usable = impl_->check_usable(); !usable) return usable;
  ChainCheck chains([this](Position position) { return read(position); });
  MerkleFrontier tree;
  auto scanned = scan_bytes(
      *impl_->db, {1}, until,
      [&](Position position, std::string_view bytes) -> tl::expected<bool, StorageError> {
        tree.append(bytes);
        const auto event = decode_at(position, bytes);
        if (!event) return tl::unexpected(event.error());
        if (auto linked = chains.check(*event); !linked) return tl::unexpected(linked.error());
        if (position.value % kProgressEvery == 0) progress(position);
        return true;
      });
  if (!scanned) return scanned;
  if (tree.root() != expected) {
    return fail("the events from position 1 to " + std::to_string(until.value) +
                " do not give the Merkle root stored with them: one of them was changed");
  }
  progress(until);
  return {};
}

}  // namespace holdfast::store
