#include "ledger/domain/windows.h"

#include <algorithm>
#include <iterator>

namespace holdfast {

Windows::Windows(const std::vector<Span>& spans) : spans_(spans) {
  std::sort(spans_.begin(), spans_.end());
  spans_.erase(std::unique(spans_.begin(), spans_.end()), spans_.end());
  merge();
}

bool Windows::has(const Span& span) const {
  return std::binary_search(spans_.begin(), spans_.end(), span);
}

void Windows::add(const Span& span) {
  const auto at = std::lower_bound(spans_.begin(), spans_.end(), span);
  if (at != spans_.end() && *at == span) return;
  spans_.insert(at, span);
  merge();
}

void Windows::remove(const Span& span) {
  const auto at = std::lower_bound(spans_.begin(), spans_.end(), span);
  if (at == spans_.end() || *at != span) return;
  spans_.erase(at);
  merge();
}

void Windows::merge() {
  runs_.clear();
  for (const Span& span : spans_) {
    if (!runs_.empty() && span.from <= runs_.back().until) {
      runs_.back().until = std::max(runs_.back().until, span.until);
    } else {
      runs_.push_back(span);
    }
  }
}

std::vector<Span>::const_iterator Windows::behind(Instant at) const {
  return std::partition_point(runs_.begin(), runs_.end(),
                              [at](const Span& run) { return run.until <= at; });
}

bool Windows::cover(const Span& span) const {
  const auto run = behind(span.from);
  return run != runs_.end() && run->from <= span.from && span.until <= run->until;
}

bool Windows::meet(const Span& span) const {
  const auto run = behind(span.from);
  return run != runs_.end() && run->from < span.until;
}

std::vector<Span> Windows::within(const Span& span) const {
  std::vector<Span> found;
  for (auto run = behind(span.from); run != runs_.end() && run->from < span.until; ++run) {
    found.push_back({std::max(run->from, span.from), std::min(run->until, span.until)});
  }
  return found;
}

std::optional<Instant> Windows::first_covered(Instant at, Duration length) const {
  const auto run = std::find_if(behind(at), runs_.end(), [&](const Span& r) {
    return r.until - std::max(r.from, at) >= length;
  });
  return run == runs_.end() ? std::nullopt : std::optional(std::max(run->from, at));
}

std::optional<Instant> Windows::end_of_last_met(const Span& span) const {
  const auto beyond = std::partition_point(runs_.begin(), runs_.end(),
                                           [&](const Span& run) { return run.from < span.until; });
  if (beyond == runs_.begin() || std::prev(beyond)->until <= span.from) return std::nullopt;
  return std::prev(beyond)->until;
}

}  // namespace holdfast
