#include "api/convert_query.h"

#include <kj/debug.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "api/form.h"
#include "ledger/domain/event_type.h"

namespace holdfast::api {
namespace {

tl::unexpected<Refusal> refuse(Reason reason) { return tl::unexpected(Refusal{.reason = reason}); }
tl::unexpected<Refusal> bad_text(std::string_view field) {
  return tl::unexpected(Refusal{.reason = Reason::bad_text, .field = std::string(field)});
}

template <class Name>
bool is_bad(bool given, capnp::Text::Reader text) {
  return given && !Name::make(view(text));
}

bool is_good(const Span& span) {
  return in_range(span.from) && in_range(span.until) && span.from < span.until;
}
bool is_quantity(std::int64_t units) { return units >= 1 && units <= kMaxUnits; }

// Of a list at and below a path: none of it can be the caller's.
bool is_outside(const Caller& caller, const auto& query) {
  return query.hasResource() && !caller.grant.scope.reaches(view(query.getResource()));
}

std::size_t page_size(std::uint32_t limit, std::size_t most = kMaxPage) {
  return limit == 0 ? most : std::min<std::size_t>(limit, most);
}

// Takes the number that the text begins with.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}
bool take_slash(std::string_view& text) {
  if (!text.starts_with('/')) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::uint64_t> read_position(std::string_view text) {
  std::uint64_t position = 0;
  const bool whole = take(text, position) && text.empty();
  return whole && position > 0 ? std::optional(position) : std::nullopt;
}

// INSTANT/INSTANT, within the query's window: what cursor_at() writes.
bool go_on(std::string_view cursor, AvailabilityQuery& asked) {
  AvailabilityPage::Rest rest{};
  const bool read = take(cursor, rest.window_from.ms) && take_slash(cursor) &&
                    take(cursor, rest.run_from.ms) && cursor.empty();
  if (!read) return false;
  const bool in_order = asked.window.from <= rest.run_from && rest.run_from <= rest.window_from &&
                        rest.window_from < asked.window.until;
  if (!in_order) return false;
  asked.window.from = rest.window_from;
  asked.run_from = rest.run_from;
  return true;
}

// Both ends are optional: from the beginning, or to the end of time.
tl::expected<std::optional<Span>, Refusal> instants(std::int64_t from, std::int64_t until) {
  if (from == wire::NONE && until == wire::NONE) return std::nullopt;
  const Span span{from == wire::NONE ? kMinInstant : Instant{from},
                  until == wire::NONE ? kMaxInstant : Instant{until}};
  if (!is_good(span)) return refuse(Reason::bad_span);
  return span;
}

// The positions to list, [from, until]; an until of 0 is the end of the log.
tl::expected<void, Refusal> set_range(wire::HistoryQuery::Reader query,
                                      projections::HistoryQuery& result) {
  const std::int64_t from = query.getFromPosition();
  const std::int64_t until = query.getUntilPosition();
  const bool has_from = from != wire::NONE;
  const bool has_until = until != wire::NONE;
  if ((has_from && from < 1) || (has_until && until < (has_from ? from : 1))) {
    return refuse(Reason::bad_span);
  }
  if (has_from) result.from = Position{static_cast<std::uint64_t>(from)};
  if (has_until) result.until = Position{static_cast<std::uint64_t>(until)};
  if (!query.hasCursor()) return {};

  const auto cursor = read_position(view(query.getCursor()));
  if (!cursor) return bad_text("cursor");
  if (query.getNewestFirst()) {
    // Nothing lies before the first position, so no list goes on behind it.
    if (*cursor <= result.from.value) return bad_text("cursor");
    const Position before{*cursor - 1};
    result.until = result.until ? std::min(result.until, before) : before;
  } else {
    if (has_until && *cursor >= result.until.value) return bad_text("cursor");
    result.from = std::max(result.from, Position{*cursor + 1});
  }
  return {};
}

}  // namespace

tl::expected<std::optional<NamedPoint>, Refusal> to_point(bool given, wire::AsOf::Reader as_of) {
  if (!given) return std::nullopt;
  const bool by_position = as_of.getPosition() != wire::NONE;
  const bool by_instant = as_of.getInstant() != wire::NONE;
  if (by_position == by_instant) return refuse(Reason::bad_time);
  if (by_position) {
    if (as_of.getPosition() < 1) return refuse(Reason::bad_time);
    return NamedPoint{.position = Position{static_cast<std::uint64_t>(as_of.getPosition())},
                      .instant = std::nullopt};
  }
  const Instant instant{as_of.getInstant()};
  if (!in_range(instant)) return refuse(Reason::bad_time);
  return NamedPoint{.position = std::nullopt, .instant = instant};
}

tl::expected<Key, Refusal> to_query(wire::ClaimQuery::Reader query) {
  auto key = Key::make(view(query.getKey()));
  if (!key) return refuse(Reason::bad_key);
  return std::move(*key);
}

tl::expected<projections::ClaimsQuery, Refusal> to_query(wire::ClaimsQuery::Reader query,
                                                         const Caller& caller) {
  if (is_bad<Path>(query.hasResource(), query.getResource())) return refuse(Reason::bad_path);
  if (is_bad<Holder>(query.hasHolder(), query.getHolder())) return bad_text("holder");
  if (is_bad<Cart>(query.hasCart(), query.getCart())) return bad_text("cart");
  if (is_bad<Key>(query.hasCursor(), query.getCursor())) return bad_text("cursor");
  KJ_REQUIRE(query.getState() <= wire::StateFilter::ALL, "a state that this server does not know");
  if (is_outside(caller, query)) return refuse(Reason::forbidden);
  return projections::ClaimsQuery{
      .resource = std::string(view(query.getResource())),
      .holder = std::string(view(query.getHolder())),
      .cart = std::string(view(query.getCart())),
      .state = static_cast<projections::StateFilter>(query.getState()),
      .after_key = std::string(view(query.getCursor())),
      .limit = page_size(query.getLimit()),
      .scope = caller.grant.scope,
  };
}

tl::expected<AvailabilityRequest, Refusal> to_query(wire::AvailabilityQuery::Reader query,
                                                    const Caller& caller) {
  auto path = Path::make(view(query.getResource()));
  if (!path) return refuse(Reason::bad_path);
  const bool forbidden = !caller.grant.scope.covers(path->view());
  const bool has_quantity = query.getQuantity() != wire::NONE;
  const bool has_duration = query.getDuration() != wire::NONE;
  if (query.getFrom() == wire::NONE && query.getUntil() == wire::NONE) {
    // Both ask about pieces of a window.
    if (has_quantity || has_duration) return refuse(Reason::bad_span);
    if (forbidden) return refuse(Reason::forbidden);
    return AvailabilityRequest{std::move(*path), std::nullopt};
  }
  const Span window{Instant{query.getFrom()}, Instant{query.getUntil()}};
  if (!is_good(window)) return refuse(Reason::bad_span);
  if (has_quantity && !is_quantity(query.getQuantity())) return refuse(Reason::bad_quantity);
  if (has_duration && query.getDuration() <= 0) return refuse(Reason::bad_ttl);
  if (forbidden) return refuse(Reason::forbidden);
  AvailabilityQuery asked{.resource = *path, .window = window, .quantity = {1}, .duration = {}};
  if (has_quantity) asked.quantity = Quantity{query.getQuantity()};
  if (has_duration) asked.duration = Duration{query.getDuration()};
  if (query.hasCursor() && !go_on(view(query.getCursor()), asked)) return bad_text("cursor");
  return AvailabilityRequest{std::move(*path), std::move(asked),
                             page_size(query.getLimit(), kMaxPieces)};
}

tl::expected<NextFreeRequest, Refusal> to_query(wire::NextFreeQuery::Reader query,
                                                const Caller& caller) {
  auto path = Path::make(view(query.getResource()));
  if (!path) return refuse(Reason::bad_path);
  const bool has_from = query.getFrom() != wire::NONE;
  const bool has_until = query.getUntil() != wire::NONE;
  NextFreeRequest asked{.resource = std::move(*path),
                        .duration = {},
                        .quantity = {1},
                        .from = {},
                        .until = kMaxInstant};
  if (has_from) asked.from = Instant{query.getFrom()};
  if (has_until) asked.until = Instant{query.getUntil()};
  if (!is_good({asked.from.value_or(kMinInstant), asked.until})) return refuse(Reason::bad_span);
  if (const auto units = query.getQuantity(); units != wire::NONE) {
    if (!is_quantity(units)) return refuse(Reason::bad_quantity);
    asked.quantity = Quantity{units};
  }
  // No span is longer than all of time; not given is too short.
  asked.duration = Duration{std::min(query.getDuration(), kMaxInstant.ms + 1)};
  if (asked.duration.ms <= 0) return refuse(Reason::bad_ttl);
  if (!caller.grant.scope.covers(asked.resource.view())) return refuse(Reason::forbidden);
  return asked;
}

tl::expected<ResourcesQuery, Refusal> to_query(wire::ResourcesQuery::Reader query,
                                               const Caller& caller) {
  if (is_bad<Path>(query.hasResource(), query.getResource())) return refuse(Reason::bad_path);
  if (is_bad<Path>(query.hasCursor(), query.getCursor())) return bad_text("cursor");
  ResourcesQuery asked{.resource = std::string(view(query.getResource())),
                       .scope = caller.grant.scope,
                       .after = std::string(view(query.getCursor())),
                       .limit = page_size(query.getLimit())};
  if (query.getFrom() != wire::NONE || query.getUntil() != wire::NONE) {
    asked.span = Span{Instant{query.getFrom()}, Instant{query.getUntil()}};
    if (!is_good(*asked.span)) return refuse(Reason::bad_span);
  }
  if (const auto units = query.getQuantity(); units != wire::NONE) {
    if (!is_quantity(units)) return refuse(Reason::bad_quantity);
    asked.at_least = units;
  }
  if (is_outside(caller, query)) return refuse(Reason::forbidden);
  return asked;
}

tl::expected<projections::TalliesQuery, Refusal> to_query(wire::TalliesQuery::Reader query,
                                                          const Caller& caller) {
  if (is_bad<Path>(query.hasResource(), query.getResource())) return refuse(Reason::bad_path);
  const auto days = instants(query.getFrom(), query.getUntil());
  if (!days) return tl::unexpected(days.error());
  projections::TalliesQuery asked{.resource = std::string(view(query.getResource())),
                                  .scope = caller.grant.scope,
                                  .limit = page_size(query.getLimit())};
  if (*days) {
    asked.from = projections::day_of((*days)->from);
    asked.until = {projections::day_of((*days)->until - Duration{1}).number + 1};
  }
  if (query.hasCursor()) {
    std::string_view cursor = view(query.getCursor());
    auto& behind = asked.behind.emplace();
    const bool read = take(cursor, behind.day.number) && take_slash(cursor) && is_path(cursor);
    if (!read) return bad_text("cursor");
    behind.path = cursor;
  }
  if (is_outside(caller, query)) return refuse(Reason::forbidden);
  return asked;
}

tl::expected<projections::HistoryQuery, Refusal> to_query(wire::HistoryQuery::Reader query,
                                                          const Caller& caller) {
  if (is_bad<Path>(query.hasResource(), query.getResource())) return refuse(Reason::bad_path);
  if (is_bad<Key>(query.hasKey(), query.getKey())) return refuse(Reason::bad_key);
  if (is_bad<Holder>(query.hasHolder(), query.getHolder())) return bad_text("holder");
  if (is_bad<Actor>(query.hasActor(), query.getActor())) return bad_text("actor");
  if (is_bad<RequestId>(query.hasRequestId(), query.getRequestId())) return bad_text("request_id");
  if (query.hasType() && !is_type_name(view(query.getType()))) return bad_text("type");
  if (is_bad<CorrelationId>(query.hasCorrelationId(), query.getCorrelationId())) {
    return bad_text("correlation_id");
  }
  const auto recorded = instants(query.getFrom(), query.getUntil());
  if (!recorded) return tl::unexpected(recorded.error());
  const auto effective = instants(query.getEffectiveFrom(), query.getEffectiveUntil());
  if (!effective) return tl::unexpected(effective.error());
  projections::HistoryQuery result{
      .resource = std::string(view(query.getResource())),
      .key = std::string(view(query.getKey())),
      .holder = std::string(view(query.getHolder())),
      .actor = std::string(view(query.getActor())),
      .request_id = std::string(view(query.getRequestId())),
      .type = std::string(view(query.getType())),
      .correlation_id = std::string(view(query.getCorrelationId())),
      .recorded = *recorded,
      .effective = *effective,
      .scope = caller.grant.scope,
      .from = {1},
      .until = {},
      .newest_first = query.getNewestFirst(),
      .limit = page_size(query.getLimit()),
  };
  if (query.hasRequestId() && !query.hasActor()) result.actor = caller.actor().str();
  if (auto done = set_range(query, result); !done) return tl::unexpected(done.error());
  if (is_outside(caller, query)) return refuse(Reason::forbidden);
  return result;
}

// DAY/PATH.
std::string cursor_behind(const projections::TalliesQuery::Cursor& last) {
  return std::to_string(last.day.number) + "/" + last.path;
}

std::string cursor_at(const AvailabilityPage::Rest& rest) {
  return std::to_string(rest.window_from.ms) + "/" + std::to_string(rest.run_from.ms);
}

std::string cursor_behind(const Claim& last) { return last.key.str(); }

}  // namespace holdfast::api
