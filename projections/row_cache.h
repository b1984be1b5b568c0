#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/domain/text_hash.h"
#include "projections/key_order.h"

namespace holdfast::projections {

// Rows in memory in front of their family. Changed rows stay until they are written; of the
// others about the last `capacity` used are kept. Pointers are good until the next write().
template <class Row>
class RowCache {
 public:
  struct Node {
    std::string_view key;
    Row row;
    bool changed = false;
  };

  explicit RowCache(std::size_t capacity)
      : half_(capacity / 2), young_(std::make_unique<Table>()), old_(std::make_unique<Table>()) {}

  Node* find(std::string_view key) {
    const std::size_t hash = TextHash{}(key);
    if (Node* young = young_->find(key, hash)) return young;
    Node* old = old_->find(key, hash);
    // What stays behind in the old table is hidden by the young one until it is dropped.
    return old == nullptr ? nullptr : &young_->insert(key, hash, std::move(old->row));
  }

  // Requires that the key is not there.
  Node& insert(std::string_view key, Row row) {
    return young_->insert(key, TextHash{}(key), std::move(row));
  }

  void change(Node& node) {
    if (std::exchange(node.changed, true)) return;
    changed_.push_back(&node);
  }

  // Visits the changed rows in order of key; they are unchanged then.
  template <class Visit>
  void write(const Visit& visit) {
    KeyOrder<Node>::sort(changed_);
    for (Node* node : changed_) {
      visit(node->key, node->row);
      node->changed = false;
    }
    changed_.clear();
    if (young_->size() < half_) return;
    old_ = std::exchange(young_, std::make_unique<Table>());
  }

  std::size_t size() const { return young_->size() + old_->size(); }

 private:
  // Rows of one age: they come one by one and go all at once. Open addressing, linear probing;
  // nodes and keys lie behind one another in memory.
  class Table {
   public:
    Table() : slots_(kLeast) {}
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    ~Table() {
      for (const Slot& slot : slots_) {
        if (slot.node != nullptr) slot.node->~Node();
      }
    }

    std::size_t size() const { return size_; }

    Node* find(std::string_view key, std::size_t hash) const {
      for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
        const Slot& slot = slots_[i];
        if (slot.node == nullptr) return nullptr;
        if (slot.hash == hash && slot.node->key == key) return slot.node;
      }
    }

    Node& insert(std::string_view key, std::size_t hash, Row row) {
      if ((size_ + 1) * 3 > slots_.size() * 2) grow();
      ++size_;
      char* text = static_cast<char*>(memory_.allocate(key.size(), 1));
      key.copy(text, key.size());
      Node* node = new (memory_.allocate(sizeof(Node), alignof(Node)))
          Node{std::string_view(text, key.size()), std::move(row)};
      place({hash, node});
      return *node;
    }

   private:
    struct Slot {
      std::size_t hash = 0;
      Node* node = nullptr;
    };
    static constexpr std::size_t kLeast = 64;  // a power of two, as every size

    std::size_t mask() const { return slots_.size() - 1; }

    void place(Slot slot) {
      std::size_t i = slot.hash & mask();
      while (slots_[i].node != nullptr) i = (i + 1) & mask();
      slots_[i] = slot;
    }

    void grow() {
      std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
      for (const Slot& slot : before) {
        if (slot.node != nullptr) place(slot);
      }
    }

    std::pmr::monotonic_buffer_resource memory_;
    std::vector<Slot> slots_;
    std::size_t size_ = 0;
  };

  // Two ages: what was not used while half the capacity of others was is dropped with the old.
  std::size_t half_;
  std::unique_ptr<Table> young_;
  std::unique_ptr<Table> old_;
  std::vector<Node*> changed_;
};

}  // namespace holdfast::projections
