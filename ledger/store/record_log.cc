#include "ledger/store/record_log.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "ledger/domain/invariant.h"
#include "ledger/store/log_recovery.h"
#include "ledger/store/sha256.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kReadAhead = 2 << 20;
constexpr std::size_t kReadAtOnce = 512;
constexpr std::size_t kCatchUpBytes = 4 << 20;

template <std::size_t kSize>
rocksdb::Slice slice(const std::array<char, kSize>& key) {
  return {key.data(), key.size()};
}

tl::unexpected<StorageError> unreadable(Position position, const rocksdb::Status& status) {
  return fail(at_position(position) + " cannot be read: " + status.ToString());
}

tl::expected<void, StorageError> scan_records(const LogDb& db, Position from, Position until,
                                              const RecordLog::Visit& visit) {
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
    if (!at->Valid()) {
      if (!at->status().ok()) return unreadable(position, at->status());
      return fail(at_position(position) + " is missing");
    }
    if (position_of_key(at->key().ToStringView()) != position) {
      return fail(at_position(position) + " is missing");
    }
    const auto more = visit(position, at->value().ToStringView());
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
  }
  return {};
}

// What is written of the tree as it grows.
class TreeWriter {
 public:
  explicit TreeWriter(const LogDb& db) : db_(db) {}

  void add(std::string_view record, MerkleFrontier& tree, rocksdb::WriteBatch& batch) {
    const Digest leaf = leaf_digest(record);
    run_.append(view_of(leaf));
    tree.append(leaf, [&](MerkleNode node, const Digest& digest) {
      if (node.level < kNodeLevel) return;
      if (node.level == kNodeLevel) end_run({tree.size() + 1}, batch);
      batch.Put(db_.tree(), slice(node_key(node)), rocksdb::Slice(view_of(digest)));
    });
  }
  // At the end of every group, `last` its last position.
  void end_run(Position last, rocksdb::WriteBatch& batch) {
    if (run_.empty()) return;
    batch.Put(db_.tree(), slice(run_key(last)), run_);
    run_.clear();
  }

  // Writes the tree of a log of `size` records that an earlier version wrote without one.
  tl::expected<void, StorageError> catch_up(Position last) {
    if (!last) return {};
    rocksdb::PinnableSlice value;
    const auto status = db_.db().Get({}, db_.tree(), slice(run_key(last)), &value);
    if (status.ok()) return {};
    if (!status.IsNotFound()) return fail("the Merkle tree cannot be read: " + status.ToString());
    MerkleFrontier tree;
    rocksdb::WriteBatch batch;
    return scan_records(
        db_, {1}, last,
        [&](Position position, std::string_view record) -> tl::expected<bool, StorageError> {
          add(record, tree, batch);
          if (batch.GetDataSize() < kCatchUpBytes && position < last) return true;
          if (position == last) end_run(last, batch);
          if (auto written = db_.db().Write({}, &batch); !written.ok()) {
            return fail("the Merkle tree cannot be written: " + written.ToString());
          }
          batch.Clear();
          return true;
        });
  }

 private:
  const LogDb& db_;
  std::string run_;
};

Digest digest_of(std::string_view bytes) {
  Digest digest;
  HOLDFAST_INVARIANT(bytes.size() == digest.size(), "a digest has 32 bytes");
  std::ranges::copy(std::as_bytes(std::span(bytes)), digest.begin());
  return digest;
}

}  // namespace

