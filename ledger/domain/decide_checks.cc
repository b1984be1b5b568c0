#include <string>

#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"

namespace holdfast::internal {
namespace {

struct CheckOn {
  const Case& on;

  Decided operator()(const CheckOpen& check) const {
    const PathRules rules(on.state, check.resource.view(), on.given.policy);
    if (rules.is_unknown()) return failed("open", "unknown");
    if (rules.closed() != nullptr) return failed("open", "closed");
    return Decision{};
  }

  Decided operator()(const CheckAttribute& check) const {
    const Resource* defined = on.state.definition(check.resource.view());
    const std::string what = "attr." + check.name.str();
    if (defined == nullptr) return failed(what, "unknown");
    const Attributes& attributes = defined->definition.attributes;
    const auto found = attributes.find(check.name);
    if (found == attributes.end()) return failed(what, "none");
    if (found->second != check.value) return failed(what, found->second.str());
    return Decision{};
  }

  Decided operator()(const CheckFree& check) const {
    const PathRules rules(on.state, check.resource.view(), on.given.policy);
    const Instant now = on.given.now;
    const auto span = check.span ? check.span : Span{now, now + Duration{1}};
    const std::int64_t free = units_for_a_hold(rules, span);
    if (free < check.at_least) return failed("free", std::to_string(free));
    return Decision{};
  }

  Decided operator()(const CheckLive& check) const {
    const StandingClaim* claim = on.claim(check.key);
    if (claim == nullptr) return failed("live", "unknown");
    if (!claim->live()) return failed("live", std::string(state_name(claim->shown())));
    return Decision{};
  }

  Decided operator()(const CheckVersion& check) const {
    const StandingClaim* claim = on.claim(check.key);
    if (claim == nullptr) return failed("version", "unknown");
    if (claim->version != check.version) {
      return failed("version", std::to_string(claim->version.value));
    }
    return Decision{};
  }

  static Decided failed(std::string what, std::string actual) {
    return refuse(Refusal{
        .reason = Reason::check_failed, .what = std::move(what), .actual = std::move(actual)});
  }
};

}  // namespace

Decided decide(const Case& on, const Check& check) {
  for (const Check::Condition& condition : check.conditions) {
    if (auto judged = std::visit(CheckOn{on}, condition); !judged) return judged;
  }
  return Decision{};
}

}  // namespace holdfast::internal
