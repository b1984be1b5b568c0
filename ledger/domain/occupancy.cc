#include "ledger/domain/occupancy.h"

#include <algorithm>
#include <limits>

namespace holdfast {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min() / 4;

using Change = Occupancy::Change;

std::int64_t sum_of(const Change* c) { return c == nullptr ? 0 : c->sum; }
std::int64_t highest_of(const Change* c) { return c == nullptr ? kLowest : c->highest; }

// The part of a query that the walk down the tree narrows: which bounds can still cut the subtree.
struct Bounds {
  Instant after;   // changes at or before it are outside
  Instant before;  // changes at or after it are outside
  bool cut_low = true;
  bool cut_high = true;
};

// Highest prefix sum that ends at a change within the bounds; `level` is the sum before the
// subtree.
std::int64_t highest_within(const Change* c, Bounds bounds, std::int64_t level) {
  if (c == nullptr) return kLowest;
  if (!bounds.cut_low && !bounds.cut_high) return level + c->highest;
  const std::int64_t here = level + sum_of(c->links.left) + c->delta;
  if (bounds.cut_low && c->at <= bounds.after) return highest_within(c->links.right, bounds, here);
  if (bounds.cut_high && c->at >= bounds.before)
    return highest_within(c->links.left, bounds, level);
  Bounds left = bounds, right = bounds;
  left.cut_high = false;
  right.cut_low = false;
  return std::max({highest_within(c->links.left, left, level), here,
                   highest_within(c->links.right, right, here)});
}

// Earliest change behind `after` where the prefix sum reaches `target`. A subtree whose highest
// prefix stays below the target is passed over whole.
const Change* first_reaching(const Change* c, Instant after, std::int64_t level,
                             std::int64_t target) {
  if (c == nullptr || level + c->highest < target) return nullptr;
  const std::int64_t here = level + sum_of(c->links.left) + c->delta;
  if (c->at > after) {
    if (const Change* found = first_reaching(c->links.left, after, level, target)) return found;
    if (here >= target) return c;
  }
  return first_reaching(c->links.right, after, here, target);
}

// Latest change within (after, before) where the prefix sum reaches `target`; likewise.
const Change* last_reaching(const Change* c, Bounds bounds, std::int64_t level,
                            std::int64_t target) {
  if (c == nullptr || level + c->highest < target) return nullptr;
  const std::int64_t here = level + sum_of(c->links.left) + c->delta;
  if (c->at < bounds.before) {
    if (const Change* found = last_reaching(c->links.right, bounds, here, target)) return found;
    if (c->at <= bounds.after) return nullptr;
    if (here >= target) return c;
  }
  return last_reaching(c->links.left, bounds, level, target);
}

void free_all(Change* c) {
  if (c == nullptr) return;
  free_all(c->links.left);
  free_all(c->links.right);
  delete c;
}

}  // namespace

void Occupancy::Order::pull(Change& c) {
  const std::int64_t here = sum_of(c.links.left) + c.delta;
  c.sum = here + sum_of(c.links.right);
  c.highest = std::max({highest_of(c.links.left), here, here + highest_of(c.links.right)});
}

Occupancy::~Occupancy() { free_all(changes_.root()); }

void Occupancy::add(Span span, std::int64_t units) {
  if (span == kAllOfTime) {
    always_ += units;
    return;
  }
  change_at(span.from, units);
  change_at(span.until, -units);
}

void Occupancy::change_at(Instant at, std::int64_t delta) {
  Change* found = changes_.first_where([at](const Change& c) { return c.at >= at; });
  if (found == nullptr || found->at != at) {
    changes_.insert(*new Change{.at = at, .delta = delta});
    return;
  }
  // Taken out and put back, so that the sums above it follow.
  changes_.erase(*found);
  found->delta += delta;
  if (found->delta == 0) {
    delete found;
  } else {
    changes_.insert(*found);
  }
}

std::int64_t Occupancy::level_at(Instant at) const {
  std::int64_t level = always_;
  for (const Change* c = changes_.root(); c != nullptr;) {
    if (c->at <= at) {
      level += sum_of(c->links.left) + c->delta;
      c = c->links.right;
    } else {
      c = c->links.left;
    }
  }
  return level;
}

Occupancy::Peak Occupancy::peak(Span span) const {
  const std::int64_t first = level_at(span.from);
  const Bounds bounds{.after = span.from, .before = span.until};
  const std::int64_t highest = highest_within(changes_.root(), bounds, always_);
  if (highest <= first) return {first, span.from};
  return {highest, first_reaching(changes_.root(), span.from, always_, highest)->at};
}

std::optional<Instant> Occupancy::last_above(Span span, std::int64_t units) const {
  const Bounds bounds{.after = span.from, .before = span.until};
  const Change* last = last_reaching(changes_.root(), bounds, always_, units + 1);
  if (last != nullptr) return last->at;
  return level_at(span.from) > units ? std::optional(span.from) : std::nullopt;
}

std::optional<Instant> Occupancy::first_not_above(Instant at, std::int64_t units) const {
  if (always_ > units) return std::nullopt;
  std::optional<Instant> found;
  visit_steps({at, kAllOfTime.until}, [&](Span piece, std::int64_t level) {
    if (level <= units) found = piece.from;
    return !found;
  });
  return found;
}

}  // namespace holdfast
