#include "ledger/proof/log_audit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ledger/proof/path_proof.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/log_verify.h"
#include "ledger/store/merkle.h"
#include "ledger/store/record_log.h"
#include "ledger/store/watermark.h"

namespace holdfast::proof {

using store::at_position;
using store::StorageError;

namespace {

using Kind = LogFlaw::Kind;

constexpr std::uint64_t kProgressEvery = 65'536;
constexpr std::uint64_t kLeavesAtOnce = 4'096;

tl::unexpected<LogFlaw> flaw(Kind kind, Position first, std::string what) {
  return tl::unexpected(LogFlaw{kind, first, std::move(what)});
}

std::string positions(Position from, Position until) {
  if (from == until) return at_position(from);
  return "positions " + std::to_string(from.value) + " to " + std::to_string(until.value);
}

// Somebody's word of what the log was up to a position.
struct Statement {
  Position size;
  Digest root;
  std::string whose;
  bool vouches;  // the log's own word for itself does not
};

class Audit {
 public:
  Audit(const AuditOptions& options, const std::function<void(Position, Position)>& progress)
      : options_(options),
        fs_(options.fs ? options.fs : rocksdb::FileSystem::Default()),
        progress_(progress) {}

  tl::expected<Audited, LogFlaw> run() {
    auto log = store::RecordLog::open_unchecked(fs_, options_.dir);
    if (!log) return flaw(Kind::unreadable, {}, log.error().what);
    log_ = std::move(*log);
    if (auto known = gather_statements(); !known) return tl::unexpected(known.error());
    last_ = log_->head();
    if (auto read = read_all(); !read) return tl::unexpected(read.error());
    if (auto whole = check_end(); !whole) return tl::unexpected(whole.error());
    progress_(last_, last_);
    return Audited{log_->id(), last_, tree_.root()};
  }

 private:
  using Checked = tl::expected<void, LogFlaw>;

  Checked gather_statements();
  Checked read_all();
  Checked check_end() const;
  Checked check_record(Position position, std::string_view record);
  Checked check_statements(Position position);
  Checked check_paths(const Event& event);
  Checked stored_leaf_differs(Position position, const Digest& leaf);
  LogFlaw misplaced(Position position, Position says) const;
  std::optional<Position> position_said_at(Position position) const;

