#include "ledger/domain/undo.h"

#include <utility>

#include "ledger/domain/invariant.h"

namespace holdfast {
namespace {

bool is_of_claim(const Event& event) { return event.key.has_value(); }

}  // namespace

Undo::Undo(State& state) : state_(state) {
  HOLDFAST_INVARIANT(state.undo_ == nullptr, "an undo at a time");
  state_.undo_ = this;
}

Undo::~Undo() { state_.undo_ = nullptr; }

void Undo::note(const Event& event) {
  Before before{.head = state_.head_,
                .forgettable = state_.forgettable_.size(),
                .claim = {},
                .resources = {}};
  if (is_of_claim(event)) {
    ClaimBefore& claim = before.claim.emplace(ClaimBefore{.key = *event.key, .claim = {}});
    if (const StandingClaim* found = state_.find(event.key->view())) {
      claim.claim = State::snapshot(*found);
      claim.lapsed = found->lapsed;
      claim.past = found->past;
    }
  }
  note(event.resource, event, before);
  if (const Path* second = second_resource(event)) note(*second, event, before);
  befores_.push_back(std::move(before));
}

void Undo::note(const Path& path, const Event& event, Before& before) {
  ResourceNode& node = state_.node(path);
  ResourceBefore& noted = before.resources.emplace_back(ResourceBefore{
      .node = &node,
      .last_event = node.last_event,
      .knows_last = node.knows_last,
      .redefined = !is_of_claim(event),
      .retired = node.retired,
      .defined = {},
  });
  if (noted.redefined && node.defined) noted.defined = std::make_unique<Resource>(*node.defined);
}

void Undo::take_back(std::size_t mark) {
  for (; befores_.size() > mark; befores_.pop_back()) {
    Before& before = befores_.back();
    auto& forgettable = state_.forgettable_;
    for (; forgettable.size() > before.forgettable; forgettable.pop_back()) {
      const auto& last = forgettable.back();
      if (last.claim != nullptr) last.claim->forgettable = false;
      if (last.resource != nullptr) last.resource->forgettable = false;
    }
    if (before.claim) put_back(*before.claim);
    for (ResourceBefore& resource : before.resources) put_back(resource);
    state_.head_ = before.head;
  }
}

void Undo::put_back(const ClaimBefore& before) {
  StandingClaim* claim = state_.claims_.find(before.key.view());
  HOLDFAST_INVARIANT(claim != nullptr, "a claim that was changed is in memory");
  state_.detach(*claim);
  if (!before.claim) {
    state_.forget(*claim);  // and with it, later, its resource
    return;
  }
  ResourceNode& resource = state_.node(before.claim->resource);
  if (&resource != claim->resource) state_.settle_on(*claim, resource);
  state_.assign(*claim, *before.claim);
  claim->lapsed = before.lapsed;
  claim->past = before.past;
  if (before.lapsed) claim->state = ClaimState::held;
  state_.attach(*claim);
}

void Undo::put_back(ResourceBefore& before) {
  ResourceNode& node = *before.node;
  node.last_event = before.last_event;
  node.knows_last = before.knows_last;
  if (before.redefined) {
    node.retired = before.retired;
    state_.define(node, std::move(before.defined));
  }
  state_.offer_to_forget(node);
}

Lifted::Lifted(const State& state, const StandingClaim& claim)
    // The claim is the state's own, and back in its place when this ends.
    : state_(const_cast<State&>(state)), claim_(const_cast<StandingClaim&>(claim)) {
  if (claim_.live() && !claim_.past) state_.leave_occupancy(claim_);
}

Lifted::~Lifted() {
  if (claim_.live() && !claim_.past) state_.enter_occupancy(claim_);
}

}  // namespace holdfast
