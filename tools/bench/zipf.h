#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace holdfast::tools {

// Chooses numbers below `count`, number k with a weight of (k + 1)^-skew: Zipf's law. Eight bytes a
// number, unless skew is 0.
class Zipf {
 public:
  Zipf(std::uint64_t count, double skew) : count_(count) {
    if (skew == 0) return;
    upto_.reserve(count);
    double sum = 0;
    for (std::uint64_t k = 1; k <= count; ++k) {
      upto_.push_back(sum += std::pow(static_cast<double>(k), -skew));
    }
  }

  // Precondition: count > 0.
  std::uint64_t operator()(std::mt19937_64& random) const {
    if (upto_.empty()) return std::uniform_int_distribution<std::uint64_t>(0, count_ - 1)(random);
    const double at = std::uniform_real_distribution<double>(0, upto_.back())(random);
    const auto found = std::upper_bound(upto_.begin(), upto_.end(), at);
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(found - upto_.begin()), count_ - 1);
  }

 private:
  const std::uint64_t count_;
  std::vector<double> upto_;  // sum of the weights up to and with each number
};

}  // namespace holdfast::tools
