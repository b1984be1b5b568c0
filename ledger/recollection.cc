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
// And one number beyond, to see whether more were held under the key.
void name_action(const HoldAny& any, Named& named) {
  if (!any.key) return;
  for (std::int64_t i = 1; i <= any.count + 1; ++i) {
    named.made.push_back(any.key->str() + "/" + std::to_string(i));
    named.keys.push_back(named.made.back());
  }
}
void name_action(const Steal& steal, Named& named) {
  named.keys.push_back(steal.key.view());
  if (steal.new_key) named.keys.push_back(steal.new_key->view());
}
void name_action(const Move& move, Named& named) {
  named.keys.push_back(move.key.view());
  if (move.to) named.paths.push_back(move.to->view());
}
template <class OfKeyOrCart>
requires requires(const OfKeyOrCart& action) { action.which; }
void name_action(const OfKeyOrCart& action, Named& named) {
  if (const auto* key = std::get_if<Key>(&action.which)) named.keys.push_back(key->view());
  if constexpr (requires { action.reacquire; }) {
    if (action.reacquire) named.keys.push_back(action.reacquire->view());
  }
}
template <class OfClaim>
requires requires(const OfClaim& action) { action.key; }
void name_action(const OfClaim& action, Named& named) { named.keys.push_back(action.key.view()); }
template <class OfResource>
requires requires(const OfResource& action) { action.resource; }
void name_action(const OfResource& action, Named& named) {
  named.paths.push_back(action.resource.view());
}
void name_action(const EndAll&, Named&) {}  // what stands is in memory
void name_action(const Check& check, Named& named) {
  for (const auto& condition : check.conditions) {
    std::visit([&](const auto& kind) { name_action(kind, named); }, condition);
  }
}
void name_action(const Transact& transact, Named& named) {
  for (const Step& step : transact.steps) {
    if (step.command) name(*step.command, named);
  }
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

using Part = tl::expected<Accepted, StorageError>;

// The answer to one command on one claim or resource, from the events that it wrote: the claim it
// shows is that of the last.
Part answer_of(const store::Log& log, std::span<const Event> events) {
  const Event& last = events.back();
  Accepted answer{.first = events.front().position,
                  .count = static_cast<std::uint32_t>(events.size()),
                  .clamped = was_clamped(last.happening),
                  .available = last.available};
  if (!last.key) return answer;
  auto chain = chain_to(log, last);
  if (!chain) return tl::unexpected(chain.error());
  State scratch;
  for (const Event& event : *chain) scratch.evolve(event);
  answer.claim = scratch.claim(last.key->view());
  return answer;
}

// Of a command on several claims: one for each, whatever lapsed in its way included.
Part answer_of_claims(const store::Log& log, std::span<const Event> events) {
  Accepted answer{.first = events.front().position,
                  .count = static_cast<std::uint32_t>(events.size())};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (std::holds_alternative<Expired>(events[i].happening)) continue;
    auto part = answer_of(log, events.subspan(begin, i + 1 - begin));
    if (!part) return part;
    answer.parts.push_back(std::move(*part));
    begin = i + 1;
  }
  return answer;
}

Part answer_again(const store::Log& log, const Action& action, std::span<const Event> events);

Part answer_of_steps(const store::Log& log, const Transact& transact,
                     std::span<const Event> events) {
  Accepted answer{.first = events.front().position,
                  .count = static_cast<std::uint32_t>(events.size())};
  for (std::size_t i = 0; i < transact.steps.size(); ++i) {
    std::size_t count = 0;
    while (count < events.size() && events[count].step == i) ++count;
    const auto& step = transact.steps[i].command;
    Part part = count == 0 || !step ? Part(Accepted{})
                                    : answer_again(log, step->action, events.first(count));
    if (!part) return part;
    answer.parts.push_back(std::move(*part));
    events = events.subspan(count);
  }
  return answer;
}

