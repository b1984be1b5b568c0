#include "ledger/bindings.h"

#include <algorithm>

namespace holdfast {

void Bindings::bind(const Key& key, std::uint64_t connection, const Lives& lives) {
  const auto [bound, added] = connections_.try_emplace(key.str(), connection);
  if (!added) unbind(key.view(), bound->second);
  bound->second = connection;
  keys_[connection].insert(key.str());
  if (connections_.size() >= drop_at_) drop_ended(lives);
}

std::vector<Key> Bindings::take(std::uint64_t connection) {
  std::vector<Key> taken;
  const auto found = keys_.find(connection);
  if (found == keys_.end()) return taken;
  for (const std::string& key : found->second) {
    taken.push_back(Key::trusted(key));
    connections_.erase(key);
  }
  keys_.erase(found);
  std::sort(taken.begin(), taken.end());
  return taken;
}

void Bindings::drop_ended(const Lives& lives) {
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (lives(it->first)) {
      ++it;
    } else {
      unbind(it->first, it->second);
      it = connections_.erase(it);
    }
  }
  drop_at_ = std::max<std::size_t>(1'024, 2 * connections_.size());
}

void Bindings::unbind(std::string_view key, std::uint64_t connection) {
  const auto keys = keys_.find(connection);
  const auto found = keys->second.find(key);
  keys->second.erase(found);
  if (keys->second.empty()) keys_.erase(keys);
}

}  // namespace holdfast
