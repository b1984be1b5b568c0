#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "ledger/domain/admission.h"
#include "ledger/domain/decide_internal.h"
#include "ledger/domain/draft.h"
#include "ledger/domain/invariant.h"
#include "ledger/domain/undo.h"

namespace holdfast {
namespace {

using internal::Case;
using internal::Decision;
using internal::refuse;
using Verdict = tl::expected<Judged, Refusal>;

// The positions written, into the answer.
void count_written(Judged& judged) {
  if (judged.events.empty()) return;
  judged.answer.first = judged.events.front().position;
  judged.answer.count = static_cast<std::uint32_t>(judged.events.size());
}

// Folds what was decided and makes the answer of the state after it. Where paths are unknown, that
// is to be taken back.
Judged settle(State& state, const Policy& policy, Decision decision) {
  Judged judged{.events = std::move(decision.events),
                .answer = {.replayed = decision.replayed, .clamped = decision.clamped},
                .unknown = std::move(decision.unknown)};
  for (const Event& event : judged.events) state.evolve(event);
  count_written(judged);
  if (!decision.claim) return judged;
  Accepted& answer = judged.answer;
  const StandingClaim* claim = state.find(decision.claim->view());
  HOLDFAST_INVARIANT(claim != nullptr, "the claim of an answer is in memory");
  answer.claim = State::snapshot(*claim);
  const auto vouched =
      decision.vouched_capacity ? decision.vouched_capacity : answer.claim->vouched_capacity;
  const PathRules rules(state, answer.claim->resource.view(), policy);
  answer.available = free_units(rules, answer.claim->span, vouched);
  if (!judged.events.empty()) judged.events.back().available = answer.available;
  return judged;
}

// The verdict on one command. What consists of many parts folds each as it goes, so that the next
// sees it, and takes all of it back if the whole is refused. So does one whose parts meet unknown
// paths, but it goes on to the end, since no verdict depends on a chain: it then knows all of them.
class Judge {
 public:
  Judge(State& state, const Command& command, const Given& given, Undo* undo = nullptr)
      : state_(state),
        command_(command),
        given_(given),
        undo_(undo),
        mark_(undo == nullptr ? 0 : undo->mark()),
        in_transaction_(undo != nullptr) {}

  template <class Single>
  Verdict operator()(const Single& action) {
    return single(action);
  }
  Verdict operator()(const Extend& extend) { return of_key_or_cart(extend); }
  Verdict operator()(const Release& release) { return of_key_or_cart(release); }
  Verdict operator()(const Commit& commit) { return of_key_or_cart(commit); }
  Verdict operator()(const HoldAny& any);
  Verdict operator()(const EndAll& end);
  Verdict operator()(const Transact& transact);

 private:
  template <class Single>
  Verdict single(const Single& action) {
    auto decided = internal::decide(Case{state_, command_, given_, in_transaction_}, action);
    if (!decided) return tl::unexpected(std::move(decided.error()));
    if (undo_ == nullptr && !decided->unknown.empty()) {
      return Judged{.unknown = std::move(decided->unknown)};
    }
    return settle(state_, given_.policy, std::move(*decided));
  }

  bool sees(const StandingClaim& claim) const { return Case{state_, command_, given_}.sees(claim); }

  template <class OfKey>
  Verdict of_key_or_cart(const OfKey& action);
  Verdict repeat_any(const HoldAny& any, const Key& prefix);
  Verdict first_with_room(const HoldAny& any, const Key& prefix);
  Hold one_of(const HoldAny& any, const Key& prefix, std::size_t number, const Path& resource);

  // Parts are folded from here on.
  void begin_parts() {
    if (undo_ != nullptr) return;
    own_undo_.emplace(state_);
    undo_ = &*own_undo_;
  }
  // Takes a part in. False: the whole ends as `refused` says.
  bool take(Verdict part, Verdict& ended);
  Verdict whole();
  Verdict end_with(Verdict ended) {
    undo_->take_back(mark_);
    return ended;
  }

