#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/domain/avl.h"
#include "ledger/domain/claim.h"
#include "ledger/domain/occupancy.h"
#include "ledger/domain/resource.h"

// The nodes State is made of: claims, resources and holders in memory. Read by decide and the
// queries, changed by State alone.
namespace holdfast {

struct ResourceNode;
struct HolderNode;

// What few claims have.
struct ClaimExtras {
  std::optional<Cart> cart;
  std::optional<Note> label;
  std::optional<Quantity> vouched_capacity;
  std::optional<Key> stolen_from;
  std::optional<Key> stolen_by;
  std::optional<Placement> original;  // where it was held, once it has moved
};

struct StandingClaim {
  Key key;
  ResourceNode* resource;
  HolderNode* holder;
  Span span = kAllOfTime;  // that: the claim has none
  std::int64_t quantity = 0;
  std::int64_t original_quantity = 0;
  Instant held_at = {};
  Instant expires_at = {};
  Position version = {};
  Position last_event = {};
  Position placed = {};
  std::unique_ptr<ClaimExtras> extras = {};
  std::int32_t extensions = 0;
  ClaimState state = ClaimState::held;
  bool bound = false;
  bool lapsed = false;       // a hold past its expiry whose end is not recorded yet
  bool past = false;         // a booking that has left: live, but in no index any more
  bool forgettable = false;  // waits in State's queue of what may be forgotten

  // On its resource by (from, key), while live; in due order, of the resource and of all, while
  // held (live ones in one index, lapsed ones in another).
  AvlLinks<StandingClaim> by_span = {};
  Instant latest_until = {};  // of the subtree by_span
  AvlLinks<StandingClaim> due_on_resource = {};
  AvlLinks<StandingClaim> due_of_all = {};  // of a booking: in the order of leaves_at
  Instant leaves_at = kNever;
  StandingClaim* holder_previous = nullptr;
  StandingClaim* holder_next = nullptr;

  bool live() const { return !is_ended(state) && !lapsed; }
  // Where it was held first, wherever it has moved since.
  const Path& original_resource() const;
  std::optional<Span> original_span() const {
    return extras && extras->original ? extras->original->span : own_span();
  }
  // As a client sees it: a lapsed hold is expired, recorded or not.
  ClaimState shown() const { return lapsed ? ClaimState::expired : state; }
  std::optional<Span> own_span() const {
    return span == kAllOfTime ? std::nullopt : std::optional(span);
  }
};

struct BySpan {
  static AvlLinks<StandingClaim>& links(StandingClaim& c) { return c.by_span; }
  static bool before(const StandingClaim& a, const StandingClaim& b) {
    return a.span.from != b.span.from ? a.span.from < b.span.from : a.key < b.key;
  }
  static void pull(StandingClaim& c) {
    c.latest_until = c.span.until;
    for (const StandingClaim* child : {c.by_span.left, c.by_span.right}) {
      if (child != nullptr) c.latest_until = std::max(c.latest_until, child->latest_until);
    }
  }
};

struct DueOrder {
  static bool before(const StandingClaim& a, const StandingClaim& b) {
    return a.expires_at != b.expires_at ? a.expires_at < b.expires_at : a.key < b.key;
  }
  static void pull(StandingClaim&) {}
};
struct DueOnResource : DueOrder {
  static AvlLinks<StandingClaim>& links(StandingClaim& c) { return c.due_on_resource; }
};
struct DueOfAll : DueOrder {
  static AvlLinks<StandingClaim>& links(StandingClaim& c) { return c.due_of_all; }
};

struct LeaveOrder {
  static bool before(const StandingClaim& a, const StandingClaim& b) {
    return a.leaves_at != b.leaves_at ? a.leaves_at < b.leaves_at : a.key < b.key;
  }
  static void pull(StandingClaim&) {}
  static AvlLinks<StandingClaim>& links(StandingClaim& c) { return c.due_of_all; }
};

using SpanIndex = Avl<StandingClaim, BySpan>;
using ResourceDueIndex = Avl<StandingClaim, DueOnResource>;
using DueIndex = Avl<StandingClaim, DueOfAll>;
using LeaveIndex = Avl<StandingClaim, LeaveOrder>;

// What a level keeps of the live claims at and below it when its definition asks for more than
// room on the resource itself.
struct LevelAccounts {
  // Of parts: for each live claim below, the instants at which the whole cannot be claimed.
  Occupancy parts;
  // Of a holder limit: units by holder, until their spans end.
  std::unordered_map<const HolderNode*, Occupancy> by_holder;
  // No live hold at the level or below is due earlier.
  Instant next_due;
};

struct ResourceNode {
  explicit ResourceNode(Path its_path) : path(std::move(its_path)) {}

  Path path;
  ResourceNode* parent = nullptr;
  ResourceNode* first_child = nullptr;
  ResourceNode* next_sibling = nullptr;
  ResourceNode* previous_sibling = nullptr;

  std::unique_ptr<Resource> defined;
  std::unique_ptr<LevelAccounts> accounts;  // where it is defined with parts or holder_limit
  bool retired = false;

  Position last_event;      // of events on this very path
  bool knows_last = false;  // false: the projections know
  bool forgettable = false;

  std::int64_t live_at_or_below = 0;
  std::int64_t live_claims = 0;       // on the resource itself
  std::int64_t claims_in_memory = 0;  // of any state
  Occupancy occupancy;                // of live claims
  SpanIndex live;
  ResourceDueIndex due;     // live holds
  ResourceDueIndex lapsed;  // holds past their expiry, not recorded

  Duration turnaround() const { return defined ? defined->definition.turnaround : Duration{0}; }
  bool has_parts() const { return defined && defined->definition.parts; }
};

// The node and all below it, until `visit` says false. Depth first without a stack: down, then
// along, then up until there is a sibling.
template <class Node, class Visit>
void visit_nodes(Node& top, const Visit& visit) {
  for (Node* node = &top; node != nullptr && visit(*node);) {
    if (node->first_child != nullptr) {
      node = node->first_child;
      continue;
    }
    while (node != &top && node->next_sibling == nullptr) node = node->parent;
    node = node == &top ? nullptr : node->next_sibling;
  }
}

// The instants at which the claim's units are not free.
inline Span occupied_by(const StandingClaim& claim) {
  return occupied(claim.own_span(), claim.resource->turnaround());
}

struct HolderNode {
  Holder holder;
  StandingClaim* first = nullptr;  // live and lapsed claims
  std::int64_t references = 0;
};

struct CartNode {
  Cart cart;
  std::map<std::string_view, StandingClaim*> holds;  // live, by key
};

// Live claims on the resource that cover `at`, turnaround counted, in order of (from, key), at most
// `limit`. O(limit log n).
std::vector<const StandingClaim*> covering(const ResourceNode& resource, Instant at,
                                           std::size_t limit);

// Live claims on the resource that occupy an instant of `span`, in order of (from, key), until
// `visit` says false, which it then says too. O(log n) and O(log n) a claim.
bool visit_meeting(const ResourceNode& resource, Span span,
                   const std::function<bool(const StandingClaim&)>& visit);

// Earliest instant at which enough live holds have lapsed that U stays at or below `allowed` over
// the whole span; none if what is committed is too much already.
std::optional<Instant> earliest_room(ResourceNode& resource, Span span, std::int64_t allowed);

}  // namespace holdfast
