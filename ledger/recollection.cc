#include "ledger/recollection.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace holdfast {
namespace {

using store::StorageError;

void name_action(const Hold& hold, Named& named) {
  if (hold.key) named.keys.push_back(hold.key->view());
  named.paths.push_back(hold.resource.view());
}
void name_action(const Steal& steal, Named& named) {
  named.keys.push_back(steal.key.view());
  if (steal.new_key) named.keys.push_back(steal.new_key->view());
}
template <class OfClaim>
requires requires(const OfClaim& action) { action.key; }
void name_action(const OfClaim& action, Named& named) { named.keys.push_back(action.key.view()); }
template <class OfResource>
requires requires(const OfResource& action) { action.resource; }
void name_action(const OfResource& action, Named& named) {
  named.paths.push_back(action.resource.view());
}

// The events of the claim that `last` belongs to, from its first to `last`.
tl::expected<std::vector<Event>, StorageError> chain_to(const store::Log& log, Event last) {
  std::vector<Event> chain;
  Position previous = last.previous_of_claim;
  chain.push_back(std::move(last));
  while (previous) {
    auto event = log.read(previous);
    if (!event) return tl::unexpected(event.error());
    previous = event->previous_of_claim;
    chain.push_back(std::move(*event));
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool was_clamped(const Happening& happening) {
  if (const auto* held = std::get_if<Held>(&happening)) return held->clamped;
  if (const auto* extended = std::get_if<Extended>(&happening)) return extended->clamped;
  return false;
}

// The answer that was given when the events of a transaction were written: the claim it shows is
// that of its last event.
tl::expected<RememberedRequest, StorageError> answer_again(const store::Log& log, Position first) {
  auto begin = log.read(first);
  if (!begin) return tl::unexpected(begin.error());
  const std::uint32_t count = begin->transaction_count;
  auto last = count == 1 ? std::move(begin) : log.read(first + (count - 1));
  if (!last) return tl::unexpected(last.error());
  RememberedRequest request{.transaction = first,
                            .content = last->content,
                            .answer = {.first = first,
                                       .count = count,
                                       .clamped = was_clamped(last->happening),
                                       .claim = {},
                                       .available = last->available}};
  if (!last->key) return request;
  const Key key = *last->key;
  auto chain = chain_to(log, std::move(*last));
  if (!chain) return tl::unexpected(chain.error());
  State scratch;
  for (const Event& event : *chain) scratch.evolve(event);
  request.answer.claim = scratch.claim(key.view());
  return request;
}

}  // namespace

void name(const Command& command, Named& named) {
  std::visit([&](const auto& action) { name_action(action, named); }, command.action);
}

void Recollection::expect(const Command& command) {
  name(command, named_);
  const Asker& asker = command.asker;
  if (asker.request_id) askers_.push_back(&asker);
}

Recollection::Done Recollection::fetch() {
  Done done = fetch_requests();
  if (done) done = fetch_claims();
  if (done) done = fetch_paths();
  named_.keys.clear();
  named_.paths.clear();
  askers_.clear();
  return done;
}

Recollection::Done Recollection::fetch_lapsed(std::size_t limit) {
  state_.lapsed().for_each([&](const StandingClaim& hold) {
    if (limit == 0) return false;
    --limit;
    named_.paths.push_back(hold.resource->path.view());
    return true;
  });
  const Done done = fetch_paths();
  named_.paths.clear();
  return done;
}

Recollection::Done Recollection::fetch_claims() {
  // A claim writes its events on its resource, whose chain goes on from there.
  std::vector<std::string_view>& keys = named_.keys;
  std::erase_if(keys, [&](std::string_view key) {
    const StandingClaim* claim = state_.find(key);
    if (claim != nullptr) named_.paths.push_back(claim->resource->path.view());
    return claim != nullptr;
  });
  if (keys.empty()) return {};
  const auto ended = recall_.ended(keys);
  if (!ended) return tl::unexpected(ended.error());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!(*ended)[i]) continue;
    state_.recall(*(*ended)[i]);
    named_.paths.push_back(state_.find(keys[i])->resource->path.view());
  }
  return {};
}

Recollection::Done Recollection::fetch_paths() {
  std::vector<std::string_view>& paths = named_.paths;
  std::erase_if(paths, [&](std::string_view path) { return state_.knows_last_event(path); });
  if (paths.empty()) return {};
  const auto last = recall_.last_events(paths);
  if (!last) return tl::unexpected(last.error());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    // A path without events needs no place in memory.
    if ((*last)[i] || state_.resource(paths[i]) != nullptr) {
      state_.recall_last_event(Path::trusted(std::string(paths[i])), (*last)[i]);
    }
  }
  return {};
}

Recollection::Done Recollection::fetch_requests() {
  for (const Asker* asker : askers_) {
    const auto& id = *asker->request_id;
    if (state_.request(asker->actor.view(), id.view()) != nullptr) continue;
    const auto first = recall_.request(asker->actor.view(), id.view());
    if (!first) return tl::unexpected(first.error());
    if (!*first) continue;
    auto request = answer_again(log_, **first);
    if (!request) return tl::unexpected(request.error());
    state_.remember(asker->actor, id, std::move(*request));
  }
  return {};
}

}  // namespace holdfast
