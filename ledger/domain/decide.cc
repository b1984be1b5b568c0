#include "ledger/domain/decide.h"

#include <unordered_map>

#include "ledger/domain/state.h"

namespace holdfast {

namespace {

Event event_of_the_ledger(const StandingClaim& claim, Position position, Instant now,
                          Position previous_on_resource, Happening happening) {
  return Event{.position = position,
               .transaction = position,
               .transaction_count = 1,
               .recorded_at = now,
               .resource = claim.resource->path,
               .key = claim.key,
               .previous_on_resource = previous_on_resource,
               .previous_of_claim = claim.last_event,
               .actor = Actor::trusted("system"),
               .request_id = {},
               .correlation_id = {},
               .content = {},
               .available = {},
               .personal = {.holder = claim.holder->holder,
                            .cart = {},
                            .label = {},
                            .on_behalf_of = {},
                            .reason = {},
                            .source = {}},
               .happening = std::move(happening)};
}

}  // namespace

std::vector<Event> sweep(const State& state, Instant now, std::size_t limit) {
  std::vector<Event> events;
  std::unordered_map<const ResourceNode*, Position> last;
  state.lapsed().for_each([&](const StandingClaim& hold) {
    if (events.size() == limit) return false;
    const StandingClaim* earlier = state.next_to_lapse();
    if (earlier != nullptr && DueOrder::before(*earlier, hold)) return false;
    const Position position = state.head() + events.size() + 1;
    Position& previous = last.try_emplace(hold.resource, hold.resource->last_event).first->second;
    events.push_back(event_of_the_ledger(hold, position, now, previous, Expired{hold.expires_at}));
    previous = position;
    return true;
  });
  return events;
}

std::optional<Event> release_bound(const State& state, std::string_view key, Instant now) {
  const StandingClaim* hold = state.find(key);
  if (hold == nullptr || !hold->bound || !hold->live() || hold->state != ClaimState::held) {
    return std::nullopt;
  }
  Event event = event_of_the_ledger(*hold, state.head() + 1, now, hold->resource->last_event,
                                    Released{.quantity = {hold->quantity}, .remaining = {0}});
  event.personal.reason = Note::trusted("connection closed");
  return event;
}

}  // namespace holdfast
