#include "projections/position_list.h"

#include <utility>

#include "ledger/domain/invariant.h"
#include "projections/varint.h"

namespace holdfast::projections {
namespace {

constexpr std::size_t kFirstBytes = 8;

bool read_deltas(Position first, std::uint64_t count, std::string_view deltas,
                 std::vector<Position>& out) {
  RowReader reader(deltas);
  Position position = first;
  out.push_back(position);
  for (std::uint64_t i = 1; i < count && reader.ok(); ++i) {
    position.value += reader.varint();
    out.push_back(position);
  }
  return reader.done();
}

}  // namespace

std::string list_name(ListKind kind, std::string_view of) {
  std::string name;
  name.reserve(of.size() + 1);
  return name.append(1, static_cast<char>(kind)).append(of);
}

std::string block_key(std::string_view list, Position first) {
  std::string key;
  key.reserve(list.size() + 1 + kFirstBytes);
  key.append(list).push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8) {
    key.push_back(static_cast<char>(first.value >> shift));
  }
  return key;
}

Position block_first(std::string_view list, std::string_view row_key) {
  if (row_key.size() != list.size() + 1 + kFirstBytes || !row_key.starts_with(list) ||
      row_key[list.size()] != '\0') {
    return {};
  }
  Position first;
  for (const char byte : row_key.substr(list.size() + 1)) {
    first.value = first.value << 8 | static_cast<unsigned char>(byte);
  }
  return first;
}

std::optional<PositionList::Block> PositionList::append(Position position) {
  HOLDFAST_INVARIANT(position > last_, "positions of a list ascend");
  std::optional<Block> full;
  if (count_ == kBlockPositions) {
    full = Block{first_, std::move(deltas_)};
    deltas_.clear();
    count_ = 0;
  }
  if (count_ == 0) {
    first_ = position;
  } else {
    put_varint(deltas_, position.value - last_.value);
  }
  last_ = position;
  ++count_;
  return full;
}

void PositionList::append_row(std::string& out) const {
  put_varint(out, last_.value);
  if (count_ == 1) return;
  put_varint(out, last_.value - first_.value);
  put_varint(out, count_);
  out.append(deltas_);
}

std::optional<PositionList> PositionList::read(std::string_view row) {
  RowReader reader(row);
  PositionList list;
  list.last_.value = reader.varint();
  list.first_ = list.last_;
  list.count_ = 1;
  if (reader.ok() && !reader.rest().empty()) {
    list.first_.value -= reader.varint();
    list.count_ = static_cast<std::uint32_t>(reader.varint());
    list.deltas_ = reader.rest();
  }
  if (!reader.ok() || !list.last_ || list.count_ == 0 || list.count_ > kBlockPositions) {
    return std::nullopt;
  }
  return list;
}

bool PositionList::positions(std::vector<Position>& out) const {
  return count_ == 0 || read_deltas(first_, count_, deltas_, out);
}

Position last_of_tail(std::string_view row) { return {RowReader(row).varint()}; }

bool read_block(Position first, std::string_view row, std::vector<Position>& out) {
  return read_deltas(first, kBlockPositions, row, out);
}

}  // namespace holdfast::projections
