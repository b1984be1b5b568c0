#include "api/convert_event.h"

#include <algorithm>
#include <functional>
#include <map>

#include "api/form.h"
#include "ledger/domain/time.h"

namespace holdfast::api {
namespace {

// Caught where the event is asked for.
struct NoEvent {
  std::string why;
};

void expect(bool holds, const char* what) {
  if (!holds) throw NoEvent{what};
}

template <class T>
T get(capnp::Text::Reader text, const char* field) {
  auto made = T::make(view(text));
  if (!made) throw NoEvent{std::string(field) + " is none"};
  return std::move(*made);
}

Quantity quantity(std::int64_t units) {
  expect(units >= 0 && units <= kMaxUnits, "a quantity is missing or out of range");
  return {units};
}

Instant instant(std::int64_t ms) {
  expect(in_range(Instant{ms}), "an instant is missing or out of range");
  return {ms};
}

std::optional<Duration> duration(std::int64_t ms) {
  if (ms == wire::NONE) return std::nullopt;
  return Duration{ms};
}

std::optional<Quantity> optional_quantity(std::int64_t units) {
  if (units == wire::NONE) return std::nullopt;
  return quantity(units);
}

std::optional<Span> span(wire::Event::Reader from) {
  if (from.getFrom() == wire::NONE && from.getUntil() == wire::NONE) return std::nullopt;
  const Span span{instant(from.getFrom()), instant(from.getUntil())};
  expect(span.from < span.until, "its span is empty");
  return span;
}

Definition definition(wire::Event::Reader from) {
  expect(from.getTurnaround() != wire::NONE, "turnaround is missing");
  Definition to;
  to.capacity = quantity(from.getCapacity());
  to.turnaround = {from.getTurnaround()};
  to.parts = from.getParts();
  to.max_ttl = duration(from.getMaxTtl());
  to.default_ttl = duration(from.getDefaultTtl());
  to.holder_limit = optional_quantity(from.getHolderLimit());
  if (from.getExtensionLimit() != wire::NONE) {
    to.extension_limit = quantity(from.getExtensionLimit()).units;
  }
  to.max_hold_time = duration(from.getMaxHoldTime());
  for (const auto attribute : from.getAttributes()) {
    to.attributes.emplace(get<AttributeName>(attribute.getName(), "attribute"),
                          get<Note>(attribute.getValue(), "attribute"));
  }
  return to;
}

Happening changed(wire::Event::Reader from) {
  Changed to{.definition = definition(from), .window = {}};
  if (!from.hasWindow()) return to;
  const auto window = span(from);
  const bool blocked = view(from.getWindow()) == "blocked";
  expect(window && (blocked || view(from.getWindow()) == "hours"), "its window is none");
  to.window = WindowChange{blocked ? WindowKind::blocked : WindowKind::hours, from.getWindowAdded(),
                           *window};
  return to;
}

Happening held(wire::Event::Reader from) {
  Held to{.span = span(from),
          .quantity = quantity(from.getQuantity()),
          .expires_at = instant(from.getExpiresAt()),
          .clamped = from.getClamped(),
          .capacity = optional_quantity(from.getCapacity()),
          .stolen_from = {},
          .bound = from.getBound()};
  if (from.hasStolenFrom()) to.stolen_from = get<Key>(from.getStolenFrom(), "stolen_from");
  return to;
}

Happening moved(wire::Event::Reader from) {
  Moved to{.to = {}, .span = span(from), .previous_on_to = {from.getPreviousOnTo()}};
  if (from.hasTo()) to.to = get<Path>(from.getTo(), "to");
  return to;
}

Happening happening(wire::Event::Reader from) {
  using Make = std::function<Happening(wire::Event::Reader)>;
  static const std::map<std::string_view, Make> kTypes = {
      {"defined", [](auto e) { return Defined{definition(e)}; }},
      {"changed", changed},
      {"closed", [](auto) { return Closed{}; }},
      {"opened", [](auto) { return Opened{}; }},
      {"retired", [](auto e) { return Retired{e.getForced()}; }},
      {"held", held},
      {"extended",
       [](auto e) {
         return Extended{instant(e.getExpiresAt()), e.getClamped()};
       }},
      {"released",
       [](auto e) {
         return Released{quantity(e.getQuantity()), quantity(e.getRemaining())};
       }},
      {"committed",
       [](auto e) {
         return Committed{quantity(e.getQuantity()), quantity(e.getLetGo())};
       }},
      {"cancelled",
       [](auto e) {
         return Cancelled{quantity(e.getQuantity()), quantity(e.getRemaining())};
       }},
      {"stolen", [](auto e) { return Stolen{get<Key>(e.getStolenBy(), "stolen_by")}; }},
      {"moved", moved},
      {"expired", [](auto e) { return Expired{instant(e.getDue())}; }},
  };
  const auto make = kTypes.find(view(from.getType()));
  if (make == kTypes.end()) throw NoEvent{"its type is none"};
  return make->second(from);
}

Personal personal(wire::Event::Reader from) {
  Personal to;
  if (from.hasHolder()) to.holder = get<Holder>(from.getHolder(), "holder");
  if (from.hasCart()) to.cart = get<Cart>(from.getCart(), "cart");
  if (from.hasLabel()) to.label = get<Note>(from.getLabel(), "label");
  if (from.hasOnBehalfOf()) to.on_behalf_of = get<Holder>(from.getOnBehalfOf(), "on_behalf_of");
  if (from.hasReason()) to.reason = get<Note>(from.getReason(), "reason");
  to.source = view(from.getSource());
  return to;
}

Event event(wire::Event::Reader from) {
  const std::uint64_t position = from.getPosition();
  const std::uint64_t first = from.getTransaction();
  expect(position > 0 && first > 0 && first <= position &&
             position - first < from.getTransactionCount(),
         "its transaction does not hold its position");
  Event to{.position = {position},
           .transaction = {first},
           .transaction_count = from.getTransactionCount(),
           .recorded_at = instant(from.getRecordedAt()),
           .resource = get<Path>(from.getResource(), "resource"),
           .key = {},
           .previous_on_resource = {from.getPreviousOnResource()},
           .previous_of_claim = {from.getPreviousOfClaim()},
           .actor = get<Actor>(from.getActor(), "actor"),
           .request_id = {},
           .correlation_id = {},
           .content = {},
           .available = {},
           .step = from.getStep(),
           .personal = personal(from),
           .happening = happening(from)};
  if (from.hasKey()) to.key = get<Key>(from.getKey(), "key");
  if (from.hasRequestId()) to.request_id = get<RequestId>(from.getRequestId(), "request_id");
  if (from.hasCorrelationId()) {
    to.correlation_id = get<CorrelationId>(from.getCorrelationId(), "correlation_id");
  }
  if (from.hasContent()) {
    const auto bytes = from.getContent();
    to.content.emplace();
    expect(bytes.size() == to.content->size(), "content is no digest");
    std::ranges::copy(std::as_bytes(std::span(bytes.begin(), bytes.size())), to.content->begin());
  }
  if (from.getAvailable() != wire::NONE) to.available = from.getAvailable();
  return to;
}

}  // namespace

tl::expected<Event, std::string> event_from(wire::Event::Reader from) {
  try {
    return event(from);
  } catch (const NoEvent& e) {
    return tl::unexpected(e.why);
  }
}

}  // namespace holdfast::api