  State& state_;
  const Command& command_;
  const Given& given_;
  Undo* undo_;
  std::size_t mark_;
  bool in_transaction_;
  std::optional<Undo> own_undo_;
  Judged judged_;  // of the parts so far
};

bool Judge::take(Verdict part, Verdict& ended) {
  if (!part) {
    ended = std::move(part);
    return false;
  }
  judged_.unknown.insert(judged_.unknown.end(), std::make_move_iterator(part->unknown.begin()),
                         std::make_move_iterator(part->unknown.end()));
  judged_.events.insert(judged_.events.end(), std::make_move_iterator(part->events.begin()),
                        std::make_move_iterator(part->events.end()));
  judged_.answer.parts.push_back(std::move(part->answer));
  return true;
}

// All the parts as one.
Verdict Judge::whole() {
  if (own_undo_ && !judged_.unknown.empty()) {
    return end_with(Judged{.unknown = std::move(judged_.unknown)});
  }
  count_written(judged_);
  return std::move(judged_);
}

template <class OfKey>
Verdict Judge::of_key_or_cart(const OfKey& action) {
  const auto* name = std::get_if<Cart>(&action.which);
  if (name == nullptr) return single(action);
  const CartNode* cart = state_.cart(name->view());
  if (cart == nullptr) return refuse(Reason::unknown_claim);
  std::vector<Key> keys;
  for (const auto& [key, claim] : cart->holds) {
    if (sees(*claim)) keys.push_back(claim->key);
  }
  if (keys.empty()) return refuse(Reason::unknown_claim);
  begin_parts();
  Verdict ended;
  OfKey one = action;
  for (Key& key : keys) {
    one.which = std::move(key);
    if (!take(single(one), ended)) return end_with(std::move(ended));
  }
  return whole();
}

Key numbered(const Key& prefix, std::size_t number) {
  return Key::trusted(prefix.str() + "/" + std::to_string(number));
}

Hold Judge::one_of(const HoldAny& any, const Key& prefix, std::size_t number,
                   const Path& resource) {
  return Hold{.resource = resource,
              .key = numbered(prefix, number),
              .span = any.span,
              .quantity = any.quantity,
              .holder = any.holder,
              .cart = any.cart,
              .label = any.label,
              .expiry = any.expiry,
              .capacity = {},
              .bound = any.bound};
}

Verdict Judge::operator()(const HoldAny& any) {
  const Key& prefix = any.key ? *any.key : given_.fresh_keys.front();
  const auto count = static_cast<std::size_t>(any.count);
  std::size_t known = 0;
  for (std::size_t i = 1; i <= count + 1; ++i) {
    const StandingClaim* claim = state_.find(numbered(prefix, i).view());
    if (claim == nullptr) continue;
    if (!sees(*claim)) return refuse(Reason::key_reused);
    ++known;
  }
  begin_parts();
  if (known == 0) return first_with_room(any, prefix);
  if (known != count || state_.find(numbered(prefix, count).view()) == nullptr) {
    return refuse(Refusal{.reason = Reason::key_reused, .field = "n"});
  }
  return repeat_any(any, prefix);
}

// Said again by its keys: the same holds, wherever they were found.
Verdict Judge::repeat_any(const HoldAny& any, const Key& prefix) {
  Verdict ended;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(any.count); ++i) {
    const StandingClaim& claim = *state_.find(numbered(prefix, i).view());
    const Path resource = claim.original_resource();
    if (resource == any.below || !at_or_below(resource.view(), any.below.view())) {
      return refuse(Refusal{.reason = Reason::key_reused, .field = "resource"});
    }
    if (!take(single(one_of(any, prefix, i, resource)), ended)) return end_with(std::move(ended));
  }
  judged_.answer.replayed = true;
  return whole();
}

Verdict Judge::first_with_room(const HoldAny& any, const Key& prefix) {
  const auto count = static_cast<std::size_t>(any.count);
  const std::string below = any.below.str() + "/";
  if (PathRules(state_, any.below.view(), given_.policy).is_too_early(any.span)) {
    return refuse(Reason::bad_span);
  }
  const State::DefinedResources& defined = state_.defined();
  std::size_t found = 0;
  for (auto it = defined.lower_bound(below);
       it != defined.end() && it->first.starts_with(below) && found < count; ++it) {
    const Path& path = it->second->path;
    const PathRules rules(state_, path.view(), given_.policy);
    if (units_for_a_hold(rules, any.span) < any.quantity.units) continue;
    auto part = single(one_of(any, prefix, found + 1, path));
    if (!part && part.error().reason != Reason::bad_ttl) continue;  // a holder limit
    Verdict ended;
    if (!take(std::move(part), ended)) return end_with(std::move(ended));
    ++found;
  }
  if (found == count) return whole();
  return end_with(
      refuse(Refusal{.reason = Reason::conflict, .available = static_cast<std::int64_t>(found)}));
}

// Live claims at and below a path that stand there since `begun`.
std::vector<const StandingClaim*> standing_since(const State& state, const EndAll& end,
                                                 Position begun) {
  std::vector<const StandingClaim*> found;
  const auto by_key = [](const StandingClaim* a, const StandingClaim* b) {
    return a->key < b->key;
  };
  state.visit_subtree(end.below.view(), [&](const StandingClaim& claim) {
    if (claim.placed > begun || (end.after && claim.key <= *end.after)) return true;
    found.push_back(&claim);
    // Of those to be ended any will do; a dry run goes through all of them in order.
    return end.dry_run || found.size() <= end.limit;
  });
  if (end.dry_run && found.size() > end.limit + 1) {
    const auto middle = found.begin() + static_cast<std::ptrdiff_t>(end.limit + 1);
    std::partial_sort(found.begin(), middle, found.end(), by_key);
    found.erase(middle, found.end());
  } else {
    std::sort(found.begin(), found.end(), by_key);
  }
  return found;
}

Verdict Judge::operator()(const EndAll& end) {
  const Position begun = end.begun.value_or(state_.head());
  std::vector<const StandingClaim*> claims = standing_since(state_, end, begun);
  const bool more = claims.size() > end.limit;
  if (more) claims.resize(end.limit);
  if (more) judged_.answer.begun = begun;
  if (end.dry_run) {
    for (const StandingClaim* claim : claims) {
      judged_.answer.parts.push_back(Accepted{.claim = State::snapshot(*claim)});
    }
    if (more) judged_.answer.after = claims.back()->key;
    return std::move(judged_);
  }
  begin_parts();
  Verdict ended;
  for (const StandingClaim* claim : claims) {
    Draft draft(Case{state_, command_, given_});
    draft.add_end(*claim);
    Decision decision{.claim = claim->key};
    draft.move_into(decision);
    if (!take(settle(state_, given_.policy, std::move(decision)), ended)) {
      return end_with(std::move(ended));
    }
  }
  return whole();
}

Verdict Judge::operator()(const Transact& transact) {
  begin_parts();
  std::vector<Refusal> refused;
  Given given = given_;
  for (std::size_t i = 0; i < transact.steps.size(); ++i) {
    const auto& step = transact.steps[i].command;
    Verdict part = step ? std::visit(Judge(state_, *step, given, undo_), step->action)
                        : Verdict(tl::unexpected(step.error()));
    if (step) given.fresh_keys = given.fresh_keys.subspan(fresh_keys_needed(step->action));
    if (!part) {
      refused.push_back(std::move(part.error()));
      refused.back().position = i + 1;
      continue;
    }
    for (Event& event : part->events) event.step = static_cast<std::uint32_t>(i);
    Verdict ended;
    if (!take(std::move(part), ended)) return end_with(std::move(ended));
  }
  if (refused.empty()) return whole();
  Refusal all = refused.front();
  all.positions = transact.steps.size();
  all.refused = std::move(refused);
  return end_with(refuse(std::move(all)));
}

// Leaves out of a refusal the claims that the asker does not see.
void conceal(Refusal& refusal, const Scope& scope) {
  std::erase_if(refusal.blockers,
                [&](const Claim& claim) { return !scope.covers(claim.resource.view()); });
  for (Refusal& part : refusal.refused) conceal(part, scope);
}

}  // namespace