struct RecordLog::Impl {
  Impl(Recovered recovered, std::shared_ptr<rocksdb::FileSystem> file_system, std::string data_dir)
      : fs(std::move(file_system)),
        dir(std::move(data_dir)),
        db(std::move(recovered.db)),
        watermark(std::move(recovered.watermark)),
        identity(recovered.survey.identity),
        stored_heads(std::move(recovered.survey.heads)),
        tip(stored_heads.front()),
        tree(*db),
        head(recovered.last),
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
    return fail("there is no " + at_position(from ? until : Position{}) +
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
  const std::vector<Head> stored_heads;

  // The appending thread's own.
  Head tip;
  TreeWriter tree;
  rocksdb::WriteBatch batch;

  mutable std::mutex mutex;  // guards what follows, which the appending thread changes
  Position head;
  Digest root;
  Instant latest;
  std::optional<ImportProgress> import;
  std::string failure;
  std::atomic<bool> failed = false;
};

tl::expected<std::unique_ptr<RecordLog>, StorageError> RecordLog::open(const OpenOptions& options) {
  const auto fs = options.fs ? options.fs : rocksdb::FileSystem::Default();
  auto recovered = recover({.fs = fs,
                            .dir = options.dir,
                            .read_only = options.read_only,
                            .accept_loss_from = options.accept_loss_from,
                            .accept_option = options.accept_option});
  if (!recovered) return tl::unexpected(recovered.error());
  auto impl = std::make_unique<Impl>(std::move(*recovered), fs, options.dir);
  if (!options.read_only) {
    if (auto whole = impl->tree.catch_up(impl->tip.position()); !whole) {
      return tl::unexpected(whole.error());
    }
  }
  return std::unique_ptr<RecordLog>(new RecordLog(std::move(impl)));
}

tl::expected<std::unique_ptr<RecordLog>, StorageError> RecordLog::open_unchecked(
    std::shared_ptr<rocksdb::FileSystem> fs, const std::string& dir) {
  auto db = LogDb::open_read_only(fs, dir);
  if (!db) return tl::unexpected(db.error());
  auto survey = (*db)->unchecked_survey();
  if (!survey) return tl::unexpected(survey.error());
  const auto last = (*db)->last_event();
  if (!last) return tl::unexpected(last.error());
  const Instant latest = survey->heads.front().latest;
  Recovered found{std::move(*db), std::move(*survey), *last, latest, std::nullopt};
  return std::unique_ptr<RecordLog>(
      new RecordLog(std::make_unique<Impl>(std::move(found), std::move(fs), dir)));
}

RecordLog::RecordLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordLog::~RecordLog() = default;

LedgerId RecordLog::id() const { return impl_->identity.id; }

std::optional<Parent> RecordLog::parent() const { return impl_->identity.parent; }

Position RecordLog::head() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->head;
}

Digest RecordLog::root() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->root;
}

Instant RecordLog::latest() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->latest;
}

std::optional<ImportProgress> RecordLog::import() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->import;
}

const std::vector<Head>& RecordLog::stored_heads() const { return impl_->stored_heads; }

std::optional<std::uint64_t> RecordLog::free_bytes() const {
  std::uint64_t bytes = 0;
  if (!impl_->fs->GetFreeSpace(impl_->dir, {}, &bytes, nullptr).ok()) return std::nullopt;
  return bytes;
}

tl::expected<void, StorageError> RecordLog::check_usable() const { return impl_->check_usable(); }

Position RecordLog::next() const { return impl_->tip.position() + 1; }

void RecordLog::add(std::string_view record) {
  Impl& log = *impl_;
  log.batch.Put(log.db->events(), slice(event_key(next())), rocksdb::Slice(record));
  log.tree.add(record, log.tip.tree, log.batch);
}

