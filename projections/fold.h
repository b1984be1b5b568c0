#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/event.h"
#include "projections/event_fold.h"
#include "projections/generation.h"
#include "projections/position_list.h"
#include "projections/row_cache.h"
#include "projections/row_writer.h"
#include "projections/tallies.h"

namespace holdfast::projections {

// Folds events into the rows of a generation: the same for live events, catch-up and rebuild.
// What was folded is written at once and in order, each row once. One thread.
class Fold {
 public:
  static constexpr std::size_t kCachedRows = 65'536;  // of each kind
  static constexpr std::size_t kChunk = 16'384;       // events that are folded at a time
  static constexpr std::size_t kBulkChunk = 131'072;  // that are written at a time when many come
  static constexpr std::size_t kWorthFiles = 8'192;   // fewer are cheaper in the memtables

  // Goes on behind the generation's checkpoint.
  static tl::expected<std::unique_ptr<Fold>, StorageError> open(std::shared_ptr<Generation> rows);

  const std::shared_ptr<Generation>& rows() const { return rows_; }
  // What was folded, be it written or not.
  Checkpoint at() const { return at_; }
  std::size_t unwritten_events() const { return unwritten_; }
  std::size_t cached_rows() const { return claims_.size() + lists_.size() + definitions_.size(); }

  // Folds the groups of events, which follow at(). At an event that cannot be folded the error
  // names position and type, and at() stands before it: nothing more may be applied.
  tl::expected<void, StorageError> apply(std::span<const std::span<const Event>> groups);
  // Writes what is not written yet: what is much goes to sorted files past the memtables.
  tl::expected<void, StorageError> write();

 private:
  enum class Stored : std::uint8_t { nowhere, live, ended };
  struct ClaimRow {
    std::string row;  // as in its family; empty: the claim was never held
    Stored stored = Stored::nowhere;
    bool ended = false;
  };
  struct ListRow {
    PositionList list;
    std::vector<PositionList::Block> full;  // not written yet
  };
  struct OptionalDefinition {
    std::optional<DefinitionRow> row;
  };
  using ClaimNode = RowCache<ClaimRow>::Node;
  using ListNode = RowCache<ListRow>::Node;
  using DefinitionNode = RowCache<OptionalDefinition>::Node;
  // The rows that an event concerns. Of lists_of_events_ its share, its resource's own list
  // first, then that of the resource a claim moves to.
  struct Concerned {
    ClaimNode* claim = nullptr;
    DefinitionNode* definition = nullptr;
    std::size_t lists_end = 0;
  };

  Fold(std::shared_ptr<Generation> rows, Checkpoint at);

  tl::expected<void, StorageError> load(std::span<const std::span<const Event>> groups);
  tl::expected<void, StorageError> load_claims();
  tl::expected<void, StorageError> load_lists();
  tl::expected<void, StorageError> load_definitions();
  void want(const Event& event);
  ClaimNode& want_claim(const Event& event);
  DefinitionNode& want_definition(const Event& event);
  ListNode& want_list(ListKind kind, std::string_view of, bool is_new = false);
  void want_lists(const Event& event);
  void want_lists_above(std::string_view to, std::string_view from);
  tl::expected<void, StorageError> fold_all(std::span<const std::span<const Event>> groups);
  tl::expected<void, std::string> apply(const Event& event, const Concerned& concerned,
                                        std::span<ListNode* const> lists);
  tl::expected<void, std::string> check(const Event& event, std::span<ListNode* const> lists) const;
  tl::expected<void, std::string> apply_to_claim(const Event& event, ClaimNode& node);
  void tally(const Event& event, const Claim* before);
  void remember_request(const Event& event);
  void write_claims();
  void write_definitions();
  void write_lists();
  void write_requests();
  void write_tallies();

  std::shared_ptr<Generation> rows_;
  Checkpoint at_;
  BatchWriter batch_;
  BulkWriter files_;
  RowWriter* writer_ = &batch_;  // while writing: one of the two
  std::size_t unwritten_ = 0;    // events
  RowCache<ClaimRow> claims_{kCachedRows};
  RowCache<ListRow> lists_{kCachedRows};
  RowCache<OptionalDefinition> definitions_{kCachedRows};
  RowCache<TallyCounts> tallies_{kCachedRows};  // what is to be added to the rows
  struct RequestRow {
    std::string key;
    Position first;
  };
  std::deque<RequestRow> requests_;  // not written yet

  // Of the events being applied.
  std::vector<Concerned> concerned_;
  std::vector<ListNode*> lists_of_events_;
  std::vector<ClaimNode*> wanted_claims_;
  std::vector<ListNode*> wanted_lists_;
  std::vector<DefinitionNode*> wanted_definitions_;
  std::string name_;  // of the list looked for, kept for its memory
  std::string row_;   // being written, likewise
};

}  // namespace holdfast::projections
