#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/domain/decide.h"
#include "ledger/domain/occupancy.h"
#include "ledger/domain/state.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/merkle_proof.h"
#include "tests/bench/crowd.h"

// The core's work in units that can be repeated: each operator() leaves things as it found them
// but for positions. Measured in time by core_bench, in instructions by core_paths.
namespace holdfast::bench {

inline Command command_of(Action action) {
  return {.asker = {.actor = Actor::trusted("bench"),
                    .on_behalf_of = {},
                    .reason = {},
                    .correlation_id = {},
                    .request_id = {},
                    .source = "127.0.0.1:40000"},
          .action = std::move(action),
          .content = Digest{}};
}

// A hold of the room beside the `claims` that stand there, judged and folded, then its release.
// The holds' spans go round the year; with none they are of this instant.
class HoldAndRelease {
 public:
  HoldAndRelease(std::int64_t claims, bool with_span)
      : state_(crowded(claims, 1'000'000, Duration{0})), claims_(claims), with_span_(with_span) {
    state_.set_head(Position{static_cast<std::uint64_t>(claims) + 2});
    state_.recall_last_event(Path::trusted("room"), state_.head());
    state_.advance(kBegin);
  }

  void operator()() {
    const Key key = Key::trusted("a-new-key-" + std::to_string(count_++));
    hold_.key = key;
    if (with_span_) hold_.span = booking(count_ * 7'919 % claims_, claims_).span;
    accept(hold_);
    accept(Release{
        .which = key, .holder = Holder::trusted("holder-of-it"), .version = {}, .quantity = {}});
    state_.forget_through(state_.head());
  }
  // What the last one wrote: held and released.
  const std::vector<Event>& events() const { return events_; }

 private:
  void accept(Action action) {
    auto judged = judge(state_, command_of(std::move(action)),
                        {.now = kBegin, .fresh_keys = {}, .policy = {}});
    if (!judged || judged->events.size() != 1) std::abort();
    if (events_.size() == 2) events_.clear();
    events_.push_back(std::move(judged->events.front()));
  }

  State state_;
  const std::int64_t claims_;
  const bool with_span_;
  std::int64_t count_ = 0;
  Hold hold_{.resource = Path::trusted("room"),
             .key = {},
             .span = {},
             .holder = Holder::trusted("holder-of-it"),
             .cart = {},
             .label = {},
             .expiry = {},
             .capacity = {}};
  std::vector<Event> events_;
};

// The two events of a hold and its release folded, as a replay does.
class Fold {
 public:
  explicit Fold(std::int64_t claims) : state_(crowded(claims, 1'000'000, Duration{0})) {
    HoldAndRelease both(claims, true);
    both();
    events_ = both.events();
    state_.set_head(Position{events_.front().position.value - 1});
    state_.advance(kBegin);
  }
  void operator()() {
    for (Event& event : events_) {
      event.position = state_.head() + 1;
      state_.evolve(event);
    }
    state_.forget_through(state_.head());
  }

 private:
  State state_;
  std::vector<Event> events_;
};

inline Event held_event() {
  HoldAndRelease both(10, true);
  both();
  return both.events().front();
}

class Encode {
 public:
  void operator()() { store::encode(event_, bytes_); }

 private:
  Event event_ = held_event();
  std::string bytes_;
};

class Decode {
 public:
  Decode() { store::encode(held_event(), bytes_); }
  void operator()() {
    if (!store::decode(bytes_)) std::abort();
  }

 private:
  std::string bytes_;
};

// The leaf of a record of so many bytes, and a node above it.
class Hash {
 public:
  explicit Hash(std::size_t bytes) : record_(bytes, 'x') {}
  void operator()() { node_ = store::node_digest(node_, store::leaf_digest(record_)); }

 private:
  std::string record_;
  Digest node_ = {};
};

// One more claim among `claims`: its peak asked for, entered, taken out.
class Occupy {
 public:
  explicit Occupy(std::int64_t claims) : claims_(claims) {
    for (std::int64_t i = 0; i < claims; ++i) occupancy_.add(*booking(i, claims).span, 1);
  }
  void operator()() {
    const Span span = *booking(++count_ * 7'919 % claims_, claims_).span;
    if (occupancy_.peak(span).units < 1) std::abort();
    occupancy_.add(span, 1);
    occupancy_.remove(span, 1);
  }

 private:
  Occupancy occupancy_;
  const std::int64_t claims_;
  std::int64_t count_ = 0;
};

}  // namespace holdfast::bench
