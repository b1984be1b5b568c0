#include "ledger/store/event_codec.h"

#include <capnp/message.h>
#include <capnp/schema.h>
#include <kj/exception.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "ledger/domain/invariant.h"
#include "ledger/event.capnp.h"

namespace holdfast::store {
namespace {

static_assert(std::endian::native == std::endian::little, "Cap'n Proto words are read in place");

using Words = kj::ArrayPtr<const capnp::word>;

// ---- Writing. Texts are set in the order of their pointers, which makes the builder's own
// layout the canonical one but for the zeros at the end of its two sections.

std::uint32_t units(Quantity quantity) {
  HOLDFAST_INVARIANT(quantity.units >= 0 && quantity.units <= kMaxUnits, "quantity in range");
  return static_cast<std::uint32_t>(quantity.units);
}

capnp::Text::Reader text(std::string_view s) { return {s.data(), s.size()}; }  // a NUL follows it

void set_definition(wire::Definition::Builder to, const Definition& from) {
  to.setCapacity(units(from.capacity));
  to.setTurnaround(from.turnaround.ms);
  to.setHasMaxTtl(from.max_ttl.has_value());
  to.setMaxTtl(from.max_ttl.value_or(Duration{}).ms);
  to.setHasDefaultTtl(from.default_ttl.has_value());
  to.setDefaultTtl(from.default_ttl.value_or(Duration{}).ms);
  to.setParts(from.parts);
  to.setHasHolderLimit(from.holder_limit.has_value());
  to.setHolderLimit(units(from.holder_limit.value_or(Quantity{})));
  to.setHasExtensionLimit(from.extension_limit.has_value());
  to.setExtensionLimit(units(Quantity{from.extension_limit.value_or(0)}));
  to.setHasMaxHoldTime(from.max_hold_time.has_value());
  to.setMaxHoldTime(from.max_hold_time.value_or(Duration{}).ms);
  if (from.attributes.empty()) return;
  auto attributes = to.initAttributes(static_cast<unsigned>(from.attributes.size()));
  unsigned i = 0;
  for (const auto& [name, value] : from.attributes) {
    attributes[i].setName(text(name.view()));
    attributes[i++].setValue(text(value.view()));
  }
}

struct SetHappening {
  wire::Event::Happening::Builder to;

