#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "api/client.h"
#include "tools/bench/bench_options.h"

namespace holdfast::tools {

// Makes the requests of a run, under names that no earlier run has used.
class Workload {
 public:
  explicit Workload(const BenchOptions& options);

  // Requests that come one after the other.
  struct Lane {
    std::vector<std::string> keys;  // of the request's commands, in order
    unsigned step = 0;
  };

  // Path of a part of the tree, numbered from 0.
  std::string part(std::uint64_t number) const;
  // To be accepted before the measurement begins.
  std::vector<api::Request> preparation();
  // The lane's next request, of at most so many commands.
  api::Request next(Lane& lane, std::uint64_t at_most);

 private:
  std::string holder_of(const std::string& key) const;
  void name_keys(Lane& lane, std::uint64_t count);
  void fill_hold(wire::Hold::Builder hold, const std::string& key);
  api::Request holds(Lane& lane, std::uint64_t at_most);
  api::Request transactions(Lane& lane, std::uint64_t at_most);
  api::Request life(Lane& lane, std::uint64_t at_most);
  api::Request lookup(Lane& lane);

  const BenchOptions options_;
  std::mt19937_64 random_;
  std::string run_;
  std::uint64_t last_ = 0;
  std::vector<std::string> known_keys_;  // lookup
};

}  // namespace holdfast::tools
