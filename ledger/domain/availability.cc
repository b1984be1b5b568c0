#include "ledger/domain/availability.h"

#include <algorithm>
#include <deque>

#include "ledger/domain/admission.h"
#include "ledger/domain/state.h"

namespace holdfast {
namespace {

bool takes_no_claims(const State& state, const Path& resource, const Policy& policy) {
  return is_unknown(state, resource.view(), policy) ||
         closed_at_or_above(state, resource.view()).has_value();
}

void append(std::vector<FreePiece>& pieces, Span span, std::int64_t free) {
  if (!pieces.empty() && pieces.back().free == free && pieces.back().span.until == span.from) {
    pieces.back().span.until = span.until;
  } else {
    pieces.push_back({span, free});
  }
}

struct Step {
  Span span;
  std::int64_t units;
};

// free(t) = capacity - max of U over [t, t + turnaround], for t in the window. A step of U reaches
// back by the turnaround; the highest of those that reach t counts: a sliding maximum.
std::vector<FreePiece> free_pieces(const std::vector<Step>& steps, Span window,
                                   std::int64_t capacity, Duration turnaround) {
  std::vector<FreePiece> pieces;
  std::deque<const Step*> highest;  // candidates, units falling, ends rising
  std::size_t next = 0;
  for (Instant t = window.from; t < window.until;) {
    for (; next < steps.size() && steps[next].span.from - turnaround <= t; ++next) {
      while (!highest.empty() && highest.back()->units <= steps[next].units) highest.pop_back();
      highest.push_back(&steps[next]);
    }
    while (highest.front()->span.until <= t) highest.pop_front();
    Instant until = std::min(window.until, highest.front()->span.until);
    if (next < steps.size()) until = std::min(until, steps[next].span.from - turnaround);
    append(pieces, {t, until}, std::max<std::int64_t>(0, capacity - highest.front()->units));
    t = until;
  }
  return pieces;
}

// Keeps the pieces with enough units that belong to a long enough unbroken run of such pieces.
std::vector<FreePiece> long_enough(const std::vector<FreePiece>& pieces, Quantity quantity,
                                   Duration duration) {
  std::vector<FreePiece> kept;
  for (std::size_t begin = 0; begin < pieces.size();) {
    if (pieces[begin].free < quantity.units) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < pieces.size() && pieces[end].free >= quantity.units) ++end;
    if (pieces[end - 1].span.until - pieces[begin].span.from >= duration) {
      kept.insert(kept.end(), pieces.begin() + static_cast<std::ptrdiff_t>(begin),
                  pieces.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  return kept;
}

}  // namespace

std::vector<FreePiece> availability(const State& state, const AvailabilityQuery& query,
                                    const Policy& policy) {
  if (takes_no_claims(state, query.resource, policy)) return {};
  const std::int64_t capacity = capacity_of(state, query.resource.view(), std::nullopt);
  const ResourceNode* node = state.resource(query.resource.view());
  std::vector<FreePiece> pieces;
  if (node == nullptr) {
    pieces = {{query.window, capacity}};
  } else {
    const Duration turnaround = node->turnaround();
    std::vector<Step> steps;
    node->occupancy.visit_steps({query.window.from, query.window.until + turnaround},
                                [&](Span span, std::int64_t units) {
                                  steps.push_back({span, units});
                                  return true;
                                });
    pieces = free_pieces(steps, query.window, capacity, turnaround);
  }
  return long_enough(pieces, query.quantity, query.duration.value_or(Duration{0}));
}

std::int64_t free_at(const State& state, const Path& resource, Instant at, const Policy& policy) {
  if (takes_no_claims(state, resource, policy)) return 0;
  return free_over(state, resource.view(), Span{at, at + Duration{1}}, std::nullopt);
}

}  // namespace holdfast