// Whether it depends on which claims stand, be they in anybody's way or not.
bool counts_claims(const Action& action) {
  if (const auto* transact = std::get_if<Transact>(&action)) {
    return std::any_of(transact->steps.begin(), transact->steps.end(), [](const Step& step) {
      return step.command && counts_claims(step.command->action);
    });
  }
  return std::holds_alternative<Define>(action) || std::holds_alternative<Change>(action) ||
         std::holds_alternative<Retire>(action) || std::holds_alternative<EndAll>(action);
}

tl::expected<Judged, Refusal> judge(State& state, const Command& command, const Given& given) {
  if (counts_claims(command.action)) state.let_all_leave();
  Verdict verdict = std::visit(Judge(state, command, given), command.action);
  if (!verdict) {
    conceal(verdict.error(), command.asker.scope);
    return verdict;
  }
  for (Event& event : verdict->events) {
    event.transaction = verdict->answer.first;
    event.transaction_count = verdict->answer.count;
  }
  return verdict;
}

std::size_t fresh_keys_needed(const Action& action) {
  if (const auto* hold = std::get_if<Hold>(&action)) return hold->key ? 0 : 1;
  if (const auto* any = std::get_if<HoldAny>(&action)) return any->key ? 0 : 1;
  if (const auto* steal = std::get_if<Steal>(&action)) return steal->new_key ? 0 : 1;
  const auto* transact = std::get_if<Transact>(&action);
  std::size_t needed = 0;
  if (transact == nullptr) return needed;
  for (const Step& step : transact->steps) {
    if (step.command) needed += fresh_keys_needed(step.command->action);
  }
  return needed;
}

}  // namespace holdfast
