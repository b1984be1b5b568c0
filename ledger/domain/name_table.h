#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/domain/text_hash.h"

namespace holdfast {

// Owns nodes that are found by the name they carry: a hash table of pointers, open addressing with
// linear probing and backward-shift deletion (Knuth 6.4, algorithm R), so that a lookup of an
// absent name, the common case of a new key, touches one cache line as a rule.
//
// Name: static std::string_view of(const T&), constant while the node is in the table.
template <class T, class Name>
class NameTable {
 public:
  NameTable() = default;
  NameTable(NameTable&& other) noexcept
      : slots_(std::exchange(other.slots_, {})), size_(std::exchange(other.size_, 0)) {}
  NameTable& operator=(NameTable&& other) noexcept {
    std::swap(slots_, other.slots_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~NameTable() {
    for (const Slot& slot : slots_) delete slot.node;
  }

  std::size_t size() const { return size_; }

  T* find(std::string_view name) const {
    if (size_ == 0) return nullptr;
    const std::size_t hash = TextHash{}(name);
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.node == nullptr) return nullptr;
      if (slot.hash == hash && Name::of(*slot.node) == name) return slot.node;
    }
  }

  // Has the processor fetch what find() will look at.
  void prefetch(std::string_view name) const {
    if (size_ != 0) __builtin_prefetch(&slots_[TextHash{}(name)&mask()]);
  }

  // Requires that the name is not in the table.
  T& insert(std::unique_ptr<T> node) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    ++size_;
    T* raw = node.release();
    place({TextHash{}(Name::of(*raw)), raw});
    return *raw;
  }

  // Requires that the node is in the table; deletes it.
  void erase(T& node) {
    std::size_t hole = TextHash{}(Name::of(node)) & mask();
    while (slots_[hole].node != &node) hole = (hole + 1) & mask();
    for (std::size_t i = (hole + 1) & mask(); slots_[i].node != nullptr; i = (i + 1) & mask()) {
      const std::size_t home = slots_[i].hash & mask();
      // The entry may move into the hole if its home does not lie behind the hole.
      if (((i - home) & mask()) >= ((i - hole) & mask())) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = {};
    --size_;
    delete &node;
  }

  // In no order, until `visit` returns false.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.node != nullptr && !visit(*slot.node)) return;
    }
  }

 private:
  struct Slot {
    std::size_t hash = 0;
    T* node = nullptr;
  };

  std::size_t mask() const { return slots_.size() - 1; }

  void place(Slot slot) {
    std::size_t i = slot.hash & mask();
    while (slots_[i].node != nullptr) i = (i + 1) & mask();
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 16 : slots_.size() * 2));
    for (const Slot& slot : old) {
      if (slot.node != nullptr) place(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace holdfast
