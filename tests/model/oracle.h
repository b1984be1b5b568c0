#pragma once

#include <optional>
#include <vector>

#include "ledger/domain/availability.h"
#include "ledger/domain/command.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/event.h"
#include "ledger/domain/refusal.h"
#include "tests/ledger/domain/world.h"

namespace holdfast::testing {

// The contract (DESIGN 1.1 to 1.7) said a second time, as plainly as possible: lists of all claims
// and paths, every question a scan, what is refused undone by going back to a copy. Shares the
// values of the domain with it, and no code.
class Oracle {
 public:
  explicit Oracle(Policy policy) : policy_(policy) {}

  // `fresh`: keys for new claims that are given none. `ended`: of a step of an end all that does
  // not come to its end, the claims that were chosen; which those are is left open.
  Outcome run(const Command& command, Instant now, std::vector<Key> fresh,
              std::vector<Key> ended = {});
  std::vector<Event> sweep(Instant now, std::size_t limit);
  // The connection of all bound holds ends.
  std::vector<Event> disconnect(Instant now);

  // Every claim there ever was, as a client sees it at the instant.
  std::vector<Claim> claims(Instant now) const;
  std::optional<Claim> claim(const Key& key, Instant now) const;
  std::optional<Resource> resource(const Path& path) const;  // none: not defined
  // By trying every cell of the grid: every span and turnaround must lie on it.
  std::vector<FreePiece> availability(const Path& path, Span window, Duration grid,
                                      Quantity quantity, Instant now) const;
  Position last_event(const Path& path) const;
  Position head() const { return facts_.head; }

 private:
  struct Place {
    Path path;
    std::optional<Definition> definition = {};
    std::vector<Span> hours = {};
    std::vector<Span> blocked = {};
    bool closed = false;
    bool retired = false;
    Position last = {};
    Position rules_since = {};  // of turnaround, parts and holder limit
  };
  struct Facts {
    std::vector<Claim> claims = {};  // a lapsed hold is `held` until its end is recorded
    std::vector<Place> places = {};
    Position head = {};
  };
  struct Wish {  // for room
    Path path;
    std::optional<Span> span;
    Quantity quantity;
    Holder holder;
    std::optional<Quantity> vouched = {};
    std::optional<Key> besides = {};  // the claim whose place it takes does not count
  };
  struct Term {
    Instant expires_at;
    bool clamped;
  };
  // What another claim takes of the room for a wish, and when.
  struct Taken {
    const Claim* claim;
    Span when;
    bool whole;  // all units: a whole above or a part below
  };
  struct Tightest {
    std::int64_t free;
    std::vector<Claim> blockers;
  };

  // -- one command, judged against the facts
  void judge(const Define& define);
  void judge(const Change& change);
  void judge(const ChangeWindow& change);
  void judge(const Close& close);
  void judge(const Open& open);
  void judge(const Retire& retire);
  void judge(const Hold& hold);
  void judge(const HoldAny& any);
  void judge(const Extend& extend);
  void judge(const Release& release);
  void judge(const Commit& commit);
  void judge(const Cancel& cancel);
  void judge(const Steal& steal);
  void judge(const Move& move);
  void judge(const EndAll& end);
  void judge(const Check& check);
  void judge(const Transact& transact);
  void extend_one(const Key& key, const Extend& extend);
  void release_one(const Key& key, const Release& release);
  void commit_one(const Key& key, const Commit& commit);
  void reacquire(Claim& old, const Commit& commit);
  void repeat(const HoldAny& any, const Key& prefix);
  void end_one(const Key& key);
  bool refuse_condition(const Check::Condition& condition);

  // -- commands of many parts
  Outcome part(const Command& command);
  template <class Single>
  Outcome alone(const Single& single);
  // False: it was refused, and so is the whole.
  bool take(Outcome part);
  template <class Each>
  void for_cart(const Cart& cart, const Each& each);

  // -- facts
  Place& place(const Path& path);
  const Place* known(const Path& path) const;
  bool defined(const Path& path) const;
  Definition definition(const Path& path) const;  // or the defaults
  Claim* find(const Key& key);
  bool live(const Claim& claim) const;
  Claim seen(const Claim& claim) const;

  // -- rules
  bool refuse(Refusal refusal);  // true
  bool refuse_holder(const Claim* claim, const std::optional<Holder>& holder);
  bool refuse_version(const Claim& claim, const std::optional<Position>& version);
  bool refuse_part(const Claim& claim, const std::optional<Quantity>& part);
  bool refuse_not_held(const Claim& claim);
  bool refuse_over(const Claim& claim);
  bool refuse_in_use(const Path& path, bool below);
  bool refuse_term(const Path& path, const Expiry& expiry, Instant held_at);
  bool refuse_wish(const Wish& wish);
  bool refuse_holder_limit(const Wish& wish);
  bool refuse_conflict(const Wish& wish);
  const Path* closed_at(const Path& path) const;
  bool outside_hours(const Path& path, const std::optional<Span>& span) const;
  const Path* blocked_at(const Path& path, const std::optional<Span>& span) const;
  bool unknown(const Path& path) const;
  std::vector<Path> upwards(const Path& path) const;
  std::optional<Term> term(const Path& path, const Expiry& expiry, Instant held_at) const;
  std::int64_t capacity(const Path& path, const std::optional<Quantity>& vouched) const;
  std::optional<Taken> taken(const Wish& wish, const Claim& claim) const;
  // At the first of the instants with the fewest free units, of holds those counted that still
  // stand at `later`.
  Tightest tightest(const Wish& wish, Instant later) const;

  // -- writing
  Event& write(const Path& path, Happening happening);
  Event& write(Claim& claim, Happening happening);
  void write_by_itself(Claim& claim, Happening happening);
  void write_lapsed(const Wish& wish);
  Claim& write_held(const Wish& wish, const Key& key, Term granted);
  void answer(const Key& key, const std::optional<Quantity>& vouched = {});
  void close_transaction();
  Key fresh_key(const std::optional<Key>& given);

  Policy policy_;
  Facts facts_;

  // The command at hand.
  const Command* command_ = nullptr;
  std::vector<Key> fresh_;
  std::vector<Key> ended_;
  Instant now_;
  Outcome outcome_;
  bool in_transaction_ = false;
};

}  // namespace holdfast::testing