  void operator()(const Defined& e) {
    set_definition(to.initDefined().initDefinition(), e.definition);
  }
  void operator()(const Changed& e) {
    auto changed = to.initChanged();
    set_definition(changed.initDefinition(), e.definition);
    changed.setHasWindow(e.window.has_value());
    if (!e.window) return;
    changed.setWindowBlocked(e.window->kind == WindowKind::blocked);
    changed.setWindowAdded(e.window->add);
    changed.setWindowFrom(e.window->span.from.ms);
    changed.setWindowUntil(e.window->span.until.ms);
  }
  void operator()(const Closed&) { to.setClosed(); }
  void operator()(const Opened&) { to.setOpened(); }
  void operator()(const Retired& e) { to.initRetired().setForced(e.forced); }
  void operator()(const Held& e) {
    auto held = to.initHeld();
    held.setHasSpan(e.span.has_value());
    if (e.span) {
      held.setFrom(e.span->from.ms);
      held.setUntil(e.span->until.ms);
    }
    held.setHasCapacity(e.capacity.has_value());
    held.setCapacity(units(e.capacity.value_or(Quantity{})));
    held.setClamped(e.clamped);
    held.setBound(e.bound);
    held.setQuantity(units(e.quantity));
    held.setExpiresAt(e.expires_at.ms);
    if (e.stolen_from) held.setStolenFrom(text(e.stolen_from->view()));
  }
  void operator()(const Extended& e) {
    auto extended = to.initExtended();
    extended.setClamped(e.clamped);
    extended.setExpiresAt(e.expires_at.ms);
  }
  void operator()(const Released& e) {
    auto released = to.initReleased();
    released.setQuantity(units(e.quantity));
    released.setRemaining(units(e.remaining));
  }
  void operator()(const Committed& e) {
    auto committed = to.initCommitted();
    committed.setQuantity(units(e.quantity));
    committed.setLetGo(units(e.let_go));
  }
  void operator()(const Cancelled& e) {
    auto cancelled = to.initCancelled();
    cancelled.setQuantity(units(e.quantity));
    cancelled.setRemaining(units(e.remaining));
  }
  void operator()(const Moved& e) {
    auto moved = to.initMoved();
    moved.setHasSpan(e.span.has_value());
    if (e.span) {
      moved.setFrom(e.span->from.ms);
      moved.setUntil(e.span->until.ms);
    }
    moved.setPreviousOnTo(e.previous_on_to.value);
    if (e.to) moved.setTo(text(e.to->view()));
  }
  void operator()(const Stolen& e) { to.initStolen().setBy(text(e.by.view())); }
  void operator()(const Expired& e) { to.initExpired().setDue(e.due.ms); }
};

void set_personal(wire::Event::Personal::Plain::Builder to, const Personal& from) {
  if (from.holder) to.setHolder(text(from.holder->view()));
  if (!from.source.empty()) to.setSource(text(from.source));
  if (from.label) to.setLabel(text(from.label->view()));
  if (from.cart) to.setCart(text(from.cart->view()));
  if (from.reason) to.setReason(text(from.reason->view()));
  if (from.on_behalf_of) to.setOnBehalfOf(text(from.on_behalf_of->view()));
}

void set_event(wire::Event::Builder to, const Event& from) {
  const std::uint64_t index = from.position.value - from.transaction.value;
  HOLDFAST_INVARIANT(from.position && from.transaction && index < from.transaction_count,
                     "an event's transaction holds its position");
  to.setPosition(from.position.value);
  to.setRecordedAt(from.recorded_at.ms);
  to.setPreviousOnResource(from.previous_on_resource.value);
  to.setPreviousOfClaim(from.previous_of_claim.value);
  to.setTransactionIndex(static_cast<std::uint32_t>(index));
  to.setTransactionCount(from.transaction_count);
  to.setHasContent(from.content.has_value());
  if (from.content) {
    const auto words = std::bit_cast<std::array<std::uint64_t, 4>>(*from.content);
    auto content = to.getContent();
    content.setA(words[0]);
    content.setB(words[1]);
    content.setC(words[2]);
    content.setD(words[3]);
  }
  to.setStep(static_cast<std::uint16_t>(from.step));
  to.setHasAvailable(from.available.has_value());
  to.setAvailable(from.available.value_or(0));
  to.setResource(text(from.resource.view()));
  if (from.key) to.setKey(text(from.key->view()));
  to.setActor(text(from.actor.view()));
  if (from.request_id) to.setRequestId(text(from.request_id->view()));
  set_personal(to.getPersonal().getPlain(), from.personal);
  if (from.correlation_id) to.setCorrelationId(text(from.correlation_id->view()));
  std::visit(SetHappening{to.getHappening()}, from.happening);
}

void assign(std::string& out, Words words) {
  const auto bytes = words.asBytes();
  out.assign(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

// Canonical form of a message whose root holds no pointers but to texts, and those in order: cuts
// the zeros at the end of the root's data and pointers. What Cap'n Proto's canonicalize() gives,
// without its two passes and two allocations an event.
void assign_trimmed(std::string& out, Words message) {
  const auto word = [&](std::size_t i) {
    std::uint64_t value;
    std::memcpy(&value, &message[i], sizeof value);
    return value;
  };
  const std::size_t data = (word(0) >> 32) & 0xffff;
  const std::size_t pointers = word(0) >> 48;
  std::size_t kept_data = data;
  while (kept_data > 0 && word(kept_data) == 0) --kept_data;
  std::size_t kept_pointers = pointers;
  while (kept_pointers > 0 && word(data + kept_pointers) == 0) --kept_pointers;
  const std::size_t cut = pointers - kept_pointers;

  out.clear();
  const auto put = [&](std::uint64_t value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(std::uint64_t{kept_data} << 32 | std::uint64_t{kept_pointers} << 48);
  out.append(reinterpret_cast<const char*>(&message[1]), kept_data * sizeof(capnp::word));
  for (std::size_t i = 1; i <= kept_pointers; ++i) {
    const std::uint64_t pointer = word(data + i);
    // A pointer's offset, from bit 2 on, counts words from its own end: `cut` fewer now.
    put(pointer == 0 ? 0 : pointer - (std::uint64_t{cut} << 2));
  }
  const auto rest = message.slice(1 + data + pointers, message.size()).asBytes();
  out.append(reinterpret_cast<const char*>(rest.begin()), rest.size());
}

// ---- Reading.

struct Unreadable {
  std::string why;
};

void expect(bool holds, const char* what) {
  if (!holds) throw Unreadable{what};
}

template <int kTag, std::size_t kMaxBytes>
std::size_t max_bytes(std::type_identity<Text<NameTag<kTag, kMaxBytes>>>) {
  return kMaxBytes;
}
std::size_t max_bytes(std::type_identity<Path>) { return 200; }
std::size_t max_bytes(std::type_identity<Note>) { return 4096; }

template <class T>
T get(capnp::Text::Reader from, const char* field) {
  const std::size_t max = max_bytes(std::type_identity<T>{});
  const std::size_t min = std::is_same_v<T, Note> ? 0 : 1;
  if (from.size() < min || from.size() > max) {
    throw Unreadable{std::string(field) + " has " + std::to_string(from.size()) +
                     " bytes instead of " + std::to_string(min) + " to " + std::to_string(max)};
  }
  return T::trusted({from.begin(), from.size()});
}

Quantity quantity(std::uint32_t units) {
  expect(units <= kMaxUnits, "a quantity is out of range");
  return {units};
}

Instant instant(std::int64_t ms) {
  expect(in_range(Instant{ms}), "an instant is out of range");
  return {ms};
}

Definition definition(wire::Definition::Reader from) {
  Definition to;
  to.capacity = quantity(from.getCapacity());
  to.turnaround = {from.getTurnaround()};
  if (from.getHasMaxTtl()) to.max_ttl = Duration{from.getMaxTtl()};
  if (from.getHasDefaultTtl()) to.default_ttl = Duration{from.getDefaultTtl()};
  to.parts = from.getParts();
  if (from.getHasHolderLimit()) to.holder_limit = quantity(from.getHolderLimit());
  if (from.getHasExtensionLimit()) to.extension_limit = from.getExtensionLimit();
  if (from.getHasMaxHoldTime()) to.max_hold_time = Duration{from.getMaxHoldTime()};
  for (const auto attribute : from.getAttributes()) {
    to.attributes.emplace(get<AttributeName>(attribute.getName(), "attribute"),
                          get<Note>(attribute.getValue(), "attribute"));
  }
  return to;
}

Span span(std::int64_t from, std::int64_t until) {
  const Span span{instant(from), instant(until)};
  expect(span.from < span.until, "its span is empty");
  return span;
}

Changed changed(wire::Event::Happening::Changed::Reader from) {
  Changed to{.definition = definition(from.getDefinition()), .window = {}};
  if (from.getHasWindow()) {
    to.window =
        WindowChange{.kind = from.getWindowBlocked() ? WindowKind::blocked : WindowKind::hours,
                     .add = from.getWindowAdded(),
                     .span = span(from.getWindowFrom(), from.getWindowUntil())};
  }
  return to;
}

Moved moved(wire::Event::Happening::Moved::Reader from) {
  Moved to{.to = {}, .span = {}, .previous_on_to = {from.getPreviousOnTo()}};
  if (from.hasTo()) to.to = get<Path>(from.getTo(), "to");
  if (from.getHasSpan()) to.span = span(from.getFrom(), from.getUntil());
  return to;
}

Held held(wire::Event::Happening::Held::Reader from) {
  Held to{.span = {},
          .quantity = quantity(from.getQuantity()),
          .expires_at = instant(from.getExpiresAt()),
          .clamped = from.getClamped(),
          .capacity = {},
          .stolen_from = {},
          .bound = from.getBound()};
  if (from.getHasSpan()) to.span = span(from.getFrom(), from.getUntil());
  if (from.getHasCapacity()) to.capacity = quantity(from.getCapacity());
  if (from.hasStolenFrom()) to.stolen_from = get<Key>(from.getStolenFrom(), "stolenFrom");
  return to;
}

Happening happening(wire::Event::Happening::Reader from) {
  using Wire = wire::Event::Happening;
  switch (from.which()) {
    case Wire::DEFINED:
      return Defined{definition(from.getDefined().getDefinition())};
    case Wire::CHANGED:
      return changed(from.getChanged());
    case Wire::CLOSED:
      return Closed{};
    case Wire::OPENED:
      return Opened{};
    case Wire::RETIRED:
      return Retired{from.getRetired().getForced()};
    case Wire::HELD:
      return held(from.getHeld());
    case Wire::EXTENDED: {
      const auto extended = from.getExtended();
      return Extended{instant(extended.getExpiresAt()), extended.getClamped()};
    }
    case Wire::RELEASED: {
      const auto released = from.getReleased();
      return Released{quantity(released.getQuantity()), quantity(released.getRemaining())};
    }
    case Wire::COMMITTED: {
      const auto committed = from.getCommitted();
      return Committed{quantity(committed.getQuantity()), quantity(committed.getLetGo())};
    }
    case Wire::CANCELLED: {
      const auto cancelled = from.getCancelled();
      return Cancelled{quantity(cancelled.getQuantity()), quantity(cancelled.getRemaining())};
    }
    case Wire::STOLEN:
      return Stolen{get<Key>(from.getStolen().getBy(), "by")};
    case Wire::MOVED:
      return moved(from.getMoved());
    case Wire::EXPIRED:
      return Expired{instant(from.getExpired().getDue())};
  }
  throw Unreadable{"this version does not know its type"};
}

Personal personal(wire::Event::Personal::Reader from) {
  expect(from.which() == wire::Event::Personal::PLAIN,
         "its personal fields are sealed, which this version cannot read");
  const auto plain = from.getPlain();
  Personal to;
  if (plain.hasHolder()) to.holder = get<Holder>(plain.getHolder(), "holder");
  if (plain.hasSource()) to.source = plain.getSource();
  if (plain.hasLabel()) to.label = get<Note>(plain.getLabel(), "label");
  if (plain.hasCart()) to.cart = get<Cart>(plain.getCart(), "cart");
  if (plain.hasReason()) to.reason = get<Note>(plain.getReason(), "reason");
  if (plain.hasOnBehalfOf()) to.on_behalf_of = get<Holder>(plain.getOnBehalfOf(), "onBehalfOf");
  return to;
}

Event event(wire::Event::Reader from) {
  const std::uint64_t position = from.getPosition();
  const std::uint64_t index = from.getTransactionIndex();
  expect(position > 0, "it has no position");
  expect(index < position && index < from.getTransactionCount(),
         "its transaction does not hold its position");
  const auto what = from.getHappening();
  const std::uint64_t on_to = what.isMoved() ? what.getMoved().getPreviousOnTo() : 0;
  expect(std::max({from.getPreviousOnResource(), from.getPreviousOfClaim(), on_to}) < position,
         "it names a later event as a previous one");
  Event to{.position = {position},
           .transaction = {position - index},
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
           .personal = personal(from.getPersonal()),
           .happening = happening(what)};
  if (from.hasKey()) to.key = get<Key>(from.getKey(), "key");
  if (from.hasRequestId()) to.request_id = get<RequestId>(from.getRequestId(), "requestId");
  if (from.hasCorrelationId()) {
    to.correlation_id = get<CorrelationId>(from.getCorrelationId(), "correlationId");
  }
  if (from.getHasContent()) {
    const auto content = from.getContent();
    to.content = std::bit_cast<Digest>(
        std::array{content.getA(), content.getB(), content.getC(), content.getD()});
  }
  if (from.getHasAvailable()) to.available = from.getAvailable();
  return to;
}

// "event 17 (held)", as far as a root can be read.
std::string name_of(Words words, const capnp::ReaderOptions& options) {
  try {
    capnp::SegmentArrayMessageReader message(kj::arrayPtr(&words, 1), options);
    const auto root = message.getRoot<wire::Event>();
    const auto types = capnp::Schema::from<wire::Event::Happening>().getUnionFields();
    const auto type = static_cast<std::uint16_t>(root.getHappening().which());
    const std::string name = type < types.size() ? types[type].getProto().getName().cStr()
                                                 : "type " + std::to_string(type);
    return "event " + std::to_string(root.getPosition()) + " (" + name + ")";
  } catch (const kj::Exception&) {
    return "event";
  }
}

tl::expected<Event, std::string> decode_words(Words words) {
  // A pointer may be followed a few times, never so often that few bytes make much work.
  const capnp::ReaderOptions options{.traversalLimitInWords = 4 * words.size() + 64,
                                     .nestingLimit = 8};
  try {
    capnp::SegmentArrayMessageReader message(kj::arrayPtr(&words, 1), options);
    return event(message.getRoot<wire::Event>());
  } catch (const Unreadable& e) {
    return tl::unexpected(name_of(words, options) + " cannot be read: " + e.why);
  } catch (const kj::Exception& e) {
    return tl::unexpected(name_of(words, options) +
                          " cannot be read: " + e.getDescription().cStr());
  }
}

}  // namespace

void encode(const Event& event, std::string& out) {
  // Room for the largest event there is. The builder leaves it zeroed for the next one.
  thread_local std::array<capnp::word, 2048> scratch{};
  capnp::MallocMessageBuilder message(kj::arrayPtr(scratch.data(), scratch.size()));
  const auto root = message.initRoot<wire::Event>();
  set_event(root, event);
  const auto segments = message.getSegmentsForOutput();
  const bool only_texts = !std::holds_alternative<Defined>(event.happening) &&
                          !std::holds_alternative<Changed>(event.happening);
  if (only_texts && segments.size() == 1) {
    assign_trimmed(out, segments[0]);
  } else {
    assign(out, capnp::canonicalize(root.asReader()));
  }
}

tl::expected<Event, std::string> decode(std::string_view bytes) {
  if (bytes.empty() || bytes.size() % sizeof(capnp::word) != 0) {
    return tl::unexpected("event cannot be read: " + std::to_string(bytes.size()) +
                          " bytes are not whole words");
  }
  // RocksDB's slices are not aligned to words.
  const std::size_t size = bytes.size() / sizeof(capnp::word);
  std::array<capnp::word, 128> small;
  kj::Array<capnp::word> large;
  capnp::word* words = small.data();
  if (size > small.size()) {
    large = kj::heapArray<capnp::word>(size);
    words = large.begin();
  }
  std::memcpy(words, bytes.data(), bytes.size());
  return decode_words(kj::arrayPtr(words, size));
}

}  // namespace holdfast::store
