#include "projections/list_cursor.h"

#include <algorithm>
#include <utility>

namespace holdfast::projections {

ListCursor::ListCursor(const Moment& moment, std::string list, Stretch stretch)
    : rows_(moment.rows()),
      list_(std::move(list)),
      bound_(list_ + '\1'),  // names hold no control characters, so only this list lies below
      lower_(list_),
      upper_(bound_),
      stretch_(stretch) {
  rocksdb::ReadOptions options = moment.options();
  options.iterate_lower_bound = &lower_;
  options.iterate_upper_bound = &upper_;
  blocks_ = rows_.iterate(Family::lists, options);
}

tl::expected<std::optional<Position>, StorageError> ListCursor::next() {
  while (ready_.empty()) {
    const auto more = load_more();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return std::nullopt;
  }
  const Position position = ready_.back();
  ready_.pop_back();
  return position;
}

tl::expected<void, StorageError> ListCursor::sound() const {
  if (blocks_->status().ok()) return {};
  return tl::unexpected(rows_.error(blocks_->status()));
}

// False: there is nothing more. The new positions may all lie outside of the stretch.
tl::expected<bool, StorageError> ListCursor::load_more() {
  if (!std::exchange(begun_, true)) {
    if (const auto loaded = load_tail(); !loaded) return tl::unexpected(loaded.error());
    seek_block();
    if (stretch_.newest_first) return take_tail();
  }
  if (blocks_left_) {
    const auto taken = take_block();
    if (!taken || *taken) return taken;
  }
  return take_tail();
}

tl::expected<void, StorageError> ListCursor::load_tail() {
  blocks_->Seek(list_);
  if (blocks_->Valid() && blocks_->key() == slice(list_)) {
    const auto tail = PositionList::read(view(blocks_->value()));
    if (!tail || !tail->positions(tail_)) {
      return tl::unexpected(rows_.unreadable(Family::lists, list_));
    }
  }
  return sound();
}

// To the block that may hold the end of the stretch where the walk begins.
void ListCursor::seek_block() {
  const Position at = stretch_.newest_first ? stretch_.until : stretch_.from;
  blocks_->SeekForPrev(block_key(list_, at));
  const bool on_block = blocks_->Valid() && block_first(list_, view(blocks_->key()));
  if (!on_block && !stretch_.newest_first) blocks_->Seek(list_ + '\0');
}

tl::expected<bool, StorageError> ListCursor::take_block() {
  blocks_left_ = false;
  if (!blocks_->Valid()) {
    if (const auto checked = sound(); !checked) return tl::unexpected(checked.error());
    return false;
  }
  const Position first = block_first(list_, view(blocks_->key()));
  if (!first) return false;  // the tail's row, before all blocks
  if (!stretch_.newest_first && first > stretch_.until) return false;
  if (!read_block(first, view(blocks_->value()), ready_)) {
    return tl::unexpected(rows_.unreadable(Family::lists, list_));
  }
  blocks_left_ = stretch_.newest_first ? first > stretch_.from : ready_.back() < stretch_.until;
  keep_wanted();
  if (!blocks_left_) return true;
  stretch_.newest_first ? blocks_->Prev() : blocks_->Next();
  return true;
}

bool ListCursor::take_tail() {
  if (!std::exchange(tail_left_, false)) return false;
  ready_ = std::move(tail_);
  keep_wanted();
  return true;
}

void ListCursor::keep_wanted() {
  std::erase_if(ready_, [this](Position p) { return p < stretch_.from || p > stretch_.until; });
  if (!stretch_.newest_first) std::reverse(ready_.begin(), ready_.end());
}

MergedLists::MergedLists(const Moment& moment, std::vector<std::string> lists, Stretch stretch)
    : newest_first_(stretch.newest_first) {
  sources_.reserve(lists.size());
  for (std::string& list : lists) {
    sources_.push_back({std::make_unique<ListCursor>(moment, std::move(list), stretch), {}});
  }
}

tl::expected<void, StorageError> MergedLists::begin() {
  for (Source& source : sources_) {
    auto head = source.cursor->next();
    if (!head) return tl::unexpected(head.error());
    source.head = *head;
  }
  return {};
}

tl::expected<std::optional<Position>, StorageError> MergedLists::next() {
  if (!std::exchange(begun_, true)) {
    if (const auto ready = begin(); !ready) return tl::unexpected(ready.error());
  }
  Source* first = nullptr;
  for (Source& source : sources_) {
    if (!source.head) continue;
    if (first == nullptr ||
        (newest_first_ ? *source.head > *first->head : *source.head < *first->head)) {
      first = &source;
    }
  }
  if (first == nullptr) return std::nullopt;
  const std::optional<Position> found = first->head;
  for (Source& source : sources_) {
    if (source.head != found) continue;
    auto head = source.cursor->next();
    if (!head) return tl::unexpected(head.error());
    source.head = *head;
  }
  return found;
}

tl::expected<void, StorageError> MergedLists::take(std::size_t limit, std::vector<Position>& out) {
  for (std::size_t i = 0; i < limit; ++i) {
    const auto position = next();
    if (!position) return tl::unexpected(position.error());
    if (!*position) return {};
    out.push_back(**position);
  }
  return {};
}

std::vector<std::string> lists_of_subtree(std::string_view path) {
  return {list_name(ListKind::own, path), list_name(ListKind::below, path)};
}

}  // namespace holdfast::projections
