#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/domain/claim.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/event.h"
#include "ledger/domain/name_table.h"
#include "ledger/domain/resource.h"
#include "ledger/domain/standing.h"
#include "ledger/domain/text_hash.h"

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
// With a past horizon, a booking that ended longer ago leaves: it is live until it is cancelled,
// but occupies nothing and counts nowhere, is forgotten like an ended claim and recalled like one.
// Nothing can be held on a span that begins before the horizon, so nobody could meet it.
//
// One thread at a time. Claims and resources live at stable addresses.
class State {
 public:
  explicit State(std::optional<Duration> past_horizon = {});
  ~State();
  State(State&&) noexcept = default;
  State& operator=(State&&) noexcept = default;

  // Folds one event; events must come in the order of their positions. Takes what it needs of an
  // earlier fold from memory, so claims an event names must be standing or recalled.
  void evolve(const Event& event);

  // From now on everything is as of `now`, which never goes back while anything stands: what has
  // lapsed occupies nothing.
  // Takes the first `at_once` of what has lapsed out of the indexes; the rest, should very many
  // lapse at once, at the next calls, or where it is looked at, so that no call takes long.
  // Bookings that leave likewise.
  static constexpr std::size_t kLapsedAtOnce = 1'000;
  void advance(Instant now, std::size_t at_once = kLapsedAtOnce);

  // All bookings that are to leave by now.
  void let_all_leave() { leave_due_by_now(std::numeric_limits<std::size_t>::max()); }
  // Nothing can be held on a span that begins earlier; none: there is no horizon.
  std::optional<Instant> earliest_begin() const {
    return past_horizon_ ? std::optional(now_ - *past_horizon_) : std::nullopt;
  }
  std::optional<Duration> past_horizon() const { return past_horizon_; }

  Position head() const { return head_; }
  void set_head(Position head) { head_ = head; }
  std::size_t live_claims() const { return live_claims_; }      // as far as they have not left
  std::size_t lapsed_claims() const { return lapsed_claims_; }  // as lapsed() has them
  // All lapsed holds. O(those that advance() has not come to).
  std::size_t unrecorded_claims() const;
  // The same one by one, until `visit` says false.
  void visit_unrecorded(const std::function<bool(const StandingClaim&)>& visit) const;

  // -- claims
  // In memory: live, lapsed, and ended ones not yet forgotten or recalled.
  const StandingClaim* find(std::string_view key) const;
  std::optional<Claim> claim(std::string_view key) const;
  static Claim snapshot(const StandingClaim& claim);
  // Live claims at the path and below (empty: all), in no order; stops when `visit` says false.
  void visit_subtree(std::string_view path,
                     const std::function<bool(const StandingClaim&)>& visit) const;
  const HolderNode* holder(std::string_view holder) const { return holders_.find(holder); }
  // Live claims of the holder, in no order.
  void visit_holder(std::string_view holder,
                    const std::function<bool(const StandingClaim&)>& visit) const;
  // Holds past their expiry whose end is not recorded, in due order, as far as advance() has come;
  // next_to_lapse(): the first that it has not come to; null: none.
  const DueIndex& lapsed() const { return lapsed_; }
  const StandingClaim* next_to_lapse() const { return behind() ? due_.first() : nullptr; }
  std::optional<Instant> next_due() const;  // earliest expiry of a live hold
  // Live holds of the cart in order of key; null: none.
  const CartNode* cart(std::string_view cart) const;

  // Of commands to come: has the processor fetch where their names stand.
  void prefetch_claim(std::string_view key) const { claims_.prefetch(key); }
  void prefetch_resource(std::string_view path) const { resources_.prefetch(path); }

  // -- resources
  const ResourceNode* resource(std::string_view path) const;  // null: nothing in memory
  const Resource* definition(std::string_view path) const;    // null: not defined
  bool is_retired(std::string_view path) const;
  std::int64_t live_at_or_below(std::string_view path) const;
  // What is in memory of the path or else of the nearest path above it; null: nothing.
  const ResourceNode* nearest(std::string_view path) const;
  // Defined resources by path.
  using DefinedResources = std::map<std::string_view, const ResourceNode*>;
  const DefinedResources& defined() const { return defined_; }

  // -- request ids newer than the projections
  const RememberedRequest* request(std::string_view actor, std::string_view id) const;
  void remember(const Actor& actor, const RequestId& id, RememberedRequest request);

  // -- recalled by the shell before a decision, restored at start
  // True when the position of the path's last event is in memory; a path of which nothing is in
  // memory and nothing is recalled has had no event.
  bool knows_last_event(std::string_view path) const;
  Position last_event(std::string_view path) const;
  // An ended claim, or a booking that has left.
  void recall(const Claim& claim);
  void recall_last_event(const Path& path, Position last);
  // Whether the claim, wherever it is known from, has left by then: the definitions above it are
  // in memory.
  bool has_left(const Claim& claim, Instant now) const;
  // A claim that is held or committed in the projections' rows and has not left.
  void restore_claim(const Claim& standing);
  // Forgets a claim whatever its state: what it occupies is no longer known here.
  void let_go(std::string_view key);
  // none: the path was retired.
  void restore_definition(const Path& path, const std::optional<Resource>& resource);
  friend class Undo;    // ledger/domain/undo.h
  friend class Lifted;  // likewise

