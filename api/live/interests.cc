#include "api/live/interests.h"

#include <algorithm>

#include "ledger/domain/invariant.h"

namespace holdfast::api {
namespace {

void erase(std::vector<Interest*>& list, Interest* interest) {
  const auto at = std::find(list.begin(), list.end(), interest);
  HOLDFAST_INVARIANT(at != list.end(), "an interest is removed once, after it was added");
  *at = list.back();
  list.pop_back();
}

}  // namespace

void Interests::add(Interest& interest) {
  const EventFilter& filter = interest.filter;
  if (!filter.resource.empty()) {
    List& list = by_path_[filter.resource];
    if (list.empty()) ++lengths_[filter.resource.size()];
    list.push_back(&interest);
  } else if (!filter.holder.empty()) {
    by_holder_[filter.holder].push_back(&interest);
  } else {
    others_.push_back(&interest);
  }
}

void Interests::remove(Interest& interest) {
  const EventFilter& filter = interest.filter;
  if (filter.resource.empty() && filter.holder.empty()) return erase(others_, &interest);
  ByName& names = filter.resource.empty() ? by_holder_ : by_path_;
  const auto at = names.find(filter.resource.empty() ? filter.holder : filter.resource);
  HOLDFAST_INVARIANT(at != names.end(), "an interest is removed once, after it was added");
  erase(at->second, &interest);
  if (!at->second.empty()) return;
  names.erase(at);
  if (!filter.resource.empty()) --lengths_[filter.resource.size()];
}

void Interests::find(const Event& event, std::vector<Interest*>& found) const {
  found.clear();
  if (!by_path_.empty()) {
    for (const std::string_view path : paths_of(event)) {
      if (!path.empty()) find_on(path, event, found);
    }
  }
  if (!by_holder_.empty() && event.personal.holder) {
    const auto at = by_holder_.find(event.personal.holder->view());
    if (at != by_holder_.end()) take(at->second, event, found);
  }
  take(others_, event, found);
}

// The path itself and every one above it.
void Interests::find_on(std::string_view path, const Event& event, List& found) const {
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    if (lengths_[end] == 0) continue;
    const auto at = by_path_.find(path.substr(0, end));
    if (at != by_path_.end()) take(at->second, event, found);
  }
}

void Interests::take(const List& list, const Event& event, List& found) {
  for (Interest* interest : list) {
    if (interest->found == event.position || !interest->filter.passes_otherwise(event)) continue;
    interest->found = event.position;
    found.push_back(interest);
  }
}

}  // namespace holdfast::api
