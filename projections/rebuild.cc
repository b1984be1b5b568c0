#include "projections/rebuild.h"

#include <utility>

#include "ledger/store/fixed_bytes.h"
#include "ledger/store/sha256_stream.h"
#include "projections/log_reader.h"
#include "projections/projections.h"
#include "projections/varint.h"

namespace holdfast::projections {
namespace {

std::string_view bytes(const store::LedgerId& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

// A failure that says the folder is damaged, not that the disk or the process is in the way.
bool is_damage(const rocksdb::Status& status) {
  return status.IsCorruption() || status.IsInvalidArgument() || status.IsNotFound() ||
         status.IsPathNotFound();
}

// Why the rows are not good for this log; empty: they are.
tl::expected<std::string, StorageError> why_not_good(const Generation& rows,
                                                     const store::Log& log) {
  rocksdb::PinnableSlice format;
  rocksdb::PinnableSlice ledger;
  const rocksdb::Status format_read = rows.get(Family::meta, kFormatKey, format);
  const rocksdb::Status ledger_read = rows.get(Family::meta, kLedgerKey, ledger);
  for (const rocksdb::Status& status : {format_read, ledger_read}) {
    if (!status.ok() && !status.IsNotFound()) return tl::unexpected(rows.error(status));
  }
  if (!format_read.ok() || RowReader(view(format)).varint() != kRowFormat) {
    return "the stored projections have another format";
  }
  if (!ledger_read.ok() || view(ledger) != bytes(log.id())) {
    return "the stored projections are of another ledger";
  }
  const auto checkpoint = Moment(rows).checkpoint();
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  if (checkpoint->position > log.head()) {
    return "the stored projections are at position " + std::to_string(checkpoint->position.value) +
           ", the log ends at " + std::to_string(log.head().value);
  }
  return std::string();
}

// Family and key as a person reads them.
std::string row_name(Family family, std::string_view key) {
  if (family != Family::lists) {
    std::string name(key);
    if (const auto nul = name.find('\0'); nul != std::string::npos) name.replace(nul, 1, " ");
    return std::string(family_name(family)) + " \"" + name + "\"";
  }
  const auto nul = key.find('\0');
  const std::string_view list = key.substr(0, nul);
  std::string name = "list of ";
  switch (static_cast<ListKind>(list.front())) {
    case ListKind::own:
      name += "resource";
      break;
    case ListKind::below:
      name += "what is below";
      break;
    case ListKind::holder:
      name += "holder";
      break;
    case ListKind::actor:
      name += "actor";
      break;
  }
  name.append(" \"").append(list.substr(1)).append("\"");
  if (const Position first = block_first(list, key)) {
    name += ", block from position " + std::to_string(first.value);
  }
  return name;
}

class Comparison {
 public:
  explicit Comparison(std::vector<std::string>& differences) : differences_(differences) {}

  bool full() const { return differences_.size() >= kMaxDifferences; }
  void found(Family family, std::string_view key, std::string_view what) {
    if (!full()) differences_.push_back(row_name(family, key) + " " + std::string(what));
  }

 private:
  std::vector<std::string>& differences_;
};

tl::expected<void, StorageError> compare_family(Family family, const Moment& stored,
                                                const Moment& rebuilt, Comparison& comparison) {
  const auto a = stored.rows().iterate(family, stored.options());
  const auto b = rebuilt.rows().iterate(family, rebuilt.options());
  a->SeekToFirst();
  b->SeekToFirst();
  while ((a->Valid() || b->Valid()) && !comparison.full()) {
    const int order = !a->Valid() ? 1 : !b->Valid() ? -1 : a->key().compare(b->key());
    if (order < 0) {
      comparison.found(family, view(a->key()), "is not in the rebuilt ones");
    } else if (order > 0) {
      comparison.found(family, view(b->key()), "is only in the rebuilt ones");
    } else if (a->value() != b->value()) {
      comparison.found(family, view(a->key()), "differs");
    }
    if (order <= 0) a->Next();
    if (order >= 0) b->Next();
  }
  if (!a->status().ok()) return tl::unexpected(stored.rows().error(a->status()));
  if (!b->status().ok()) return tl::unexpected(rebuilt.rows().error(b->status()));
  return {};
}

tl::expected<proof::RowsDigest, StorageError> digest_family(Family family, const Moment& moment) {
  proof::RowsDigest digest{.name = std::string(family_name(family))};
  store::Sha256Stream hash;
  std::string lengths;
  const auto row = moment.rows().iterate(family, moment.options());
  for (row->SeekToFirst(); row->Valid(); row->Next()) {
    lengths.clear();
    store::BytesOut out(lengths);
    out.number(row->key().size());
    out.number(row->value().size());
    hash.add(lengths);
    hash.add(view(row->key()));
    hash.add(view(row->value()));
    ++digest.rows;
  }
  if (!row->status().ok()) return tl::unexpected(moment.rows().error(row->status()));
  digest.digest = hash.digest();
  return digest;
}

}  // namespace

tl::expected<std::shared_ptr<Generation>, StorageError> create_generation(
    const Folders& folders, std::uint64_t number, const store::LedgerId& ledger) {
  auto opened = Generation::open(folders.fs(), folders.of(number), true);
  if (!opened) {
    return tl::unexpected(StorageError{"projections cannot be made in " + folders.of(number) +
                                       ": " + opened.error().ToString()});
  }
  std::shared_ptr<Generation> rows = std::move(*opened);
  rocksdb::WriteBatch batch;
  std::string format;
  put_varint(format, kRowFormat);
  batch.Put(rows->family(Family::meta), slice(kFormatKey), format);
  batch.Put(rows->family(Family::meta), slice(kLedgerKey), slice(bytes(ledger)));
  const rocksdb::Status status = rows->write(batch);
  if (!status.ok()) return tl::unexpected(rows->error(status));
  return rows;
}

tl::expected<FoundGeneration, StorageError> find_generation(const Folders& folders,
                                                            const store::Log& log) {
  const auto current = folders.current();
  if (!current) return tl::unexpected(current.error());
  FoundGeneration found;
  if (!*current) {
    found.not_good_because = "there are no stored projections";
    return found;
  }
  found.number = **current;
  auto opened = Generation::open(folders.fs(), folders.of(found.number), false);
  if (!opened) {
    if (!is_damage(opened.error())) {
      return tl::unexpected(StorageError{"the projections in " + folders.of(found.number) +
                                         " cannot be opened: " + opened.error().ToString()});
    }
    found.not_good_because = "the stored projections cannot be read: " + opened.error().ToString();
    return found;
  }
  auto why = why_not_good(**opened, log);
  if (!why) return tl::unexpected(why.error());
  found.not_good_because = std::move(*why);
  if (found.not_good_because.empty()) found.rows = std::move(*opened);
  return found;
}

tl::expected<void, StorageError> catch_up(Fold& fold, const store::Log& log, Position until,
                                          const GoOn& go_on) {
  if (fold.at().position >= until) return {};
  LogReader reader(log, fold.at().position + 1, until, Fold::kChunk);
  std::vector<Event> chunk;
  while (reader.next(chunk)) {
    const std::span<const Event> events(chunk);
    if (const auto applied = fold.apply({&events, 1}); !applied) return applied;
    if (fold.unwritten_events() >= Fold::kBulkChunk) {
      if (const auto written = fold.write(); !written) return written;
    }
    if (!go_on(fold.at().position)) {
      return tl::unexpected(StorageError{"the rebuild was given up"});
    }
  }
  if (const auto written = fold.write(); !written) return written;
  return reader.outcome();
}

tl::expected<void, StorageError> fill(const std::shared_ptr<Generation>& rows,
                                      const store::Log& log, Position until, const GoOn& go_on) {
  const auto fold = Fold::open(rows);
  if (!fold) return tl::unexpected(fold.error());
  return catch_up(**fold, log, until, go_on);
}

tl::expected<std::vector<std::string>, StorageError> compare(const Moment& stored,
                                                             const Moment& rebuilt) {
  std::vector<std::string> differences;
  Comparison comparison(differences);
  for (const Family family : derived_families()) {
    const auto compared = compare_family(family, stored, rebuilt, comparison);
    if (!compared) return tl::unexpected(compared.error());
  }
  return differences;
}

tl::expected<std::vector<proof::RowsDigest>, StorageError> digest(const Moment& moment) {
  std::vector<proof::RowsDigest> digests;
  for (const Family family : derived_families()) {
    auto rows = digest_family(family, moment);
    if (!rows) return tl::unexpected(rows.error());
    digests.push_back(std::move(*rows));
  }
  return digests;
}

}  // namespace holdfast::projections
