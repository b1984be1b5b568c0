#include "projections/rows.h"

#include "projections/varint.h"

namespace holdfast::projections {
namespace {

// Low bits of a claim row's first number; above them the state.
enum ClaimFlag : std::uint64_t {
  kHasSpan = 1,
  kHasCart = 2,
  kHasLabel = 4,
  kHasVouchedCapacity = 8,
  kHasStolenFrom = 16,
  kHasStolenBy = 32,
  kQuantityChanged = 64,  // differs from the original one
  kBound = 128,
  kExtended = 256,
  kMoved = 512,
};
constexpr unsigned kStateShift = 10;

enum DefinitionFlag : std::uint64_t {
  kDefined = 1,
  kClosed = 2,
  kHasMaxTtl = 4,
  kHasDefaultTtl = 8,
  kParts = 16,
  kHasHolderLimit = 32,
  kHasExtensionLimit = 64,
  kHasMaxHoldTime = 128,
};

void put_span(std::string& out, const Span& span) {
  put_signed(out, span.from.ms);
  put_signed(out, span.until.ms - span.from.ms);
}

Span read_span(RowReader& reader) {
  const Instant from{reader.signed_varint()};
  return {from, from + Duration{reader.signed_varint()}};
}

void put_windows(std::string& out, const Windows& windows) {
  put_varint(out, windows.size());
  for (const Span& span : windows.spans()) put_span(out, span);
}

void read_windows(RowReader& reader, Windows& windows) {
  std::vector<Span> spans;
  for (std::uint64_t left = reader.varint(); left > 0 && reader.ok(); --left) {
    spans.push_back(read_span(reader));
  }
  windows = Windows(spans);
}

std::uint64_t flags_of(const Claim& c) {
  std::uint64_t flags = static_cast<std::uint64_t>(c.state) << kStateShift;
  if (c.span) flags |= kHasSpan;
  if (c.cart) flags |= kHasCart;
  if (c.label) flags |= kHasLabel;
  if (c.vouched_capacity) flags |= kHasVouchedCapacity;
  if (c.stolen_from) flags |= kHasStolenFrom;
  if (c.stolen_by) flags |= kHasStolenBy;
  if (c.quantity != c.original_quantity) flags |= kQuantityChanged;
  if (c.bound) flags |= kBound;
  if (c.extensions != 0) flags |= kExtended;
  if (c.original) flags |= kMoved;
  return flags;
}

template <class T>
T read_text(RowReader& reader) {
  return T::trusted(reader.text());
}

}  // namespace

void append_row(std::string& out, const Claim& c) {
  put_varint(out, flags_of(c));
  put_text(out, c.resource.view());
  put_text(out, c.holder.view());
  put_signed(out, c.original_quantity.units);
  if (c.quantity != c.original_quantity) put_signed(out, c.quantity.units);
  put_signed(out, c.held_at.ms);
  put_signed(out, c.expires_at.ms - c.held_at.ms);
  put_varint(out, c.last_event.value);
  put_varint(out, c.last_event.value - c.version.value);
  put_varint(out, c.version.value - c.placed.value);
  if (c.span) put_span(out, *c.span);
  if (c.cart) put_text(out, c.cart->view());
  if (c.label) put_text(out, c.label->view());
  if (c.vouched_capacity) put_signed(out, c.vouched_capacity->units);
  if (c.stolen_from) put_text(out, c.stolen_from->view());
  if (c.stolen_by) put_text(out, c.stolen_by->view());
  if (c.extensions != 0) put_signed(out, c.extensions);
  if (c.original) {
    put_text(out, c.original->resource.view());
    put_varint(out, c.original->span ? 1 : 0);
    if (c.original->span) put_span(out, *c.original->span);
  }
}

std::optional<Claim> read_claim(std::string_view key, std::string_view row) {
  RowReader reader(row);
  const std::uint64_t flags = reader.varint();
  const std::uint64_t state = flags >> kStateShift;
  if (state > static_cast<std::uint64_t>(ClaimState::stolen)) return std::nullopt;
  Claim c;
  c.key = Key::trusted(key);
  c.state = static_cast<ClaimState>(state);
  c.resource = read_text<Path>(reader);
  c.holder = read_text<Holder>(reader);
  c.original_quantity.units = reader.signed_varint();
  c.quantity = c.original_quantity;
  if (flags & kQuantityChanged) c.quantity.units = reader.signed_varint();
  c.held_at.ms = reader.signed_varint();
  c.expires_at.ms = c.held_at.ms + reader.signed_varint();
  c.last_event.value = reader.varint();
  c.version.value = c.last_event.value - reader.varint();
  c.placed.value = c.version.value - reader.varint();
  c.bound = (flags & kBound) != 0;
  if (flags & kHasSpan) c.span = read_span(reader);
  if (flags & kHasCart) c.cart = read_text<Cart>(reader);
  if (flags & kHasLabel) c.label = read_text<Note>(reader);
  if (flags & kHasVouchedCapacity) c.vouched_capacity = Quantity{reader.signed_varint()};
  if (flags & kHasStolenFrom) c.stolen_from = read_text<Key>(reader);
  if (flags & kHasStolenBy) c.stolen_by = read_text<Key>(reader);
  if (flags & kExtended) c.extensions = reader.signed_varint();
  if (flags & kMoved) {
    c.original = Placement{.resource = read_text<Path>(reader), .span = {}};
    if (reader.varint() != 0) c.original->span = read_span(reader);
  }
  if (!reader.done()) return std::nullopt;
  return c;
}

void append_row(std::string& out, const DefinitionRow& row) {
  if (!row.resource) {
    put_varint(out, 0);
    return;
  }
  const Definition& d = row.resource->definition;
  std::uint64_t flags = kDefined;
  if (row.resource->closed) flags |= kClosed;
  if (d.max_ttl) flags |= kHasMaxTtl;
  if (d.default_ttl) flags |= kHasDefaultTtl;
  if (d.parts) flags |= kParts;
  if (d.holder_limit) flags |= kHasHolderLimit;
  if (d.extension_limit) flags |= kHasExtensionLimit;
  if (d.max_hold_time) flags |= kHasMaxHoldTime;
  put_varint(out, flags);
  put_signed(out, d.capacity.units);
  put_signed(out, d.turnaround.ms);
  if (d.max_ttl) put_signed(out, d.max_ttl->ms);
  if (d.default_ttl) put_signed(out, d.default_ttl->ms);
  if (d.holder_limit) put_signed(out, d.holder_limit->units);
  if (d.extension_limit) put_signed(out, *d.extension_limit);
  if (d.max_hold_time) put_signed(out, d.max_hold_time->ms);
  put_varint(out, d.attributes.size());
  for (const auto& [name, value] : d.attributes) {
    put_text(out, name.view());
    put_text(out, value.view());
  }
  put_windows(out, row.resource->hours);
  put_windows(out, row.resource->blocked);
  put_varint(out, row.resource->rules_since.value);
}

namespace {

Definition read_definition_fields(RowReader& reader, std::uint64_t flags) {
  Definition d;
  d.capacity.units = reader.signed_varint();
  d.turnaround.ms = reader.signed_varint();
  d.parts = (flags & kParts) != 0;
  if (flags & kHasMaxTtl) d.max_ttl = Duration{reader.signed_varint()};
  if (flags & kHasDefaultTtl) d.default_ttl = Duration{reader.signed_varint()};
  if (flags & kHasHolderLimit) d.holder_limit = Quantity{reader.signed_varint()};
  if (flags & kHasExtensionLimit) d.extension_limit = reader.signed_varint();
  if (flags & kHasMaxHoldTime) d.max_hold_time = Duration{reader.signed_varint()};
  for (std::uint64_t left = reader.varint(); left > 0 && reader.ok(); --left) {
    auto name = read_text<AttributeName>(reader);
    d.attributes.emplace(std::move(name), read_text<Note>(reader));
  }
  return d;
}

}  // namespace

std::optional<DefinitionRow> read_definition(std::string_view bytes) {
  RowReader reader(bytes);
  const std::uint64_t flags = reader.varint();
  DefinitionRow row;
  if (flags & kDefined) {
    Resource& resource = row.resource.emplace();
    resource.closed = (flags & kClosed) != 0;
    resource.definition = read_definition_fields(reader, flags);
    read_windows(reader, resource.hours);
    read_windows(reader, resource.blocked);
    resource.rules_since.value = reader.varint();
  }
  if (!reader.done()) return std::nullopt;
  return row;
}

void append_row(std::string& out, const Checkpoint& checkpoint) {
  put_varint(out, checkpoint.position.value);
  put_signed(out, checkpoint.at.ms);
}

std::optional<Checkpoint> read_checkpoint(std::string_view row) {
  RowReader reader(row);
  const Position position{reader.varint()};
  const Instant at{reader.signed_varint()};
  if (!reader.done()) return std::nullopt;
  return Checkpoint{position, at};
}

std::string request_key(std::string_view actor, std::string_view request_id) {
  std::string key;
  key.reserve(actor.size() + 1 + request_id.size());
  return key.append(actor).append(1, '\0').append(request_id);  // neither contains NUL
}

}  // namespace holdfast::projections
