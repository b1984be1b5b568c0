#pragma once

#include "ledger/domain/decide.h"
#include "ledger/domain/state.h"

// What stands behind judge(): an overload a command. Those on one claim or resource decide() and
// leave the folding to judge(); those of many fold as they go (judge.cc).
namespace holdfast::internal {

// Accepted: the events to append (none when nothing changes) and what the answer says.
struct Decision {
  std::vector<Event> events = {};
  std::optional<Key> claim = {};  // the claim that the answer shows
  bool replayed = false;
  bool clamped = false;
  std::optional<Quantity> vouched_capacity = {};  // of this call, for `available`
  std::vector<Path> unknown = {};                 // as in Judged
};

using Decided = tl::expected<Decision, Refusal>;

// What every overload is handed.
struct Case {
  const State& state;
  const Command& command;
  const Given& given;
  bool in_transaction = false;

  Holder holder_or_actor(const std::optional<Holder>& holder) const {
    return holder ? *holder : Holder::trusted(command.asker.actor.str());
  }
  // As the asker sees it: none outside his scope.
  const StandingClaim* claim(const Key& key) const {
    const StandingClaim* found = state.find(key.view());
    return found != nullptr && sees(*found) ? found : nullptr;
  }
  bool sees(const StandingClaim& claim) const {
    return command.asker.scope.covers(claim.resource->path.view());
  }
  const Key& key_or_fresh(const std::optional<Key>& key) const {
    return key ? *key : given.fresh_keys.front();
  }
};

inline tl::unexpected<Refusal> refuse(Refusal refusal) {
  return tl::unexpected<Refusal>(std::move(refusal));
}
inline tl::unexpected<Refusal> refuse(Reason reason) { return refuse(Refusal{.reason = reason}); }

inline tl::unexpected<Refusal> key_in_use() {
  return refuse(Refusal{.reason = Reason::key_reused, .field = "key"});
}
inline Decision answer_with(const StandingClaim& claim) { return Decision{.claim = claim.key}; }

Decided decide(const Case& on, const Define& define);
Decided decide(const Case& on, const Change& change);
Decided decide(const Case& on, const Close& close);
Decided decide(const Case& on, const Open& open);
Decided decide(const Case& on, const Retire& retire);
Decided decide(const Case& on, const ChangeWindow& change);
Decided decide(const Case& on, const Hold& hold);
Decided decide(const Case& on, const Extend& extend);
Decided decide(const Case& on, const Release& release);
Decided decide(const Case& on, const Commit& commit);
Decided decide(const Case& on, const Cancel& cancel);
Decided decide(const Case& on, const Steal& steal);
Decided decide(const Case& on, const Move& move);
Decided decide(const Case& on, const Check& check);

// The claim a command names, its holder checked.
tl::expected<const StandingClaim*, Refusal> named(const Case& on, const Key& key,
                                                  const std::optional<Holder>& holder);
bool is_stale(const StandingClaim& claim, const std::optional<Position>& version);
tl::unexpected<Refusal> stale(const StandingClaim& claim);
// The refusal of a command on a claim that has ended; none if it lives.
std::optional<Refusal> not_live(const StandingClaim& claim, Instant now);

}  // namespace holdfast::internal
