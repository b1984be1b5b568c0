#include "projections/row_filter.h"

#include <algorithm>

#include "ledger/domain/text_hash.h"

namespace holdfast::projections {
namespace {

constexpr std::size_t kBitsOfARow = 12;
constexpr std::size_t kWords = 8;   // of a block: a cache line
constexpr std::size_t kProbes = 6;  // bits that a row has in its block
constexpr std::size_t kBlockBits = kWords * 64;

constexpr std::uint64_t mixed(std::uint64_t hash) {
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

}  // namespace

class RowFilter::Layer {
 public:
  explicit Layer(std::size_t rows)
      : capacity_(rows), blocks_((rows * kBitsOfARow + kBlockBits - 1) / kBlockBits) {}

  std::size_t capacity() const { return capacity_; }

  // True: it was the one that filled the layer.
  bool add(std::uint64_t row) {
    Block& block = block_of(row);
    visit_bits(row, [&](std::size_t word, std::uint64_t bit) {
      if ((block.words[word].load(std::memory_order_relaxed) & bit) == 0) {
        block.words[word].fetch_or(bit, std::memory_order_relaxed);
      }
      return true;
    });
    return rows_.fetch_add(1, std::memory_order_relaxed) + 1 == capacity_;
  }

  bool may_have(std::uint64_t row) const {
    const Block& block = block_of(row);
    return visit_bits(row, [&](std::size_t word, std::uint64_t bit) {
      return (block.words[word].load(std::memory_order_relaxed) & bit) != 0;
    });
  }

 private:
  struct alignas(kWords * sizeof(std::uint64_t)) Block {
    std::array<std::atomic<std::uint64_t>, kWords> words = {};
  };

  Block& block_of(std::uint64_t row) { return blocks_[index_of(row)]; }
  const Block& block_of(std::uint64_t row) const { return blocks_[index_of(row)]; }
  std::size_t index_of(std::uint64_t row) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(row) * blocks_.size() >> 64);
  }

  template <class Visit>
  static bool visit_bits(std::uint64_t row, const Visit& visit) {
    std::uint64_t bits = mixed(row);
    for (std::size_t i = 0; i < kProbes; ++i, bits >>= 9) {
      if (!visit(bits % kWords, std::uint64_t{1} << (bits / kWords % 64))) return false;
    }
    return true;
  }

  std::size_t capacity_;
  std::vector<Block> blocks_;
  std::atomic<std::size_t> rows_ = 0;
};

RowFilter::RowFilter(std::size_t rows) {
  layers_[0] = std::make_unique<Layer>(std::max<std::size_t>(rows, kBlockBits));
  used_.store(1, std::memory_order_release);
}

RowFilter::~RowFilter() = default;

RowFilter::Layer& RowFilter::last() const {
  return *layers_[used_.load(std::memory_order_acquire) - 1];
}

void RowFilter::add(std::uint64_t row) {
  Layer& layer = last();
  if (layer.may_have(row)) return;
  if (layer.add(row)) grow(layer);
}

void RowFilter::grow(const Layer& full) {
  const std::lock_guard alone(growing_);
  const std::size_t used = used_.load(std::memory_order_relaxed);
  if (used == kMostLayers) return;  // of what comes, more is let through
  layers_[used] = std::make_unique<Layer>(2 * full.capacity());
  used_.store(used + 1, std::memory_order_release);
}

bool RowFilter::may_have(std::uint64_t row) const {
  if (!complete_.load(std::memory_order_acquire)) return true;
  for (std::size_t i = used_.load(std::memory_order_acquire); i > 0; --i) {
    if (layers_[i - 1]->may_have(row)) return true;
  }
  return false;
}

std::uint64_t RowFilter::row(std::uint8_t family, std::string_view key) {
  return mixed(TextHash{}(key) + family * 0xd6e8feb86659fd93);
}

}  // namespace holdfast::projections
