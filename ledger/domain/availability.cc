#include "ledger/domain/availability.h"

#include <algorithm>
#include <deque>

#include "ledger/domain/admission.h"
#include "ledger/domain/state.h"

namespace holdfast {
namespace {

void append(std::vector<FreePiece>& pieces, Span span, std::int64_t free) {
  if (!pieces.empty() && pieces.back().free == free && pieces.back().span.until == span.from) {
    pieces.back().span.until = span.until;
  } else {
    pieces.push_back({span, free});
  }
}

struct Level {  // units occupied throughout the span
  Span span;
  std::int64_t units;
};

// free(t) = capacity - max of U over [t, t + turnaround], for t in the window. A step of U reaches
// back by the turnaround; the highest of those that reach t counts: a sliding maximum.
std::vector<FreePiece> free_pieces(const std::vector<Level>& steps, Span window,
                                   std::int64_t capacity, Duration turnaround) {
  std::vector<FreePiece> pieces;
  std::deque<const Level*> highest;  // candidates, units falling, ends rising
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

// The parts of the window in which no claim may be, whatever room there is: in no order.
std::vector<Span> closed_out(const PathRules& rules, Span window) {
  std::vector<Span> out;
  if (rules.hours() != nullptr) {
    Instant open_until = window.from;
    for (const Span& open : rules.hours()->within(window)) {
      if (open_until < open.from) out.push_back({open_until, open.from});
      open_until = open.until;
    }
    if (open_until < window.until) out.push_back({open_until, window.until});
  }
  rules.visit_levels([&](const ResourceNode& level) {
    if (!level.defined) return true;
    const auto blocked = level.defined->blocked.within(window);
    out.insert(out.end(), blocked.begin(), blocked.end());
    return true;
  });
  rules.visit_wholes([&](const ResourceNode& whole) {
    const Duration theirs = whole.turnaround();
    const Duration between = std::max(rules.turnaround(), theirs);
    whole.occupancy.visit_steps(
        reach(window, between, theirs), [&](Span piece, std::int64_t units) {
          if (units > 0) out.push_back({piece.from - between, piece.until + (between - theirs)});
          return true;
        });
    return true;
  });
  if (rules.own() != nullptr && rules.own()->has_parts()) {
    rules.own()->accounts->parts.visit_steps(window, [&](Span piece, std::int64_t units) {
      if (units > 0) out.push_back(piece);
      return true;
    });
  }
  return out;
}

// The pieces with nothing free within `out`.
std::vector<FreePiece> without(const std::vector<FreePiece>& pieces, std::vector<Span> out) {
  if (out.empty()) return pieces;
  std::sort(out.begin(), out.end());
  std::vector<FreePiece> left;
  auto next = out.cbegin();
  for (const FreePiece& piece : pieces) {
    Instant t = piece.span.from;
    while (t < piece.span.until) {
      while (next != out.cend() && next->until <= t) ++next;
      const bool in = next != out.cend() && next->from <= t;
      Instant until = piece.span.until;
      if (next != out.cend()) until = std::min(until, in ? next->until : next->from);
      append(left, {t, until}, in ? 0 : piece.free);
      t = until;
    }
  }
  return left;
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
  const PathRules rules(state, query.resource.view(), policy);
  if (rules.is_unknown() || rules.closed() != nullptr) return {};
  const std::int64_t capacity = rules.capacity(std::nullopt);
  std::vector<FreePiece> pieces;
  if (rules.own() == nullptr) {
    pieces = {{query.window, capacity}};
  } else {
    const Duration turnaround = rules.turnaround();
    std::vector<Level> steps;
    rules.own()->occupancy.visit_steps({query.window.from, query.window.until + turnaround},
                                       [&](Span span, std::int64_t units) {
                                         steps.push_back({span, units});
                                         return true;
                                       });
    pieces = free_pieces(steps, query.window, capacity, turnaround);
  }
  pieces = without(pieces, closed_out(rules, query.window));
  return long_enough(pieces, query.quantity, query.duration.value_or(Duration{0}));
}

std::int64_t free_at(const State& state, const Path& resource, Instant at, const Policy& policy) {
  return units_for_a_hold(PathRules(state, resource.view(), policy), Span{at, at + Duration{1}});
}

}  // namespace holdfast
