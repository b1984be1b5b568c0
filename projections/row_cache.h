#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/domain/ids.h"

namespace holdfast::projections {

// Rows in memory in front of their family. Changed rows stay until they are written; of the
// others about the last `capacity` used are kept. Pointers are good until the next write().
template <class Row>
class RowCache {
 public:
  struct Entry {
    Row row;
    bool changed = false;
  };
  using Node = std::pair<const std::string, Entry>;

  explicit RowCache(std::size_t capacity) : half_(capacity / 2) {}

  Node* find(std::string_view key) {
    if (const auto it = young_.find(key); it != young_.end()) return &*it;
    const auto it = old_.find(key);
    if (it == old_.end()) return nullptr;
    return &*young_.insert(old_.extract(it)).position;
  }

  // Requires that the key is not there.
  Node& insert(std::string_view key, Row row) {
    return *young_.emplace(std::string(key), Entry{std::move(row)}).first;
  }

  void change(Node& node) {
    if (std::exchange(node.second.changed, true)) return;
    changed_.push_back(&node);
  }

  // Visits the changed rows in order of key; they are unchanged then.
  template <class Visit>
  void write(const Visit& visit) {
    std::sort(changed_.begin(), changed_.end(),
              [](const Node* a, const Node* b) { return a->first < b->first; });
    for (Node* node : changed_) {
      visit(node->first, node->second.row);
      node->second.changed = false;
    }
    changed_.clear();
    if (young_.size() < half_) return;
    old_ = std::move(young_);
    young_ = {};
  }

  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  // Two ages: what was not used while half the capacity of others was is dropped with the old.
  using Map = std::unordered_map<std::string, Entry, TextHash, std::equal_to<>>;
  std::size_t half_;
  Map young_;
  Map old_;
  std::vector<Node*> changed_;
};

}  // namespace holdfast::projections
