#include "ledger/domain/availability.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

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

// free(t) = capacity - max of U over [t, t + turnaround], for t in the window: a sliding maximum. A
// step of U reaches back by the turnaround; the highest of those that reach t counts. Takes the
// steps in order.
class FreePieces {
 public:
  FreePieces(Span window, std::int64_t capacity, Duration turnaround)
      : t_(window.from), until_(window.until), capacity_(capacity), turnaround_(turnaround) {}

  void add(Span step, std::int64_t units) {
    go_on_to(step.from - turnaround_);
    while (!highest_.empty() && highest_.back().units <= units) highest_.pop_back();
    highest_.push_back({step.until, units});
  }
  std::vector<FreePiece> take() {
    go_on_to(until_);
    return std::move(pieces_);
  }

 private:
  struct Level {
    Instant until;
    std::int64_t units;
  };

  void go_on_to(Instant end) {
    end = std::min(end, until_);
    while (t_ < end) {
      if (highest_.front().until <= t_) {
        highest_.pop_front();
        continue;
      }
      const Level& level = highest_.front();
      const Instant next = std::min(end, level.until);
      append(pieces_, {t_, next}, std::max<std::int64_t>(0, capacity_ - level.units));
      t_ = next;
    }
  }

  Instant t_;
  Instant until_;
  std::int64_t capacity_;
  Duration turnaround_;
  std::deque<Level> highest_;  // candidates, units falling, ends rising
  std::vector<FreePiece> pieces_;
};

// The parts of the window in which no claim may be, whatever room there is: in no order.
std::vector<Span> closed_out(const PathRules& rules, Span window) {
  std::vector<Span> out;
  if (const auto earliest = rules.earliest_begin(); earliest && window.from < *earliest) {
    out.push_back({window.from, std::min(window.until, *earliest)});
  }
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
    const Duration between = rules.between(whole);
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
std::vector<FreePiece> without(std::vector<FreePiece> pieces, std::vector<Span> out) {
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

using Pieces = std::vector<FreePiece>;

// Free units throughout `window`, zeros included.
Pieces all_pieces(const PathRules& rules, Span window) {
  const std::int64_t capacity = rules.capacity(std::nullopt);
  if (rules.own() == nullptr) return without({{window, capacity}}, closed_out(rules, window));
  const Duration turnaround = rules.turnaround();
  FreePieces found(window, capacity, turnaround);
  rules.own()->occupancy.visit_steps({window.from, window.until + turnaround},
                                     [&](Span span, std::int64_t units) {
                                       found.add(span, units);
                                       return true;
                                     });
  return without(found.take(), closed_out(rules, window));
}

// The first part of the window in which nothing that can be in the way has many more steps.
Span part_with_steps(const PathRules& rules, Span window, std::size_t steps) {
  Span part = window;
  const auto cut = [&](const Occupancy& occupancy, Span span) {
    std::size_t left = steps;
    occupancy.visit_steps(span, [&](Span step, std::int64_t) {
      if (step.until <= window.from || --left > 0) return true;
      part.until = std::min(part.until, step.until);
      return false;
    });
  };
  rules.visit_wholes([&](const ResourceNode& whole) {
    cut(whole.occupancy, reach(window, rules.between(whole), whole.turnaround()));
    return true;
  });
  if (rules.own() == nullptr) return part;
  cut(rules.own()->occupancy, window);
  if (rules.own()->has_parts()) cut(rules.own()->accounts->parts, window);
  return part;
}

// A query's runs of pieces with enough units, among pieces that lie in order.
class Runs {
 public:
  explicit Runs(const AvailabilityQuery& query)
      : query_(query), duration_(query.duration.value_or(Duration{0})) {}

  bool is_in(const FreePiece& piece) const { return piece.free >= query_.quantity.units; }

  // The first piece of the run that the piece `at` is in.
  std::size_t first(const Pieces& pieces, std::size_t at) const {
    while (at > 0 && is_in(pieces[at - 1]) && pieces[at - 1].span.until == pieces[at].span.from) {
      --at;
    }
    return at;
  }
  // When the run began whose first piece here begins then, be it on an earlier page.
  Instant began(Instant first) const {
    return first == query_.window.from ? query_.run_from.value_or(first) : first;
  }

  // Takes from the end what cannot be told yet, and says where it goes on: the last piece may have
  // more to it, and with it its run may become long enough.
  AvailabilityPage::Rest hold_back(Pieces& pieces) const {
    const Instant last = pieces.back().span.from;
    if (!is_in(pieces.back())) {
      pieces.pop_back();
      return {last, last};
    }
    const std::size_t run = first(pieces, pieces.size() - 1);
    const Instant from = pieces[run].span.from;
    if (last - began(from) >= duration_) {
      pieces.pop_back();
      return {last, began(from)};
    }
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(run), pieces.end());
    return {from, began(from)};
  }

  // Keeps the pieces of long enough runs.
  void keep_long_enough(Pieces& pieces) const {
    auto kept = pieces.begin();
    for (auto run = pieces.begin(); run != pieces.end();) {
      const auto end =
          std::find_if(run, pieces.end(), [&](const FreePiece& piece) { return !is_in(piece); });
      const bool keep =
          run != end && std::prev(end)->span.until - began(run->span.from) >= duration_;
      if (keep) kept = kept == run ? end : std::move(run, end, kept);
      run = end == pieces.end() ? end : std::next(end);
    }
    pieces.erase(kept, pieces.end());
  }

 private:
  const AvailabilityQuery& query_;
  const Duration duration_;
};

// The begin of a span of some duration, put off by what is in its way.
class Begin {
 public:
  Begin(Instant at, Duration duration) : at_(at), duration_(duration) {}

  bool never() const { return !at_; }
  Span span() const { return {*at_, *at_ + duration_}; }

  void inside(const Windows& hours) {
    if (at_) at_ = hours.first_covered(*at_, duration_);
  }
  void outside(const Windows& blocked) {
    if (at_) at_ = blocked.end_of_last_met(span()).value_or(*at_);
  }
  // U must not be above `units` from `before` the span's begin to `behind` its end.
  void clear_of(const Occupancy& occupancy, std::int64_t units, Duration before, Duration behind) {
    if (!at_) return;
    const auto last = occupancy.last_above({*at_ - before, span().until + behind}, units);
    if (!last) return;
    at_ = occupancy.first_not_above(*last, units);
    if (at_) at_ = *at_ + before;
  }

 private:
  std::optional<Instant> at_;  // none: never
  Duration duration_;
};

// Nothing that begins earlier than it does afterwards can stand there.
void put_off(Begin& begin, const PathRules& rules, std::int64_t allowed) {
  if (rules.hours() != nullptr) begin.inside(*rules.hours());
  rules.visit_levels([&](const ResourceNode& level) {
    if (level.defined) begin.outside(level.defined->blocked);
    return true;
  });
  rules.visit_wholes([&](const ResourceNode& whole) {
    const Duration theirs = whole.turnaround();
    const Duration between = rules.between(whole);
    begin.clear_of(whole.occupancy, 0, between - theirs, between);
    return true;
  });
  if (rules.own() == nullptr) return;
  begin.clear_of(rules.own()->occupancy, allowed, Duration{0}, rules.turnaround());
  if (rules.own()->has_parts()) {
    begin.clear_of(rules.own()->accounts->parts, 0, Duration{0}, Duration{0});
  }
}

}  // namespace

