#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace holdfast::tools {

// Counts durations in buckets whose width grows with the value: 64 to each power of two, so that a
// percentile is at most 1.6 % too large. Fixed memory.
class Histogram {
 public:
  void record(std::uint64_t value) {
    ++counts_[bucket(value)];
    ++total_;
    if (value > largest_) largest_ = value;
  }

  void clear() { *this = {}; }

  std::uint64_t total() const { return total_; }
  std::uint64_t largest() const { return largest_; }

  // The value that `share` of what was recorded does not exceed; 0 when there is nothing.
  std::uint64_t percentile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted || (seen == total_ && total_ > 0)) {
        const std::uint64_t end = largest_in(i);
        return end < largest_ ? end : largest_;
      }
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr std::uint64_t kPerPower = 1u << kBits;

  // Below kPerPower a bucket a value; above, the leading bits after the first one choose.
  static std::size_t bucket(std::uint64_t value) {
    if (value < kPerPower) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kBits;
    return (shift + 1) * kPerPower + ((value >> shift) - kPerPower);
  }
  static std::uint64_t largest_in(std::size_t bucket) {
    if (bucket < kPerPower) return bucket;
    const std::uint64_t shift = bucket / kPerPower - 1;
    return ((bucket % kPerPower + kPerPower + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (64 - kBits + 1) * kPerPower> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t largest_ = 0;
};

}  // namespace holdfast::tools
