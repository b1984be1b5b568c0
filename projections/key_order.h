#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::projections {

// Sorts nodes by their member `key`, byte by byte, eight bytes at a time: keys that begin alike,
// as paths do, are told apart without going through memory for every comparison. (Caching multikey
// sort: Rantala, Kärkkäinen, "Engineering parallel string sorting", section 2.)
template <class Node>
class KeyOrder {
 public:
  static void sort(std::vector<Node*>& nodes) {
    std::vector<Entry> entries;
    entries.reserve(nodes.size());
    for (Node* node : nodes) entries.push_back({0, 0, node});
    sort_from(entries, 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = entries[i].node;
  }

 private:
  struct Entry {
    std::uint64_t bytes;  // of the key at some depth, with zeros behind its end
    std::uint32_t left;   // how many of the key there are from there on; more than eight: nine
    Node* node;
    bool operator==(const Entry& other) const { return bytes == other.bytes && left == other.left; }
  };
  static constexpr std::size_t kBytes = sizeof(std::uint64_t);
  static constexpr std::uint32_t kMore = kBytes + 1;

  static Entry entry_at(Node* node, std::size_t depth) {
    const std::string_view rest = std::string_view(node->key).substr(depth);
    Entry entry{0, static_cast<std::uint32_t>(std::min<std::size_t>(rest.size(), kMore)), node};
    for (std::size_t i = 0; i < kBytes; ++i) {
      entry.bytes = entry.bytes << 8 | (i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0);
    }
    return entry;
  }

  // Requires that all keys are equal up to `depth`.
  static void sort_from(std::span<Entry> entries, std::size_t depth) {
    bool all_alike = true;
    for (Entry& entry : entries) {
      entry = entry_at(entry.node, depth);
      all_alike = all_alike && entry == entries.front();
    }
    if (!all_alike) {
      std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.left < b.left;
      });
    }
    for (std::size_t begin = 0; begin < entries.size();) {
      std::size_t end = begin + 1;
      while (end < entries.size() && entries[end] == entries[begin]) ++end;
      if (end - begin > 1 && entries[begin].left == kMore) {
        sort_from(entries.subspan(begin, end - begin), depth + kBytes);
      }
      begin = end;
    }
  }
};

}  // namespace holdfast::projections
