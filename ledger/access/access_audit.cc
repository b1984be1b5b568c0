#include "ledger/access/access_audit.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "ledger/access/access_log.h"
#include "ledger/store/merkle.h"
#include "ledger/store/record_log.h"
#include "ledger/store/watermark.h"

namespace holdfast::access {
namespace {

using proof::Audited;
using proof::LogFlaw;
using store::at_position;
using store::StorageError;
using Kind = LogFlaw::Kind;

constexpr std::uint64_t kAtOnce = 4'096;

tl::unexpected<LogFlaw> flaw(Kind kind, Position first, const std::string& what) {
  return tl::unexpected(LogFlaw{kind, first, "the access log: " + what});
}

class Audit {
 public:
  using Checked = tl::expected<void, LogFlaw>;

  Audit(const store::RecordLog& log, const std::optional<store::Mark>& mark)
      : log_(log), own_(log.stored_heads().front()), mark_(mark), last_(log.head()) {}

  tl::expected<Audited, LogFlaw> run(const std::function<void(Position, Position)>& progress) {
    if (mark_ && mark_->ledger != log_.id()) {
      return flaw(Kind::replaced, {}, "the watermark is of another one");
    }
    for (Position from{1}; from <= last_; from = from + kAtOnce) {
      const Position until = std::min(last_, from + (kAtOnce - 1));
      if (auto checked = check_some(from, until); !checked) return tl::unexpected(checked.error());
      progress(until, last_);
    }
    const Position stated = std::max(own_.position(), mark_ ? mark_->position : Position{});
    if (stated > last_) {
      return flaw(Kind::shortened, last_ + 1,
                  "it ends at position " + std::to_string(last_.value) + " and went on to " +
                      std::to_string(stated.value));
    }
    if (own_.position() < last_) {
      return flaw(Kind::forked, own_.position() + 1, "it goes on after its own head");
    }
    return Audited{log_.id(), last_, tree_.root()};
  }

 private:
  // Records against the leaves that were stored with them.
  Checked check_some(Position from, Position until) {
    std::vector<Digest> leaves;
    auto stored = log_.leaves(from, until, [&](Position, const Digest& leaf) {
      leaves.push_back(leaf);
      return true;
    });
    std::optional<LogFlaw> found;
    auto scanned = log_.scan(
        from, until,
        [&](Position position, std::string_view bytes) -> tl::expected<bool, StorageError> {
          const std::uint64_t index = position.value - from.value;
          const bool has_leaf = index < leaves.size();
          const auto checked = check(position, bytes, has_leaf ? &leaves[index] : nullptr);
          if (!checked) found = checked.error();
          return !found;
        });
    if (found) return tl::unexpected(*found);
    if (scanned) return {};
    const Position gone{tree_.size() + 1};
    const bool missing = scanned.error().what == at_position(gone) + " is missing";
    return flaw(missing ? Kind::missing : Kind::unreadable, gone, scanned.error().what);
  }

  Checked check(Position position, std::string_view bytes, const Digest* leaf) {
    const auto record = decode(bytes);
    if (record && record->position != position) {
      return flaw(
          Kind::swapped, position,
          "at " + at_position(position) + " stands the record of " + at_position(record->position));
    }
    if (leaf == nullptr || *leaf != store::leaf_digest(bytes)) {
      return flaw(Kind::edited, position,
                  "the record at " + at_position(position) + " is not the one that was appended");
    }
    if (!record) {
      return flaw(Kind::unreadable, position, at_position(position) + " " + record.error());
    }
    if (record->at < at_) {
      return flaw(Kind::broken_chain, position,
                  "the record at " + at_position(position) + " is older than the one before");
    }
    at_ = record->at;
    tree_.append(bytes);
    if (mark_ && mark_->position == position && mark_->root != tree_.root()) {
      return flaw(Kind::forked, {1}, "its records are not those that the watermark was made of");
    }
    if (own_.position() == position && own_.tree.root() != tree_.root()) {
      return flaw(Kind::forked, {1}, "its records are not those that its own head was made of");
    }
    return {};
  }

  const store::RecordLog& log_;
  const store::Head& own_;
  const std::optional<store::Mark>& mark_;
  const Position last_;
  store::MerkleFrontier tree_;
  Instant at_ = kMinInstant;
};

}  // namespace

bool has_access_log(const std::string& dir) {
  std::error_code error;
  return std::filesystem::is_directory(access_path(dir), error);
}

tl::expected<Audited, LogFlaw> audit_access_log(
    std::shared_ptr<rocksdb::FileSystem> fs, const std::string& dir,
    const std::function<void(Position reached, Position of)>& progress) {
  if (!fs) fs = rocksdb::FileSystem::Default();
  const auto log = store::RecordLog::open_unchecked(fs, access_path(dir));
  if (!log) return flaw(Kind::unreadable, {}, log.error().what);
  const auto mark = store::Watermark::read(*fs, access_path(dir));
  if (!mark) return flaw(Kind::unreadable, {}, mark.error().what);
  return Audit(**log, *mark).run(progress);
}

}  // namespace holdfast::access