bool is_of_several_claims(const Action& action) {
  const auto of_cart = [](const auto* named) {
    return named != nullptr && std::holds_alternative<Cart>(named->which);
  };
  return std::holds_alternative<HoldAny>(action) || std::holds_alternative<EndAll>(action) ||
         of_cart(std::get_if<Extend>(&action)) || of_cart(std::get_if<Release>(&action)) ||
         of_cart(std::get_if<Commit>(&action));
}

// The answer that was given when the command's events were written.
Part answer_again(const store::Log& log, const Action& action, std::span<const Event> events) {
  if (const auto* transact = std::get_if<Transact>(&action)) {
    return answer_of_steps(log, *transact, events);
  }
  return is_of_several_claims(action) ? answer_of_claims(log, events) : answer_of(log, events);
}

tl::expected<RememberedRequest, StorageError> remembered(const store::Log& log,
                                                         const Action& action, Position first) {
  auto begin = log.read(first);
  if (!begin) return tl::unexpected(begin.error());
  std::vector<Event> events;
  const std::uint32_t count = begin->transaction_count;
  events.push_back(std::move(*begin));
  while (events.size() < count) {
    auto event = log.read(first + events.size());
    if (!event) return tl::unexpected(event.error());
    events.push_back(std::move(*event));
  }
  auto answer = answer_again(log, action, events);
  if (!answer) return tl::unexpected(answer.error());
  return RememberedRequest{
      .transaction = first, .content = events.back().content, .answer = std::move(*answer)};
}

}  // namespace

void name(const Command& command, Named& named) {
  std::visit([&](const auto& action) { name_action(action, named); }, command.action);
}

void Recollection::expect(const Command& command) {
  name(command, named_);
  if (command.asker.request_id) requests_.push_back(&command);
}

Recollection::Done Recollection::fetch() {
  Done done = fetch_requests();
  if (done) done = fetch_claims();
  if (done) done = fetch_paths();
  named_ = {};
  requests_.clear();
  return done;
}

Recollection::Done Recollection::fetch_lapsed(std::size_t limit) {
  state_.lapsed().for_each([&](const StandingClaim& hold) {
    if (limit == 0) return false;
    --limit;
    named_.paths.push_back(hold.resource->path.view());
    return true;
  });
  return fetch_named_paths();
}

Recollection::Done Recollection::fetch_paths_of(std::span<const Path> paths) {
  for (const Path& path : paths) named_.paths.push_back(path.view());
  return fetch_named_paths();
}

Recollection::Done Recollection::fetch_named_paths() {
  const Done done = fetch_paths();
  named_.paths.clear();
  return done;
}

Recollection::Done Recollection::fetch_claims() {
  // A claim writes its events on its resource, whose chain goes on from there.
  std::vector<std::string_view>& keys = named_.keys;
  for (const std::string_view key : keys) state_.prefetch_claim(key);
  for (const std::string_view path : named_.paths) state_.prefetch_resource(path);
  std::erase_if(keys, [&](std::string_view key) {
    const StandingClaim* claim = state_.find(key);
    if (claim != nullptr) named_.paths.push_back(claim->resource->path.view());
    return claim != nullptr;
  });
  if (keys.empty()) return {};
  const auto forgotten = recall_.forgotten(keys);
  if (!forgotten) return tl::unexpected(forgotten.error());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!(*forgotten)[i]) continue;
    state_.recall(*(*forgotten)[i]);
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
      state_.recall_last_event(Path::trusted(paths[i]), (*last)[i]);
    }
  }
  return {};
}

Recollection::Done Recollection::fetch_requests() {
  for (const Command* command : requests_) {
    const Asker& asker = command->asker;
    const RequestId& id = *asker.request_id;
    if (state_.request(asker.actor.view(), id.view()) != nullptr) continue;
    const auto first = recall_.request(asker.actor.view(), id.view());
    if (!first) return tl::unexpected(first.error());
    if (!*first) continue;
    auto request = remembered(log_, command->action, **first);
    if (!request) return tl::unexpected(request.error());
    state_.remember(asker.actor, id, std::move(*request));
  }
  return {};
}

}  // namespace holdfast
