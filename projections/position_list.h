#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/domain/ids.h"

// A list of positions, ascending, as rows: a tail row under the list's name, which takes up to
// kBlockPositions, and full blocks, each under the list's name, NUL and its first position.
namespace holdfast::projections {

inline constexpr std::uint32_t kBlockPositions = 64;

enum class ListKind : char { own = 'r', below = 'b', holder = 'h', actor = 'a' };

// Name of a list, which is its tail's row key. Paths, holders and actors contain no NUL.
std::string list_name(ListKind kind, std::string_view of);
std::string block_key(std::string_view list, Position first);
// First position of the block with that row key; 0 if it is not a block of the list.
Position block_first(std::string_view list, std::string_view row_key);

class PositionList {
 public:
  // A block that is full and goes to a row of its own.
  struct Block {
    Position first;
    std::string row;
  };

  Position last() const { return last_; }  // 0: empty
  // Requires position > last(). Gives the block that the tail became when it was full.
  std::optional<Block> append(Position position);

  void append_row(std::string& out) const;
  static std::optional<PositionList> read(std::string_view row);

  // The positions of the tail.
  bool positions(std::vector<Position>& out) const;

 private:
  Position first_;
  Position last_;
  std::uint32_t count_ = 0;
  std::string deltas_;  // varints, from first_ on
};

// Last position alone, from a tail row. 0: not a tail row.
Position last_of_tail(std::string_view row);

// Appends the positions of a block; false if the row is not one.
bool read_block(Position first, std::string_view row, std::vector<Position>& out);

}  // namespace holdfast::projections
