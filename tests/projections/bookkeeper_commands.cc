#include "tests/projections/bookkeeper.h"

// Commands at random: every kind there is, over few paths, holders, carts and instants.
namespace holdfast::projections {

std::uint64_t Bookkeeper::below(std::uint64_t n) {
  return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random_);
}

std::string Bookkeeper::any(const std::vector<std::string>& of) {
  return of.empty() ? "none" : of[below(of.size())];
}

Path Bookkeeper::any_path() { return *Path::make(any(paths())); }

Duration Bookkeeper::any_length(std::uint64_t least, std::uint64_t more) {
  return Duration{static_cast<std::int64_t>(least + below(more))};
}

// Most lie in the first thousand seconds there are, so that they meet, and have ended; some have
// not, which is what a holder's limit counts.
Span Bookkeeper::any_span() {
  const Instant earliest = below(4) == 0 ? now_ : kMinInstant;
  const Instant from = earliest + Duration{static_cast<std::int64_t>(below(1'000) * 1'000)};
  return {from, from + any_length(1'000, 30'000)};
}

Key Bookkeeper::recent_key() {
  if (keys_.empty()) return *Key::make("none");
  return *Key::make(keys_[keys_.size() - 1 - below(std::min<std::size_t>(keys_.size(), 40))]);
}

Action Bookkeeper::any_hold() {
  Hold hold{.resource = any_path(),
            .key = {},
            .span = {},
            .quantity = {static_cast<std::int64_t>(1 + below(3))},
            .holder = Holder::make(any(holders())),
            .cart = {},
            .label = {},
            .expiry = {.ttl = any_length(1'000, 60'000), .expires_at = {}},
            .capacity = {},
            .bound = below(8) == 0};
  if (below(8) != 0) hold.span = any_span();
  if (below(2) == 0) hold.capacity = Quantity{5};
  if (below(3) == 0) hold.cart = Cart::make(any(carts()));
  if (below(3) == 0) hold.label = Note::make("label");
  return hold;
}

Action Bookkeeper::any_hold_any() {
  return HoldAny{.below = any_path(),
                 .count = static_cast<std::int64_t>(1 + below(3)),
                 .key = {},
                 .span = any_span(),
                 .quantity = {1},
                 .holder = Holder::make(any(holders())),
                 .cart = below(2) == 0 ? Cart::make(any(carts())) : std::nullopt,
                 .label = {},
                 .expiry = {.ttl = any_length(1'000, 60'000), .expires_at = {}},
                 .bound = below(8) == 0};
}

Action Bookkeeper::any_window() {
  const Path path = any_path();
  const WindowKind kind = below(2) == 0 ? WindowKind::hours : WindowKind::blocked;
  const Resource* resource = state_.definition(path.view());
  // Those there are go again sooner than new ones come, or nothing would be open for long.
  if (resource != nullptr && !resource->windows(kind).empty() && below(3) != 0) {
    return ChangeWindow{path, {kind, false, *resource->windows(kind).spans().begin()}};
  }
  const Span span = any_span();
  if (kind == WindowKind::blocked) return ChangeWindow{path, {kind, true, span}};
  return ChangeWindow{path, {kind, true, {kMinInstant, span.until + kHour}}};
}

Action Bookkeeper::any_resource_action() {
  const Quantity capacity{static_cast<std::int64_t>(1 + below(6))};
  const Duration turnaround{static_cast<std::int64_t>(below(2) * 1'000)};
  const auto maybe = [this](auto value) {
    return below(4) == 0 ? std::optional(value) : std::nullopt;
  };
  const Quantity limit{static_cast<std::int64_t>(2 + below(12))};
  switch (below(9)) {
    case 0:
    case 1:
    case 2:
      return Define{any_path(),
                    {.capacity = capacity,
                     .turnaround = turnaround,
                     .parts = below(4) == 0,
                     .max_ttl = maybe(Duration{50'000}),
                     .default_ttl = {},
                     .holder_limit = maybe(limit),
                     .extension_limit = maybe(std::int64_t{2}),
                     .max_hold_time = maybe(Duration{90'000}),
                     .attributes = {{*AttributeName::make("station"), *Note::make("17")}}}};
    case 3:
    case 4:
      return Change{any_path(),
                    {.capacity = capacity,
                     .turnaround = maybe(turnaround),
                     .parts = maybe(below(2) == 0),
                     .max_ttl = Duration{60'000},
                     .default_ttl = {},
                     .holder_limit = maybe(limit),
                     .extension_limit = maybe(std::int64_t{3}),
                     .max_hold_time = {},
                     .attributes = {{*AttributeName::make("colour"), maybe(*Note::make("red"))}}}};
    case 5:
      return Close{any_path()};
    case 6:
    case 7:
      return Open{any_path()};
    default:
      return Retire{any_path(), below(8) == 0};
  }
}

// Of a claim that was made not long ago, or of a cart.
Action Bookkeeper::any_claim_action() {
  const Key key = recent_key();
  const StandingClaim* claim = state_.find(key.view());
  const Holder holder = claim == nullptr ? *Holder::make("ann") : claim->holder->holder;
  const bool of_cart = below(8) == 0;
  const KeyOrCart which = of_cart ? KeyOrCart(*Cart::make(any(carts()))) : KeyOrCart(key);
  const std::optional<Holder> owner = of_cart ? std::nullopt : std::optional(holder);
  const bool in_part = below(3) == 0 && !of_cart;
  const std::optional<Quantity> part = in_part ? std::optional(Quantity{1}) : std::nullopt;
  const Expiry expiry{.ttl = any_length(1'000, 90'000), .expires_at = {}};
  std::optional<Key> reacquire;
  switch (below(12)) {
    case 0:
    case 1:
      return Extend{which, owner, {}, expiry, below(2) == 0};
    case 2:
    case 3:
      return Release{which, owner, {}, part};
    case 4:
    case 5:
      if (below(2) == 0 && !of_cart) reacquire = *Key::make("again-" + std::to_string(fresh_++));
      return Commit{which, owner, {}, part, {}, reacquire, {}};
    case 6:
      return Cancel{key, holder, {}, part};
    case 7:
    case 8: {
      Steal steal{.key = key,
                  .from_holder = holder,
                  .new_key = {},
                  .holder = Holder::make(any(holders())),
                  .version = {},
                  .cart = {},
                  .label = {},
                  .expiry = expiry,
                  .capacity = {}};
      steal.force = below(3) == 0;
      return steal;
    }
    default:
      return any_move(key, holder);
  }
}

// Often up or down the path it is on, which is one history and another.
Action Bookkeeper::any_move(const Key& key, const Holder& holder) {
  Move move{.key = key, .holder = holder, .version = {}, .to = {}, .span = {}};
  if (below(4) != 0) move.to = any_path();
  if (const StandingClaim* claim = state_.find(key.view()); claim != nullptr && below(2) == 0) {
    const std::string_view above = parent_of(claim->resource->path.view());
    if (!above.empty()) move.to = *Path::make(above);
  }
  if (below(2) == 0) move.span = any_span();
  return move;
}

Action Bookkeeper::any_transact() {
  Transact transact;
  for (std::uint64_t steps = 1 + below(4); steps > 0; --steps) {
    Action action = below(6) == 0 ? Check{{CheckOpen{any_path()}}} : any_single();
    transact.steps.push_back({command(std::move(action), {})});
  }
  return transact;
}

Action Bookkeeper::any_single() {
  switch (below(16)) {
    case 0:
    case 1:
    case 2:
      return any_resource_action();
    case 3:
      return any_window();
    case 4:
      return any_hold_any();
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
      return any_claim_action();
    default:
      return any_hold();
  }
}

Action Bookkeeper::any_action() {
  const std::uint64_t kind = below(100);
  if (kind < 10) return any_transact();
  if (kind < 12) return EndAll{any_path(), 1 + below(4), {}, {}, below(4) == 0};
  return any_single();
}

}  // namespace holdfast::projections
