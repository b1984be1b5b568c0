#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace holdfast::projections {

// Which rows may be there, in memory: most of what is asked for is new, and RocksDB needs
// microseconds to say that it has no such row. A blocked Bloom filter (Putze, Sanders, Singler,
// "Cache-, hash- and space-efficient Bloom filters", 2007) of 12 bits a row, one cache line a
// question and layer; a layer that is full is followed by one twice as large. A row that is there
// is never denied, one that is not about once in two hundred times not.
//
// Any thread. What was added before an answer is asked for, as the caller's own locks have it, is
// in the answer.
class RowFilter {
 public:
  // Makes room for so many rows at first.
  explicit RowFilter(std::size_t rows);
  ~RowFilter();

  void add(std::uint64_t row);
  // Until complete() has been called nothing is denied.
  bool may_have(std::uint64_t row) const;
  // Every row that was there before the filter has been added.
  void complete() { complete_.store(true, std::memory_order_release); }

  // `family` tells apart rows of the same key.
  static std::uint64_t row(std::uint8_t family, std::string_view key);

 private:
  class Layer;
  static constexpr std::size_t kMostLayers = 24;

  Layer& last() const;
  void grow(const Layer& full);

  std::mutex growing_;
  std::array<std::unique_ptr<Layer>, kMostLayers> layers_;
  std::atomic<std::size_t> used_ = 0;  // of layers_, from the first on
  std::atomic<bool> complete_ = false;
};

}  // namespace holdfast::projections
