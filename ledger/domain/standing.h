#pragma once

#include <algorithm>
#include <memory>
#include <optional>
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
};

struct StandingClaim {
  Key key;
  ResourceNode* resource;
  HolderNode* holder;
  Span span;  // kAllOfTime: the claim has none
  std::int64_t quantity;
  std::int64_t original_quantity;
  Instant held_at;
  Instant expires_at;
  Position version;
  Position last_event;
  std::unique_ptr<ClaimExtras> extras;
  ClaimState state;
  bool lapsed = false;       // a hold past its expiry whose end is not recorded yet
  bool forgettable = false;  // waits in State's queue of what may be forgotten

  // On its resource by (from, key), while live; in due order, of the resource and of all, while
  // held (live ones in one index, lapsed ones in another).
  AvlLinks<StandingClaim> by_span;
  Instant latest_until{};  // of the subtree by_span
  AvlLinks<StandingClaim> due_on_resource;
  AvlLinks<StandingClaim> due_of_all;
  StandingClaim* holder_previous = nullptr;
  StandingClaim* holder_next = nullptr;

  bool live() const { return !is_ended(state) && !lapsed; }
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

using SpanIndex = Avl<StandingClaim, BySpan>;
using ResourceDueIndex = Avl<StandingClaim, DueOnResource>;
using DueIndex = Avl<StandingClaim, DueOfAll>;

struct ResourceNode {
  explicit ResourceNode(Path its_path) : path(std::move(its_path)) {}

  Path path;
  ResourceNode* parent = nullptr;
  ResourceNode* first_child = nullptr;
  ResourceNode* next_sibling = nullptr;
  ResourceNode* previous_sibling = nullptr;

  std::unique_ptr<Resource> defined;
  bool retired = false;

  Position last_event;      // of events on this very path
  bool knows_last = false;  // false: the projections know
  bool forgettable = false;

  std::int64_t live_at_or_below = 0;
  std::int64_t claims_in_memory = 0;  // of any state
  Occupancy occupancy;                // of live claims
  SpanIndex live;
  ResourceDueIndex due;     // live holds
  ResourceDueIndex lapsed;  // holds past their expiry, not recorded

  Duration turnaround() const { return defined ? defined->definition.turnaround : Duration{0}; }
};

struct HolderNode {
  Holder holder;
  StandingClaim* first = nullptr;  // live and lapsed claims
  std::int64_t references = 0;
};

// Live claims on the resource that cover `at`, turnaround counted, in order of (from, key), at most
// `limit`. O(limit log n).
std::vector<const StandingClaim*> covering(const ResourceNode& resource, Instant at,
                                           std::size_t limit);

// Live claims on the resource that occupy an instant of `span`, at most `limit`.
std::vector<const StandingClaim*> meeting(const ResourceNode& resource, Span span,
                                          std::size_t limit);

// Earliest instant at which enough live holds have lapsed that U stays at or below `allowed` over
// the whole span; none if what is committed is too much already.
std::optional<Instant> earliest_room(ResourceNode& resource, Span span, std::int64_t allowed);

}  // namespace holdfast
