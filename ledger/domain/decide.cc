#include "ledger/domain/decide.h"

#include <unordered_map>

#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/invariant.h"
#include "ledger/domain/state.h"

namespace holdfast {

tl::expected<Decision, Refusal> decide(const State& state, const Command& command,
                                       const Given& given) {
  const internal::Case on{state, command, given};
  return std::visit([&](const auto& action) { return internal::decide(on, action); },
                    command.action);
}

std::vector<Event> sweep(const State& state, Instant now, std::size_t limit) {
  std::vector<Event> events;
  std::unordered_map<const ResourceNode*, Position> last;
  state.lapsed().for_each([&](const StandingClaim& hold) {
    if (events.size() == limit) return false;
    const Position position = state.head() + events.size() + 1;
    Position& previous = last.try_emplace(hold.resource, hold.resource->last_event).first->second;
    events.push_back(Event{.position = position,
                           .transaction = position,
                           .transaction_count = 1,
                           .recorded_at = now,
                           .resource = hold.resource->path,
                           .key = hold.key,
                           .previous_on_resource = previous,
                           .previous_of_claim = hold.last_event,
                           .actor = Actor::trusted("system"),
                           .request_id = {},
                           .correlation_id = {},
                           .content = {},
                           .available = {},
                           .personal = {.holder = hold.holder->holder,
                                        .cart = {},
                                        .label = {},
                                        .on_behalf_of = {},
                                        .reason = {},
                                        .source = {}},
                           .happening = Expired{.due = hold.expires_at}});
    previous = position;
    return true;
  });
  return events;
}

Accepted settle(State& state, Decision& decision) {
  for (const Event& event : decision.events) state.evolve(event);
  Accepted accepted{.first = {},
                    .replayed = decision.replayed,
                    .clamped = decision.clamped,
                    .claim = {},
                    .available = {}};
  if (!decision.events.empty()) {
    accepted.first = decision.events.front().position;
    accepted.count = static_cast<std::uint32_t>(decision.events.size());
  }
  if (!decision.claim) return accepted;
  const StandingClaim* claim = state.find(decision.claim->view());
  HOLDFAST_INVARIANT(claim != nullptr, "the claim of an answer is in memory");
  accepted.claim = State::snapshot(*claim);
  const auto vouched =
      decision.vouched_capacity ? decision.vouched_capacity : accepted.claim->vouched_capacity;
  accepted.available =
      free_over(state, accepted.claim->resource.view(), accepted.claim->span, vouched);
  if (!decision.events.empty()) decision.events.back().available = accepted.available;
  return accepted;
}

}  // namespace holdfast
