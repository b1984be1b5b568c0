#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/live/filter.h"
#include "ledger/domain/text_hash.h"

namespace holdfast::api {

struct Interest {
  EventFilter filter;
  Position found = {};  // the last event that it was found for
};

// Who wants to see an event, found by its paths and its holder instead of by asking everyone: what
// it costs grows with the depth of the path and with those who see the event, not with all there
// are. One thread.
class Interests {
 public:
  // Stays where it is until it is removed.
  void add(Interest& interest);
  void remove(Interest& interest);

  // Those whose filter the event passes, each once, in no order. `found` is cleared first.
  void find(const Event& event, std::vector<Interest*>& found) const;

 private:
  using List = std::vector<Interest*>;
  using ByName = std::unordered_map<std::string, List, TextHash, std::equal_to<>>;
  static constexpr std::size_t kMaxPathBytes = 200;

  void find_on(std::string_view path, const Event& event, List& found) const;
  static void take(const List& list, const Event& event, List& found);

  ByName by_path_;    // with a resource
  ByName by_holder_;  // of those without, with a holder
  List others_;
  std::array<std::uint32_t, kMaxPathBytes + 1>
      lengths_{};  // how many of by_path_ have so many bytes
};

}  // namespace holdfast::api
