#include "ledger/access/tallies.h"

#include <utility>

namespace holdfast::access {
namespace {

// The first part of a record's type; empty: of what is done to the server, which is never dropped.
std::string kind_of(const What& what) {
  const bool bounded = std::holds_alternative<Asked>(what) || std::holds_alternative<Refused>(what);
  if (!bounded) return {};
  std::string kind = type_of(what);
  return kind.substr(0, kind.find('.'));
}

}  // namespace

std::vector<Entry> Tallies::turn(Instant now, bool end) {
  const Instant minute{now.ms - now.ms % kMinute.ms};
  std::vector<Entry> dropped;
  if (minute == minute_ && !end) return dropped;
  for (auto& [name, count] : counts_) {
    if (count.dropped == 0) continue;
    dropped.push_back({.actor = std::move(count.actor),
                       .what = Dropped{std::move(count.kind), minute_, count.dropped}});
  }
  counts_.clear();
  minute_ = minute;
  return dropped;
}

bool Tallies::admit(const Entry& entry, bool full) {
  const std::string kind = kind_of(entry.what);
  if (kind.empty()) return true;
  Count& count = count_of(entry.actor, kind);
  ++count.seen;
  if (count.seen <= per_minute_ && !full) return true;
  ++count.dropped;
  return false;
}

Tallies::Count& Tallies::count_of(std::string_view actor, std::string_view kind) {
  std::string name(kind);
  name.append(1, '\0').append(actor);
  const auto found = counts_.find(name);
  if (found != counts_.end()) return found->second;
  if (counts_.size() >= kMaxCounted) {
    name.resize(kind.size());  // no actor has this one
    actor = {};
  }
  return counts_.try_emplace(std::move(name), Count{std::string(actor), std::string(kind)})
      .first->second;
}

}  // namespace holdfast::access