  const AuditOptions& options_;
  const std::shared_ptr<rocksdb::FileSystem> fs_;
  const std::function<void(Position, Position)>& progress_;
  std::unique_ptr<store::RecordLog> log_;
  Position last_;
  std::vector<Statement> statements_;  // by size
  std::size_t next_statement_ = 0;
  Position vouched_;                  // everything up to here is as somebody has stated it
  const Head* with_paths_ = nullptr;  // the last published head that states a paths' root
  std::map<std::string, Position> paths_;
  store::MerkleFrontier tree_;
  std::vector<Digest> leaves_;  // stored ones, behind `leaves_behind_`
  std::uint64_t leaves_behind_ = 0;
  std::optional<store::ChainCheck> chains_;
};

Audit::Checked Audit::gather_statements() {
  const store::Head& own = log_->stored_heads().front();
  statements_.push_back({own.position(), own.tree.root(), "the log's own head", false});
  const auto mark = store::Watermark::read(*fs_, options_.dir);
  if (!mark) return flaw(Kind::unreadable, {}, mark.error().what);
  if (*mark && (*mark)->ledger != log_->id()) {
    return flaw(Kind::replaced, {}, "the watermark is of another ledger than the log");
  }
  if (*mark) statements_.push_back({(*mark)->position, (*mark)->root, "the watermark", true});
  for (const Head& head : options_.published) {
    const auto parent = log_->parent();
    const bool of_parent =
        parent && head.ledger == parent->id && head.size <= parent->position.value;
    if (head.ledger != log_->id() && !of_parent) {
      return flaw(Kind::replaced, {}, "a published head is of another ledger than the log");
    }
    statements_.push_back(
        {{head.size}, head.root, "the published head of size " + std::to_string(head.size), true});
    if (head.paths && (with_paths_ == nullptr || head.size > with_paths_->size)) {
      with_paths_ = &head;
    }
  }
  std::ranges::stable_sort(statements_, {}, &Statement::size);
  return {};
}

Audit::Checked Audit::read_all() {
  chains_.emplace([this](Position position) -> tl::expected<Event, StorageError> {
    std::optional<Event> event;
    auto read = log_->read(
        {&position, 1}, [&](Position, std::string_view record) -> tl::expected<bool, StorageError> {
          auto decoded = store::decode(record);
          if (decoded) event = std::move(*decoded);
          return true;
        });
    if (!read || !event) return store::fail(at_position(position) + " cannot be read");
    return std::move(*event);
  });
  if (auto agreed = check_statements({}); !agreed) return agreed;
  std::optional<LogFlaw> found;
  auto scanned = log_->scan(
      {1}, last_,
      [&](Position position, std::string_view record) -> tl::expected<bool, StorageError> {
        auto checked = check_record(position, record);
        if (checked) checked = check_statements(position);
        if (!checked) found = checked.error();
        if (position.value % kProgressEvery == 0) progress_(position, last_);
        return !found;
      });
  if (found) return tl::unexpected(*found);
  if (!scanned) {
    const Position gone{tree_.size() + 1};
    const bool missing = scanned.error().what == at_position(gone) + " is missing";
    return flaw(missing ? Kind::missing : Kind::unreadable, gone, scanned.error().what);
  }
  return {};
}

Audit::Checked Audit::check_record(Position position, std::string_view record) {
  const auto event = store::decode(record);
  if (event && event->position != position) {
    return tl::unexpected(misplaced(position, event->position));
  }
  const Digest leaf = store::leaf_digest(record);
  if (auto differs = stored_leaf_differs(position, leaf); !differs) return differs;
  if (!event) return flaw(Kind::unreadable, position, at_position(position) + ": " + event.error());
  tree_.append(leaf, [](store::MerkleNode, const Digest&) {});
  if (auto linked = chains_->check(*event); !linked) {
    return flaw(Kind::broken_chain, position, linked.error().what);
  }
  return check_paths(*event);
}

// As of the head that states them.
Audit::Checked Audit::check_paths(const Event& event) {
  if (with_paths_ == nullptr || event.position.value > with_paths_->size) return {};
  paths_.insert_or_assign(event.resource.str(), event.position);
  const auto* moved = std::get_if<Moved>(&event.happening);
  if (moved != nullptr && moved->to) paths_.insert_or_assign(moved->to->str(), event.position);
  if (event.position.value < with_paths_->size) return {};
  const auto made = prove_paths(
      [this](const auto& visit) -> tl::expected<void, StorageError> {
        for (const auto& [path, last] : paths_) visit(path, last);
        return {};
      },
      {});
  paths_.clear();
  if (made->root == *with_paths_->paths) return {};
  return flaw(Kind::bad_paths, event.position,
              "the published head of size " + std::to_string(with_paths_->size) +
                  " states a root over the paths that these events do not give");
}

Audit::Checked Audit::stored_leaf_differs(Position position, const Digest& leaf) {
  if (position.value > leaves_behind_ + leaves_.size()) {
    leaves_behind_ = position.value - 1;
    leaves_.clear();
    const Position until = std::min(last_, position + (kLeavesAtOnce - 1));
    auto read = log_->leaves(position, until, [&](Position, const Digest& stored) {
      leaves_.push_back(stored);
      return true;
    });
    if (leaves_.empty()) {
      // Older ledgers have no tree before their next start; heads still tell whether all is right.
      if (log_->without_tree()) return {};
      return flaw(Kind::edited, position, read.error().what);
    }
  }
  if (leaves_.at(position.value - leaves_behind_ - 1) == leaf) return {};
  return flaw(Kind::edited, position,
              "the event at " + at_position(position) + " is not the one that was appended");
}

std::optional<Position> Audit::position_said_at(Position position) const {
  std::optional<Position> says;
  if (!position || position > last_) return says;
  (void)log_->read({&position, 1},
                   [&](Position, std::string_view record) -> tl::expected<bool, StorageError> {
                     if (const auto event = store::decode(record)) says = event->position;
                     return true;
                   });
  return says;
}

LogFlaw Audit::misplaced(Position position, Position says) const {
  const std::string what =
      "at " + at_position(position) + " stands the event of " + at_position(says);
  if (position_said_at(says) == position)
    return {Kind::swapped, position, what + ", and there its own"};
  return {Kind::edited, position, what};
}

// What was stated of the log up to here.
Audit::Checked Audit::check_statements(Position position) {
  bool vouched = false;
  for (; next_statement_ < statements_.size(); ++next_statement_) {
    const Statement& statement = statements_[next_statement_];
    if (statement.size > position) break;
    if (statement.root != tree_.root()) {
      return flaw(Kind::forked, vouched_ + 1,
                  positions(vouched_ + 1, position ? position : Position{1}) +
                      " are not those which " + statement.whose + " was made of");
    }
    vouched = vouched || statement.vouches;
  }
  if (vouched) vouched_ = position;
  return {};
}

Audit::Checked Audit::check_end() const {
  if (next_statement_ < statements_.size()) {
    const Statement& last = statements_.back();
    return flaw(Kind::shortened, last_ + 1,
                positions(last_ + 1, last.size) + " are gone: " + last.whose + " has them");
  }
  const Position own = log_->stored_heads().front().position();
  if (own < last_) {
    return flaw(Kind::forked, own + 1,
                positions(own + 1, last_) + " are there, but the log's own head ends before them");
  }
  return {};
}

}  // namespace

std::string_view name_of(LogFlaw::Kind kind) {
  switch (kind) {
    case Kind::unreadable:
      return "unreadable";
    case Kind::missing:
      return "missing";
    case Kind::shortened:
      return "shortened";
    case Kind::edited:
      return "edited";
    case Kind::swapped:
      return "swapped";
    case Kind::broken_chain:
      return "broken_chain";
    case Kind::forked:
      return "forked";
    case Kind::replaced:
      return "replaced";
    case Kind::bad_paths:
      break;
  }
  return "bad_paths";
}

tl::expected<Audited, LogFlaw> audit_log(
    const AuditOptions& options,
    const std::function<void(Position reached, Position of)>& progress) {
  return Audit(options, progress).run();
}

}  // namespace holdfast::proof
