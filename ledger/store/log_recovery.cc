#include "ledger/store/log_recovery.h"

#include <openssl/rand.h>
#include <algorithm>
#include <utility>

#include "ledger/domain/invariant.h"

namespace holdfast::store {
namespace {

std::string positions(Position from, Position until) {
  if (from == until) return "position " + std::to_string(from.value);
  return "positions " + std::to_string(from.value) + " to " + std::to_string(until.value);
}

std::string ends_at(Position head) {
  return head ? "ends at position " + std::to_string(head.value) : "is empty";
}

// The ways out of a loss after `head`.
std::string ways_out(const Recovery& recovery, Position head) {
  return ". Nothing was changed. Restore " + recovery.dir +
         " from a backup, or go on without what is gone, under a new ledger id, with " +
         recovery.accept_option + " " + std::to_string(head.value + 1);
}

// The watermark's file as it was found.
struct Found {
  std::optional<Mark> mark;  // none: no file, or a damaged one
  std::optional<std::string> damage;
};

// An accepted loss which was broken off between the new id in the log and the new watermark, with
// nothing written since: the operator's word stands.
bool half_accepted(const Survey& log, const std::optional<Mark>& mark) {
  const auto& parent = log.identity.parent;
  return mark && parent && mark->ledger == parent->id &&
         log.heads.front().position() == parent->position;
}

class Opening {
 public:
  explicit Opening(const Recovery& recovery) : recovery_(recovery), dir_(recovery.dir) {}

  tl::expected<Recovered, StorageError> run() {
    if (auto mark = Watermark::read(fs(), dir_)) {
      found_.mark = *mark;
    } else {
      found_.damage = mark.error().what;
    }
    if (!fs().FileExists(log_path(dir_), {}, nullptr).ok()) return without_log();
    if (auto free = check_not_in_use(); !free) return tl::unexpected(free.error());
    auto db = LogDb::open_read_only(recovery_.fs, dir_);
    if (!db) return fail(unreadable(db.error().what));
    auto survey = (*db)->survey();
    if (!survey) return fail(unreadable(survey.error().what));
    return with_log(std::move(*db), std::move(*survey));
  }

 private:
  rocksdb::FileSystem& fs() const { return *recovery_.fs; }

  // RocksDB's own lock file, which is there wherever a server has run: no file is made.
  tl::expected<void, StorageError> check_not_in_use() const {
    const std::string path = log_path(dir_) + "/LOCK";
    if (recovery_.read_only || !fs().FileExists(path, {}, nullptr).ok()) return {};
    rocksdb::FileLock* lock = nullptr;
    if (auto status = fs().LockFile(path, {}, &lock, nullptr); !status.ok()) {
      return fail(dir_ + " is already in use by another holdfastd (" + status.ToString() + ")");
    }
    fs().UnlockFile(lock, {}, nullptr);
    return {};
  }

  std::string unreadable(const std::string& why) const {
    std::string what = why;
    if (found_.mark && found_.mark->position) {
      what += "; " + positions({1}, found_.mark->position) + " were acknowledged";
    }
    return what + ". Nothing was changed. Restore " + dir_ + " from a backup";
  }

  tl::expected<Recovered, StorageError> without_log() {
    const bool lost = found_.damage || (found_.mark && found_.mark->position);
    if (recovery_.read_only && !lost) return fail("there is no ledger in " + dir_);
    if (!lost && recovery_.accept_loss_from) return nothing_lost(Position{});
    if (lost) {
      std::string what = log_path(dir_) + " is missing, but ";
      what += found_.damage ? *found_.damage
                            : positions({1}, found_.mark->position) + " were acknowledged";
      if (auto accepted = check_accepted(what, Position{}); !accepted) {
        return tl::unexpected(accepted.error());
      }
    }
    Identity identity{.id = fresh_ledger_id(), .parent = {}};
    Instant latest;
    if (found_.mark) {
      latest = found_.mark->latest;
      identity.parent = Parent{found_.mark->ledger, {}, MerkleFrontier{}.root()};
    }
    if (auto made = LogDb::create(recovery_.fs, dir_, identity, latest); !made) {
      return tl::unexpected(made.error());
    }
    return open_for_writing({.group = 0, .latest = latest, .tree = {}},
                            {.new_id = false, .new_watermark = true});
  }

  tl::expected<Recovered, StorageError> with_log(std::unique_ptr<LogDb> db, Survey survey) {
    const Head head = survey.heads.front();
    const auto wrong = found_.damage ? found_.damage : difference(survey, found_.mark);
    const bool finish = half_accepted(survey, found_.mark);
    if (wrong && !finish) {
      const std::string what = *wrong + (found_.damage ? "; the log " + ends_at(head.position()) +
                                                             ", and what was acknowledged after "
                                                             "that is gone"
                                                       : "");
      if (auto accepted = check_accepted(what, head.position()); !accepted) {
        return tl::unexpected(accepted.error());
      }
    } else if (recovery_.accept_loss_from && !finish) {
      return nothing_lost(head.position());
    }
    if (recovery_.read_only) {
      const Instant latest = latest_of(survey);
      return Recovered{std::move(db), std::move(survey), head.position(), latest, std::nullopt};
    }
    db.reset();
    return open_for_writing(
        head, {.new_id = wrong && !finish, .new_watermark = wrong.has_value() || !found_.mark});
  }

