#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/domain/claim.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/event.h"
#include "ledger/domain/resource.h"
#include "ledger/domain/standing.h"

namespace holdfast {

// What was accepted under a request id, kept until a projection has it.
struct RememberedRequest {
  Position transaction;
  std::optional<Digest> content;
  Accepted answer;
};

// The state decisions are made from: a fold of the log's events. In memory stand the live claims
// (lapsed holds included until their end is recorded), the defined and retired resources, and
// whatever is newer than the projections. What has been folded there may be forgotten here
// (forget_through) and is recalled when a command names it.
//
// One thread at a time. Claims and resources live at stable addresses.
class State {
 public:
  State();
  ~State();
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;

  // Folds one event; events must come in the order of their positions. Takes what it needs of an
  // earlier fold from memory, so claims an event names must be standing or recalled.
  void evolve(const Event& event);

  // Takes what has lapsed at `now` out of the occupancy. Idempotent; never goes back.
  void advance(Instant now);

  Position head() const { return head_; }
  void set_head(Position head) { head_ = head; }
  std::size_t live_claims() const { return live_claims_; }
  std::size_t lapsed_claims() const { return lapsed_.size(); }

  // -- what is known
  const StandingClaim* find(std::string_view key) const;
  std::optional<Claim> claim(std::string_view key) const;  // any claim in memory, as of `advance`
  Claim snapshot(const StandingClaim& claim) const;

  const ResourceNode* resource(std::string_view path) const;  // null: nothing in memory
  const Resource* definition(std::string_view path) const;    // null: not defined (or retired)
  bool is_retired(std::string_view path) const;
  // Nearest closed resource at or above the path.
  std::optional<Path> closed_at_or_above(std::string_view path) const;
  Duration turnaround(std::string_view path) const;
  bool anything_live_at_or_below(std::string_view path) const;

  // Lapsed holds on the path that `span` meets (turnaround counted), oldest due first, then by key.
  std::vector<const StandingClaim*> lapsed_in_way(std::string_view path, Span span,
                                                  std::size_t limit) const;
  // Live claims at the path and below, in no order; stops when `visit` returns false.
  void visit_subtree(std::string_view path,
                     const std::function<bool(const StandingClaim&)>& visit) const;
  void visit_holder(std::string_view holder,
                    const std::function<bool(const StandingClaim&)>& visit) const;
  const DueIndex& lapsed() const { return lapsed_; }
  // Earliest expiry of a live hold.
  std::optional<Instant> next_due() const;

  const RememberedRequest* request(std::string_view actor, std::string_view id) const;
  void remember(const Actor& actor, const RequestId& id, RememberedRequest request);

  // -- recalled by the shell, restored at start
  bool holds_key(std::string_view key) const { return find(key) != nullptr; }
  // True when the position of the path's last event is in memory.
  bool knows_last_event(std::string_view path) const;
  Position last_event(std::string_view path) const;
  void recall(const Claim& ended);
  void recall_last_event(const Path& path, Position last);
  void restore_claim(const Claim& live);
  void restore_definition(const Path& path, const std::optional<Resource>& resource);
  void forget_through(Position projected);

 private:
  struct Impl;
};

}  // namespace holdfast