  // Lets go of what the projections hold at `projected`. Invalidates pointers to claims and nodes.
  void forget_through(Position projected);

 private:
  struct Forgettable {
    Position at;  // forgotten only when this position is projected
    StandingClaim* claim = nullptr;
    ResourceNode* resource = nullptr;
    std::string request = {};
  };
  struct KeyOf {
    static std::string_view of(const StandingClaim& claim) { return claim.key.view(); }
  };
  struct PathOf {
    static std::string_view of(const ResourceNode& node) { return node.path.view(); }
  };
  struct HolderOf {
    static std::string_view of(const HolderNode& node) { return node.holder.view(); }
  };
  struct CartOf {
    static std::string_view of(const CartNode& node) { return node.cart.view(); }
  };

  StandingClaim& standing(const Event& event);
  ResourceNode& node(const Path& path);
  HolderNode& holder_node(const Holder& holder);
  StandingClaim& insert(const Claim& claim);
  void assign(StandingClaim& claim, const Claim& from);
  // Into and out of every index, as the claim's state has it.
  void attach(StandingClaim& claim);
  void detach(StandingClaim& claim);
  void enter_accounts(const StandingClaim& claim, std::int64_t units);
  void enter_occupancy(StandingClaim& claim);
  void leave_occupancy(StandingClaim& claim);
  void enter_due(StandingClaim& claim);
  void leave_due(StandingClaim& claim);
  Instant leave_instant(Span span, std::string_view path) const;
  void enter_leaving(StandingClaim& claim);
  void leave_leaving(StandingClaim& claim);
  void leave_due_by_now(std::size_t limit);
  void enter_leaving_anew(ResourceNode& top);
  void enter_holder(StandingClaim& claim);
  void leave_holder(StandingClaim& claim);
  void enter_cart(StandingClaim& claim);
  void leave_cart(const StandingClaim& claim);
  void settle_on(StandingClaim& claim, ResourceNode& resource);
  void define(ResourceNode& node, std::unique_ptr<Resource> resource);
  void touch(ResourceNode& node, Position at);
  void set_quantity(StandingClaim& claim, Quantity quantity);
  void end(StandingClaim& claim, ClaimState state);
  void lapse(StandingClaim& claim);
  void lapse_due(std::size_t limit);
  bool is_due(const StandingClaim& claim) const {
    return claim.state == ClaimState::held && !claim.lapsed && claim.expires_at <= now_;
  }
  // Whether something may have lapsed that is still indexed as live.
  bool behind() const { return next_due_ <= now_; }
  void lapse_due(ResourceNode& node);
  // Of the node and those below it; the earliest expiry that is left there.
  Instant lapse_due_below(ResourceNode& top);
  void catch_up(StandingClaim& claim);
  void catch_up(ResourceNode& node);
  void offer_to_forget(StandingClaim& claim);
  void offer_to_forget(ResourceNode& node);
  bool idle(const ResourceNode& node) const;
  void forget(StandingClaim& claim);
  void forget(ResourceNode& node);

  void fold(const Event& event, const Defined& body);
  void fold(const Event& event, const Changed& body);
  void fold(const Event& event, const Closed& body);
  void fold(const Event& event, const Opened& body);
  void fold(const Event& event, const Retired& body);
  void fold(const Event& event, const Held& body);
  void fold(const Event& event, const Extended& body);
  void fold(const Event& event, const Released& body);
  void fold(const Event& event, const Committed& body);
  void fold(const Event& event, const Cancelled& body);
  void fold(const Event& event, const Stolen& body);
  void fold(const Event& event, const Moved& body);
  void fold(const Event& event, const Expired& body);

  Position head_;
  Instant now_;
  std::optional<Duration> past_horizon_;
  Instant next_due_ = kNever;
  std::size_t live_claims_ = 0;
  std::size_t lapsed_claims_ = 0;
  NameTable<StandingClaim, KeyOf> claims_;
  NameTable<ResourceNode, PathOf> resources_;
  NameTable<HolderNode, HolderOf> holders_;
  NameTable<CartNode, CartOf> carts_;
  DefinedResources defined_;
  class Undo* undo_ = nullptr;  // running
  DueIndex due_;
  DueIndex lapsed_;
  LeaveIndex leaving_;
  std::unordered_map<std::string, RememberedRequest, TextHash, std::equal_to<>> requests_;
  std::deque<Forgettable> forgettable_;
};

}  // namespace holdfast