tl::expected<void, StorageError> RecordLog::write(const GroupNote& note) {
  Impl& log = *impl_;
  HOLDFAST_INVARIANT(log.watermark, "a log opened read-only is not written to");
  if (auto usable = log.check_usable(); !usable) return usable;
  log.tree.end_run(log.tip.position(), log.batch);
  ++log.tip.group;
  log.tip.latest = std::max(log.tip.latest, note.latest);
  log.batch.Put(log.db->meta(), head_key(log.tip.group), encode(log.tip));
  if (note.import) log.batch.Put(log.db->meta(), kImportKey, encode(*note.import));

  rocksdb::WriteOptions write;
  write.sync = true;
  const auto status = log.db->db().Write(write, &log.batch);
  log.batch.Clear();
  if (!status.ok()) return log.fail_for_good("the log cannot be written: " + status.ToString());
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

tl::expected<void, StorageError> RecordLog::refresh(Instant latest) {
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

tl::expected<void, StorageError> RecordLog::read(std::span<const Position> positions,
                                                 const Visit& visit) const {
  std::vector<std::array<char, 8>> names;
  std::vector<rocksdb::Slice> keys;
  while (!positions.empty()) {
    const auto some = positions.first(std::min(positions.size(), kReadAtOnce));
    positions = positions.subspan(some.size());
    names.clear();
    keys.clear();
    for (const Position position : some) {
      if (auto readable = impl_->check_readable(position, position); !readable) return readable;
      names.push_back(event_key(position));
    }
    for (const auto& name : names) keys.push_back(slice(name));
    std::vector<rocksdb::PinnableSlice> values(some.size());
    std::vector<rocksdb::Status> statuses(some.size());
    impl_->db->db().MultiGet({}, impl_->db->events(), keys.size(), keys.data(), values.data(),
                             statuses.data());
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!statuses[i].ok()) return unreadable(some[i], statuses[i]);
      const auto more = visit(some[i], values[i].ToStringView());
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
    }
  }
  return {};
}

tl::expected<void, StorageError> RecordLog::scan(Position from, Position until,
                                                 const Visit& visit) const {
  if (from > until) return {};
  if (auto readable = impl_->check_readable(from, until); !readable) return readable;
  return scan_records(*impl_->db, from, until, visit);
}

tl::expected<void, StorageError> RecordLog::leaves(
    Position from, Position until,
    const std::function<bool(Position, const Digest&)>& visit) const {
  constexpr std::size_t kDigestBytes = Digest{}.size();
  if (auto readable = impl_->check_readable(from, until); !readable) return readable;
  const LogDb& db = *impl_->db;
  if (db.tree() == nullptr) {
    return fail("this log has no Merkle tree yet: start holdfastd on it once");
  }
  const std::unique_ptr<rocksdb::Iterator> at(db.db().NewIterator({}, db.tree()));
  Position next = from;
  for (at->Seek(slice(run_key(from))); at->Valid() && next <= until; at->Next()) {
    const auto last = end_of_run(at->key().ToStringView());
    if (!last) continue;
    const std::string_view run = at->value().ToStringView();
    const std::uint64_t size = run.size() / kDigestBytes;
    if (size > last->value) break;
    const std::uint64_t before = last->value - size;  // the position before the run's first
    if (next.value <= before) break;
    for (; next <= *last && next <= until; next = next + 1) {
      const std::uint64_t index = next.value - before - 1;
      if (!visit(next, digest_of(run.substr(index * kDigestBytes, kDigestBytes)))) return {};
    }
  }
  if (!at->status().ok()) return fail("the Merkle tree cannot be read: " + at->status().ToString());
  if (next <= until) return fail("the Merkle tree has no leaf of " + at_position(next));
  return {};
}

bool RecordLog::without_tree() const { return impl_->db->tree() == nullptr; }

tl::expected<Digest, StorageError> RecordLog::node(MerkleNode node) const {
  const Position first{(node.index << node.level) + 1};
  const Position last{(node.index + 1) << node.level};
  if (node.level < kNodeLevel) {
    MerkleFrontier below;
    auto read = leaves(first, last, [&](Position, const Digest& leaf) {
      below.append(leaf, [](MerkleNode, const Digest&) {});
      return true;
    });
    if (!read) return tl::unexpected(read.error());
    return below.root();
  }
  if (auto readable = impl_->check_readable(first, last); !readable) {
    return tl::unexpected(readable.error());
  }
  const LogDb& db = *impl_->db;
  rocksdb::PinnableSlice value;
  const auto status = db.tree() == nullptr
                          ? rocksdb::Status::NotFound()
                          : db.db().Get({}, db.tree(), slice(node_key(node)), &value);
  if (!status.ok() || value.size() != Digest{}.size()) {
    return fail("the Merkle tree has no node of positions " + std::to_string(first.value) + " to " +
                std::to_string(last.value) + ": " + status.ToString());
  }
  return digest_of(value.ToStringView());
}

}  // namespace holdfast::store
