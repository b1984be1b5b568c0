#pragma once

#include <utility>

#include "ledger/domain/command.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/event.h"
#include "ledger/domain/state.h"

namespace holdfast {

// The events of one decision: positions, chains and envelope. Which transaction they belong to is
// known only when the whole command is judged.
class Draft {
 public:
  explicit Draft(const internal::Case& on)
      : state_(on.state), command_(on.command), given_(on.given) {}

  // An event of the resource itself.
  void add(const Path& resource, Happening happening) {
    Event& event = append(resource, std::move(happening));
    complete(event);
  }

  // An event of a claim that stands, or that is recalled.
  Event& add(const StandingClaim& claim, Happening happening) {
    Event& event = append(claim.resource->path, std::move(happening));
    complete(event);
    event.key = claim.key;
    event.previous_of_claim = claim.last_event;
    event.personal.holder = claim.holder->holder;
    return event;
  }

  // The end of a live claim by an operator: a hold is released, a booking cancelled, whole.
  void add_end(const StandingClaim& claim) {
    const Quantity all{claim.quantity};
    if (claim.state == ClaimState::held) {
      add(claim, Released{.quantity = all, .remaining = {0}});
    } else {
      add(claim, Cancelled{.quantity = all, .remaining = {0}});
    }
  }

  // The first event of a claim.
  Event& add_held(const Path& resource, const Key& key, const Holder& holder, Happening held) {
    Event& event = append(resource, std::move(held));
    complete(event);
    event.key = key;
    event.personal.holder = holder;
    return event;
  }

  // An event of a claim whose first event is the one before, in this draft.
  Event& add_next(const Path& resource, const Key& key, const Holder& holder, Happening happening) {
    const Position first = events_.back().position;
    Event& event = add_held(resource, key, holder, std::move(happening));
    event.previous_of_claim = first;
    return event;
  }

  // The end of a lapsed hold, recorded by the ledger itself.
  void add_expired(const StandingClaim& claim) {
    Event& event = append(claim.resource->path, Expired{claim.expires_at});
    event.key = claim.key;
    event.previous_of_claim = claim.last_event;
    event.personal.holder = claim.holder->holder;
  }

  // A claim's move: an event of both resources.
  void add_moved(const StandingClaim& claim, Moved moved) {
    if (moved.to) moved.previous_on_to = last_event(*moved.to);
    add(claim, std::move(moved));
  }

  // Into the decision, with what has to be recalled before these events can be right.
  void move_into(internal::Decision& decision) {
    decision.events = std::move(events_);
    decision.unknown = std::move(unknown_);
  }

 private:
  Position last_event(const Path& resource) {
    for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
      if (event->resource == resource) return event->position;
    }
    if (state_.resource(resource.view()) != nullptr && !state_.knows_last_event(resource.view())) {
      unknown_.push_back(resource);
    }
    return state_.last_event(resource.view());
  }

  Event& append(const Path& resource, Happening happening) {
    const Position previous = last_event(resource);
    return events_.emplace_back(Event{.position = state_.head() + events_.size() + 1,
                                      .transaction = {},
                                      .transaction_count = 0,
                                      .recorded_at = given_.now,
                                      .resource = resource,
                                      .key = {},
                                      .previous_on_resource = previous,
                                      .previous_of_claim = {},
                                      .actor = system_actor(),
                                      .request_id = {},
                                      .correlation_id = {},
                                      .content = {},
                                      .available = {},
                                      .personal = {},
                                      .happening = std::move(happening)});
  }

  void complete(Event& event) const {
    const Asker& asker = command_.asker;
    event.actor = asker.actor;
    event.request_id = asker.request_id;
    event.correlation_id = asker.correlation_id;
    event.content = command_.content;
    event.personal.on_behalf_of = asker.on_behalf_of;
    event.personal.reason = asker.reason;
    event.personal.source = asker.source;
  }

  static const Actor& system_actor() {
    static const Actor kSystem = Actor::trusted("system");
    return kSystem;
  }

  const State& state_;
  const Command& command_;
  const Given& given_;
  std::vector<Event> events_;
  std::vector<Path> unknown_;
};

}  // namespace holdfast
