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
};
constexpr unsigned kStateShift = 7;

enum DefinitionFlag : std::uint64_t {
  kDefined = 1,
  kClosed = 2,
  kHasMaxTtl = 4,
  kHasDefaultTtl = 8
};

std::uint64_t flags_of(const Claim& c) {
  std::uint64_t flags = static_cast<std::uint64_t>(c.state) << kStateShift;
  if (c.span) flags |= kHasSpan;
  if (c.cart) flags |= kHasCart;
  if (c.label) flags |= kHasLabel;
  if (c.vouched_capacity) flags |= kHasVouchedCapacity;
  if (c.stolen_from) flags |= kHasStolenFrom;
  if (c.stolen_by) flags |= kHasStolenBy;
  if (c.quantity != c.original_quantity) flags |= kQuantityChanged;
  return flags;
}

template <class T>
T read_text(RowReader& reader) {
  return T::trusted(std::string(reader.text()));
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
  if (c.span) {
    put_signed(out, c.span->from.ms);
    put_signed(out, c.span->until.ms - c.span->from.ms);
  }
  if (c.cart) put_text(out, c.cart->view());
  if (c.label) put_text(out, c.label->view());
  if (c.vouched_capacity) put_signed(out, c.vouched_capacity->units);
  if (c.stolen_from) put_text(out, c.stolen_from->view());
  if (c.stolen_by) put_text(out, c.stolen_by->view());
}

std::optional<Claim> read_claim(std::string_view key, std::string_view row) {
  RowReader reader(row);
  const std::uint64_t flags = reader.varint();
  const std::uint64_t state = flags >> kStateShift;
  if (state > static_cast<std::uint64_t>(ClaimState::stolen)) return std::nullopt;
  Claim c;
  c.key = Key::trusted(std::string(key));
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
  if (flags & kHasSpan) {
    const Instant from{reader.signed_varint()};
    c.span = Span{from, from + Duration{reader.signed_varint()}};
  }
  if (flags & kHasCart) c.cart = read_text<Cart>(reader);
  if (flags & kHasLabel) c.label = read_text<Note>(reader);
  if (flags & kHasVouchedCapacity) c.vouched_capacity = Quantity{reader.signed_varint()};
  if (flags & kHasStolenFrom) c.stolen_from = read_text<Key>(reader);
  if (flags & kHasStolenBy) c.stolen_by = read_text<Key>(reader);
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
  put_varint(out, flags);
  put_signed(out, d.capacity.units);
  put_signed(out, d.turnaround.ms);
  if (d.max_ttl) put_signed(out, d.max_ttl->ms);
  if (d.default_ttl) put_signed(out, d.default_ttl->ms);
}

std::optional<DefinitionRow> read_definition(std::string_view bytes) {
  RowReader reader(bytes);
  const std::uint64_t flags = reader.varint();
  DefinitionRow row;
  if (flags & kDefined) {
    Resource& resource = row.resource.emplace();
    resource.closed = (flags & kClosed) != 0;
    resource.definition.capacity.units = reader.signed_varint();
    resource.definition.turnaround.ms = reader.signed_varint();
    if (flags & kHasMaxTtl) resource.definition.max_ttl = Duration{reader.signed_varint()};
    if (flags & kHasDefaultTtl) resource.definition.default_ttl = Duration{reader.signed_varint()};
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
