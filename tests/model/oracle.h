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
// and paths, every question a scan. Shares the values of the domain with it, and no code.
class Oracle {
 public:
  explicit Oracle(Policy policy) : policy_(policy) {}

  Outcome run(const Command& command, Instant now, const Key& fresh_key);
  std::vector<Event> sweep(Instant now, std::size_t limit);

  // Every claim there ever was, as a client sees it at the instant.
  std::vector<Claim> claims(Instant now) const;
  std::optional<Claim> claim(const Key& key, Instant now) const;
  // By trying every cell of the grid: every span and turnaround must lie on it.
  std::vector<FreePiece> availability(const Path& path, Span window, Duration grid,
                                      Quantity quantity, Instant now) const;
  Position last_event(const Path& path) const;
  Position head() const { return head_; }

 private:
  struct Place {
    Path path;
    std::optional<Definition> definition = {};
    bool closed = false;
    bool retired = false;
    Position last = {};
  };
  struct Wish {  // for room, by a hold or a steal
    Path path;
    std::optional<Span> span;
    Quantity quantity;
    Expiry expiry;
    std::optional<Quantity> vouched;
  };
  struct Term {
    Instant expires_at;
    bool clamped;
  };

  void judge(const Define& define);
  void judge(const Change& change);
  void judge(const Close& close);
  void judge(const Open& open);
  void judge(const Retire& retire);
  void judge(const Hold& hold);
  void judge(const Extend& extend);
  void judge(const Release& release);
  void judge(const Commit& commit);
  void judge(const Cancel& cancel);
  void judge(const Steal& steal);

  // -- state
  Place& place(const Path& path);
  const Place* known(const Path& path) const;
  bool defined(const Path& path) const;
  Definition definition(const Path& path) const;  // or the defaults
  Claim* find(const Key& key);
  bool live(const Claim& claim) const;
  Claim seen(const Claim& claim) const;
  Span whole(const Path& path, const std::optional<Span>& span) const;

  // -- rules
  bool refuse(Refusal refusal);  // true
  bool refuse_holder(const Claim* claim, const std::optional<Holder>& holder);
  bool refuse_version(const Claim& claim, const std::optional<Position>& version);
  bool refuse_part(const Claim& claim, const std::optional<Quantity>& part);
  bool refuse_not_held(const Claim& claim);
  bool refuse_in_use(const Path& path, bool below);
  bool refuse_wish(const Wish& wish);
  bool refuse_conflict(const Wish& wish);
  bool unknown(const Path& path) const;
  std::vector<Path> upwards(const Path& path) const;
  std::optional<Term> term(const Path& path, const Expiry& expiry) const;
  // Units that are taken at `at`, of holds those that still stand at `later`.
  std::int64_t taken(const Path& path, Instant at, Instant later) const;
  std::vector<Instant> interesting(const Path& path, Span span) const;
  std::int64_t most_taken(const Path& path, Span span, Instant later) const;

  // -- writing
  Event& write(const Path& path, Happening happening);
  Event& write(Claim& claim, Happening happening);
  void write_expired(Claim& claim);
  void write_lapsed(const Wish& wish, const Claim* except);
  void write_held(const Wish& wish, const Key& key, const Holder& holder,
                  const std::optional<Cart>& cart, const std::optional<Note>& label,
                  const std::optional<Key>& stolen_from);
  void answer(const Key& key, const std::optional<Quantity>& vouched = {});
  void close_transaction();

  Policy policy_;
  std::vector<Claim> claims_;  // a lapsed hold is `held` until its end is recorded
  std::vector<Place> places_;
  Position head_;

  // The command at hand.
  const Command* command_ = nullptr;
  std::optional<Key> fresh_key_;
  Instant now_;
  Outcome outcome_;
};

}  // namespace holdfast::testing
