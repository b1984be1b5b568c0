#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "api/client.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/zipf.h"

namespace holdfast::tools {

// Makes the requests of a run, under names that no earlier run has used.
class Workload {
 public:
  explicit Workload(const BenchOptions& options);

  // Requests that come one after the other.
  struct Lane {
    std::uint64_t operations() const { return commands + queries; }

    unsigned commands = 0;          // in the request
    unsigned queries = 0;           // likewise; a request has only either
    std::vector<std::string> keys;  // of the commands, in order
    unsigned step = 0;              // of the claims' life
    unsigned turn = 0;              // of a mixed load
  };

  // Path of a part of the tree, numbered from 0.
  std::string part(std::uint64_t number) const;
  // The next of the requests to be accepted, in order, before the measurement begins.
  std::optional<api::Request> preparation();
  // The lane's next request, of at most so many commands.
  api::Request next(Lane& lane, std::uint64_t at_most);

 private:
  std::string holder_of(std::string_view key) const;
  std::string pool_path(std::uint64_t number) const;
  std::string standing_key(std::uint64_t number) const;
  void fill_hold(wire::Hold::Builder hold, const std::string& key);
  api::Request define_pools(std::uint64_t count);
  api::Request standing_claims(std::uint64_t count);
  void name_keys(Lane& lane, std::uint64_t count);
  api::Request holds(Lane& lane, std::uint64_t count);
  api::Request transactions(Lane& lane, std::uint64_t count);
  api::Request life(Lane& lane, std::uint64_t at_most);
  api::Request mixed(Lane& lane, std::uint64_t at_most);
  api::Request queries(Lane& lane, std::uint64_t count,
                       void (Workload::*fill)(wire::Query::Builder));
  void fill_lookup(wire::Query::Builder query);
  void fill_availability(wire::Query::Builder query);
  void fill_history(wire::Query::Builder query);

  const BenchOptions options_;
  std::mt19937_64 random_;
  std::string run_;
  std::uint64_t last_ = 0;      // key
  std::uint64_t defined_ = 0;   // pools
  std::uint64_t standing_ = 0;  // claims
  const Zipf some_pool_;
  const Zipf some_claim_;
};

}  // namespace holdfast::tools
