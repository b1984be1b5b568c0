#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace holdfast::testing {

// Of a random test: HOLDFAST_SEED if set, to run again what failed, else a fresh one.
inline std::uint64_t any_seed() {
  const char* wanted = std::getenv("HOLDFAST_SEED");
  return wanted != nullptr ? std::stoull(wanted) : std::random_device{}();
}

// For SCOPED_TRACE: what to set to see the same again.
inline std::string seed_trace(std::uint64_t seed) {
  return "HOLDFAST_SEED=" + std::to_string(seed);
}

}  // namespace holdfast::testing
