#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/domain/ids.h"
#include "ledger/domain/text_hash.h"

namespace holdfast {

// Which connection each bound hold is bound to. Of this run only: what is bound when a server
// starts has lost its connection. Memory follows the bound holds that live. One thread.
class Bindings {
 public:
  // `lives`: whether the hold of a key still needs to be kept here.
  using Lives = std::function<bool(std::string_view key)>;

  // To the last connection that said so.
  void bind(const Key& key, std::uint64_t connection, const Lives& lives);
  // The holds bound to a connection that has ended, which are bound to nothing from now on.
  std::vector<Key> take(std::uint64_t connection);

 private:
  using Keys = std::unordered_set<std::string, TextHash, std::equal_to<>>;

  void drop_ended(const Lives& lives);
  void unbind(std::string_view key, std::uint64_t connection);

  std::unordered_map<std::uint64_t, Keys> keys_;
  std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>> connections_;
  std::size_t drop_at_ = 1'024;  // holds
};

}  // namespace holdfast
