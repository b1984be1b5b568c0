#pragma once

#include <rocksdb/db.h>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "projections/generation.h"
#include "projections/position_list.h"

namespace holdfast::projections {

// Which positions are wanted, and in which order.
struct Stretch {
  Position from;
  Position until;  // included
  bool newest_first = false;
};

// Walks the positions of one list within a stretch. Holds one block in memory and begins by a
// search over the blocks' first positions.
class ListCursor {
 public:
  // `moment` outlives the cursor.
  ListCursor(const Moment& moment, std::string list, Stretch stretch);
  ListCursor(const ListCursor&) = delete;  // the iterator points at the bounds
  ListCursor& operator=(const ListCursor&) = delete;

  // none: no more.
  tl::expected<std::optional<Position>, StorageError> next();

 private:
  tl::expected<bool, StorageError> load_more();
  tl::expected<void, StorageError> load_tail();
  void seek_block();
  tl::expected<bool, StorageError> take_block();
  bool take_tail();
  void keep_wanted();
  tl::expected<void, StorageError> sound() const;

  const Generation& rows_;
  std::string list_;
  std::string bound_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  Stretch stretch_;
  std::unique_ptr<rocksdb::Iterator> blocks_;
  std::vector<Position> tail_;
  bool begun_ = false;
  bool blocks_left_ = true;
  bool tail_left_ = true;
  std::vector<Position> ready_;  // the next one is the last
};

// Several lists as one. A position that is in more than one of them (a move's) comes once.
class MergedLists {
 public:
  MergedLists(const Moment& moment, std::vector<std::string> lists, Stretch stretch);

  tl::expected<std::optional<Position>, StorageError> next();
  // Up to `limit` more positions, appended.
  tl::expected<void, StorageError> take(std::size_t limit, std::vector<Position>& out);

 private:
  struct Source {
    std::unique_ptr<ListCursor> cursor;
    std::optional<Position> head;
  };
  tl::expected<void, StorageError> begin();

  std::vector<Source> sources_;
  bool newest_first_;
  bool begun_ = false;
};

// The lists that together hold every event on the path and below it.
std::vector<std::string> lists_of_subtree(std::string_view path);

}  // namespace holdfast::projections
