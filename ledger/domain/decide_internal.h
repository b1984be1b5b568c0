#pragma once

#include "ledger/domain/decide.h"
#include "ledger/domain/state.h"

// The overloads behind decide(), one a command.
namespace holdfast::internal {

using Decided = tl::expected<Decision, Refusal>;

// What every overload is handed.
struct Case {
  const State& state;
  const Command& command;
  const Given& given;
};

inline tl::unexpected<Refusal> refuse(Refusal refusal) {
  return tl::unexpected<Refusal>(std::move(refusal));
}
inline tl::unexpected<Refusal> refuse(Reason reason) { return refuse(Refusal{.reason = reason}); }

Decided decide(const Case& on, const Define& define);
Decided decide(const Case& on, const Change& change);
Decided decide(const Case& on, const Close& close);
Decided decide(const Case& on, const Open& open);
Decided decide(const Case& on, const Retire& retire);
Decided decide(const Case& on, const Hold& hold);
Decided decide(const Case& on, const Extend& extend);
Decided decide(const Case& on, const Release& release);
Decided decide(const Case& on, const Commit& commit);
Decided decide(const Case& on, const Cancel& cancel);
Decided decide(const Case& on, const Steal& steal);

}  // namespace holdfast::internal