  tl::unexpected<StorageError> nothing_lost(Position head) const {
    return fail("nothing is lost: the log " + ends_at(head) +
                " and holds all that was acknowledged. Start without " + recovery_.accept_option);
  }

  tl::expected<void, StorageError> check_accepted(const std::string& what, Position head) const {
    const auto& accepted = recovery_.accept_loss_from;
    if (!accepted || recovery_.read_only) return fail(what + ways_out(recovery_, head));
    if (*accepted == head + 1) return {};
    return fail(recovery_.accept_option + " " + std::to_string(accepted->value) +
                " is not where the loss begins: " + what + ways_out(recovery_, head));
  }

  Instant latest_of(const Survey& survey) const {
    const Instant logged = survey.heads.front().latest;
    return found_.mark ? std::max(logged, found_.mark->latest) : logged;
  }

  Mark mark_of(const Survey& survey) const {
    const Head& head = survey.heads.front();
    return {.ledger = survey.identity.id,
            .group = head.group,
            .position = head.position(),
            .root = head.tree.root(),
            .latest = latest_of(survey)};
  }

  struct Anew {
    bool new_id;
    bool new_watermark;
  };

  // `seen`: the head that was found read-only; RocksDB must come back with the same.
  tl::expected<Recovered, StorageError> open_for_writing(const Head& seen, Anew anew) {
    auto db = LogDb::open(recovery_.fs, dir_);
    if (!db) return tl::unexpected(db.error());
    auto survey = (*db)->survey();
    if (!survey) return tl::unexpected(survey.error());
    if (survey->heads.front().tree.root() != seen.tree.root()) {
      return fail("the log " + ends_at(survey->heads.front().position()) +
                  " but read-only it was found to end at " + std::to_string(seen.tree.size()));
    }
    // The id before the watermark: broken off in between, the old watermark still tells of the
    // loss, and never vouches for a shorter log under the old id.
    if (anew.new_id) {
      auto identity = write_new_id(**db, *survey);
      if (!identity) return tl::unexpected(identity.error());
      survey->identity = *identity;
    }
    const Mark mark = mark_of(*survey);
    auto watermark =
        anew.new_watermark ? Watermark::create(fs(), dir_, mark) : Watermark::open(fs(), dir_);
    if (!watermark) return tl::unexpected(watermark.error());
    // What the log holds beyond the old watermark can be told from now on.
    if (auto done = watermark->write(mark); !done) return tl::unexpected(done.error());
    return Recovered{std::move(*db), std::move(*survey), mark.position, mark.latest,
                     std::move(*watermark)};
  }

  static tl::expected<Identity, StorageError> write_new_id(const LogDb& db, const Survey& survey) {
    const Head& head = survey.heads.front();
    const Identity identity{
        .id = fresh_ledger_id(),
        .parent = Parent{survey.identity.id, head.position(), head.tree.root()}};
    rocksdb::WriteOptions write;
    write.sync = true;
    const auto status = db.db().Put(write, db.meta(), kIdentityKey, encode(identity));
    if (!status.ok()) return fail("cannot write the new ledger id: " + status.ToString());
    return identity;
  }

  const Recovery& recovery_;
  const std::string& dir_;
  Found found_;
};

}  // namespace

LedgerId fresh_ledger_id() {
  LedgerId id;
  const int done = RAND_bytes(reinterpret_cast<unsigned char*>(id.data()), id.size());
  HOLDFAST_INVARIANT(done == 1, "OpenSSL has random bytes");
  return id;
}

std::optional<std::string> difference(const Survey& log, const std::optional<Mark>& mark) {
  const Head& head = log.heads.front();
  if (!mark) {
    if (head.group == 0) return std::nullopt;
    return "the watermark is missing; the log " + ends_at(head.position()) +
           ", and whether more was acknowledged cannot be known";
  }
  if (mark->ledger != log.identity.id) return "the watermark is of another ledger";
  if (head.position() < mark->position) {
    return "the log " + ends_at(head.position()) + ", but " +
           positions(head.position() + 1, mark->position) + " were acknowledged and are gone";
  }
  if (head.group < mark->group) {
    return "the log " + ends_at(head.position()) +
           ", as it should, but what was acknowledged after that without an event is gone";
  }
  const auto at = std::ranges::find(log.heads, mark->group, &Head::group);
  if (at == log.heads.end()) {
    return "the watermark is an old one, of position " + std::to_string(mark->position.value) +
           "; the log " + ends_at(head.position()) +
           ", and whether more was acknowledged cannot be known";
  }
  if (at->tree.root() != mark->root) {
    return "the log differs from what was acknowledged: its hash over " +
           positions({1}, mark->position) + " is another, and none of them can be trusted";
  }
  return std::nullopt;
}

tl::expected<Recovered, StorageError> recover(const Recovery& recovery) {
  return Opening(recovery).run();
}

}  // namespace holdfast::store
