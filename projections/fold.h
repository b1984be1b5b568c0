#pragma once

#include <rocksdb/write_batch.h>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "ledger/domain/event.h"
#include "projections/event_fold.h"
#include "projections/generation.h"
#include "projections/position_list.h"
#include "projections/row_cache.h"

namespace holdfast::projections {

// Folds events into the rows of a generation: the same for live events, catch-up and rebuild.
// What a chunk of events changes is one sorted write, its checkpoint with it. One thread.
class Fold {
 public:
  static constexpr std::size_t kCachedRows = 65'536;  // of each kind
  static constexpr std::size_t kChunk = 16'384;       // events that are worth one write

  // Goes on behind the generation's checkpoint.
  static tl::expected<std::unique_ptr<Fold>, StorageError> open(std::shared_ptr<Generation> rows);

  const std::shared_ptr<Generation>& rows() const { return rows_; }
  Checkpoint at() const { return at_; }
  std::size_t cached_rows() const { return claims_.size() + lists_.size() + definitions_.size(); }

  // Applies the groups of events, which follow at(), and writes. At an event that cannot be folded
  // it writes what comes before, and the error names position and type. After an error nothing
  // more may be applied.
  tl::expected<void, StorageError> apply(std::span<const std::vector<Event>> groups);

 private:
  enum class Stored : std::uint8_t { nowhere, live, ended };
  struct ClaimRow {
    std::optional<Claim> claim;
    Stored stored = Stored::nowhere;
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

  Fold(std::shared_ptr<Generation> rows, Checkpoint at);

  tl::expected<void, StorageError> load(std::span<const std::vector<Event>> groups);
  void want(const Event& event);
  tl::expected<void, StorageError> load_claims();
  tl::expected<void, StorageError> load_lists();
  tl::expected<void, StorageError> load_definitions();
  void want_list(ListKind kind, std::string_view of, bool is_new);
  void want_lists(const Event& event);
  tl::expected<void, StorageError> fold_all(std::span<const std::vector<Event>> groups);
  tl::expected<void, std::string> apply(const Event& event);
  tl::expected<void, std::string> check(const Event& event);
  ListNode& list(ListKind kind, std::string_view of);
  void append(ListKind kind, std::string_view of, Position position);
  void append_to_lists(const Event& event);
  void remember_request(const Event& event);
  tl::expected<void, StorageError> write();
  void write_claims(rocksdb::WriteBatch& batch);
  void write_lists(rocksdb::WriteBatch& batch);

  std::shared_ptr<Generation> rows_;
  Checkpoint at_;
  RowCache<ClaimRow> claims_{kCachedRows};
  RowCache<ListRow> lists_{kCachedRows};
  RowCache<OptionalDefinition> definitions_{kCachedRows};
  std::vector<std::pair<std::string, Position>> requests_;  // not written yet
  // Rows that load() still has to read.
  std::vector<ClaimNode*> wanted_claims_;
  std::vector<ListNode*> wanted_lists_;
  std::vector<DefinitionNode*> wanted_definitions_;
  std::string name_;  // of the list looked for, kept for its memory
};

}  // namespace holdfast::projections
