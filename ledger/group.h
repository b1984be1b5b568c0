#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "ledger/domain/event.h"
#include "ledger/ledger.h"
#include "ledger/store/log.h"

namespace holdfast {

// What is said once everything decided before is durable.
struct OutcomesAnswer {
  Ledger::Outcomes done;
  std::vector<Outcome> outcomes;
  Position at;
  void give() { done(std::move(outcomes), at); }
};
struct ReadAnswer {
  Ledger::Deliver deliver;
  Position at;
  void give() { deliver(at); }
};
struct OtherAnswer {
  std::function<void()> say;
  void give() { say(); }
};
using Answer = std::variant<OutcomesAnswer, ReadAnswer, OtherAnswer>;

// What was decided in one go, with the answers that wait until it is durable, in the order in which
// they were decided.
struct Group {
  std::vector<Event> events;
  std::vector<Answer> answers;
  std::size_t commands = 0;
  Instant latest;                               // the last instant it was decided at
  std::optional<store::ImportProgress> import;  // none: as it was

  bool empty() const { return events.empty() && answers.empty() && !import; }
  std::size_t size() const { return std::max(commands, events.size()); }
};

}  // namespace holdfast
