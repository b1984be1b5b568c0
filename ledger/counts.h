#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "ledger/domain/command.h"
#include "ledger/domain/refusal.h"

// What a ledger has done since it was opened, for whoever watches it. Each number has one thread
// that adds to it, or adds at once from several; any thread reads. Two numbers read one after the
// other may be of different moments.
namespace holdfast {

class Counter {
 public:
  void add(std::uint64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// How many values were at most so large: by upper bounds that grow by doubling, and beyond.
template <std::uint64_t kFirst, std::size_t kCount>
class Doubling {
 public:
  static constexpr std::size_t kBuckets = kCount;
  static constexpr std::uint64_t bound(std::size_t bucket) { return kFirst << bucket; }

  void add(std::uint64_t value) {
    std::size_t bucket = 0;
    while (bucket < kCount && value > bound(bucket)) ++bucket;
    counts_[bucket].add();
    sum_.add(value);
  }
  // Of the values in this bucket alone; `kBuckets`: of those beyond.
  std::uint64_t count(std::size_t bucket) const { return counts_[bucket].get(); }
  std::uint64_t sum() const { return sum_.get(); }

 private:
  std::array<Counter, kCount + 1> counts_;
  Counter sum_;
};

// What became of a command.
enum class Told : std::uint8_t { accepted, unchanged, replayed, refused };
inline constexpr std::size_t kTold = static_cast<std::size_t>(Told::refused) + 1;

struct LedgerCounts {
  // By Action, and last those that had no form to be told by.
  static constexpr std::size_t kCommands = std::variant_size_v<Action> + 1;
  static constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::check_failed) + 1;

  std::array<std::array<Counter, kTold>, kCommands> commands;
  std::array<Counter, kReasons> refusals;
  Counter reads;                 // queries that began with the writer's state
  Doubling<1, 14> group_events;  // of each synced write
  Doubling<128, 14> write_us;    // how long it took, hashing and watermark included
};

}  // namespace holdfast
