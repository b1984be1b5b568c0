#pragma once

#include <functional>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>

#include "ledger/domain/event.h"
#include "ledger/store/storage_error.h"

namespace holdfast::store {

// Checks, event by event from position 1, that every event names the one before it on its resource
// and of its claim, that transactions are whole and that time does not go back.
class ChainCheck {
 public:
  using Read = std::function<tl::expected<Event, StorageError>(Position)>;

  // `read` gives an earlier event, needed only where two names have the same hash.
  explicit ChainCheck(Read read) : read_(std::move(read)) {}

  tl::expected<void, StorageError> check(const Event& event);

 private:
  // Last position by hash of the name: the names themselves would not fit into memory.
  using Last = std::unordered_map<std::size_t, Position>;
  enum class Chain { resource, claim };

  tl::expected<void, StorageError> follow(const Event& event, Chain chain);
  tl::expected<void, StorageError> check_transaction(const Event& event);

  Read read_;
  Last on_resource_;
  Last of_claim_;
  Position transaction_;
  std::uint64_t transaction_left_ = 0;
  Instant recorded_at_;
};

}  // namespace holdfast::store