std::vector<FreePiece> availability(const State& state, const AvailabilityQuery& query,
                                    const Policy& policy) {
  const PathRules rules(state, query.resource.view(), policy);
  if (rules.is_unknown() || rules.closed() != nullptr) return {};
  Pieces pieces = all_pieces(rules, query.window);
  Runs(query).keep_long_enough(pieces);
  return pieces;
}

AvailabilityPage availability_page(const State& state, const AvailabilityQuery& query,
                                   std::size_t limit, const Policy& policy) {
  AvailabilityPage page;
  const PathRules rules(state, query.resource.view(), policy);
  if (rules.is_unknown() || rules.closed() != nullptr) return page;
  const Runs runs(query);
  Pieces& pieces = page.pieces;
  for (std::size_t steps = limit; pieces.empty(); steps *= 2) {
    const Span part = part_with_steps(rules, query.window, steps);
    pieces = all_pieces(rules, part);
    page.rest.reset();
    if (part.until < query.window.until) page.rest = runs.hold_back(pieces);
  }
  runs.keep_long_enough(pieces);
  if (pieces.size() > limit) {
    page.rest = {pieces[limit].span.from, runs.began(pieces[runs.first(pieces, limit)].span.from)};
    pieces.resize(limit, pieces.front());
  }
  return page;
}

std::optional<FreePiece> next_free(const State& state, const NextFreeQuery& query,
                                   const Policy& policy) {
  const PathRules rules(state, query.resource.view(), policy);
  const std::int64_t allowed = rules.capacity(std::nullopt) - query.quantity.units;
  if (rules.is_unknown() || rules.closed() != nullptr || allowed < 0) return std::nullopt;
  const Instant from = std::max(query.within.from, rules.earliest_begin().value_or(kMinInstant));
  for (Begin begin(from, query.duration);;) {
    const Instant tried = begin.span().from;
    put_off(begin, rules, allowed);
    if (begin.never() || begin.span().until > query.within.until) return std::nullopt;
    if (begin.span().from == tried) {
      return FreePiece{begin.span(), units_for_a_hold(rules, begin.span())};
    }
  }
}

std::int64_t free_at(const State& state, const Path& resource, Instant at, const Policy& policy) {
  return units_for_a_hold(PathRules(state, resource.view(), policy), Span{at, at + Duration{1}});
}

}  // namespace holdfast
