#include "api/convert_answer.h"

namespace holdfast::api {
namespace {

// Requires a zero byte behind its end: of a literal, of a std::string or of a Text.
capnp::Text::Reader text(std::string_view value) { return {value.data(), value.size()}; }

template <class Tag>
capnp::Text::Reader text(const Text<Tag>& value) {
  return text(value.view());
}

template <class WithSpan>
void put_span(const std::optional<Span>& span, WithSpan into) {
  if (!span) return;
  into.setFrom(span->from.ms);
  into.setUntil(span->until.ms);
}

// A blocker stands in somebody else's answer: what is in the way and until when, without what its
// holder wrote about it.
void put_blocker(const Claim& claim, wire::Claim::Builder into) {
  into.setKey(text(claim.key));
  into.setResource(text(claim.resource));
  put_span(claim.span, into);
  into.setQuantity(claim.quantity.units);
  into.setHolder(text(claim.holder));
  into.setState(static_cast<wire::ClaimState>(claim.state));
  into.setHeldAt(claim.held_at.ms);
  // A booking has no expiry.
  if (claim.state != ClaimState::committed && claim.state != ClaimState::cancelled) {
    into.setExpiresAt(claim.expires_at.ms);
  }
  into.setVersion(claim.version.value);
}

template <class WithDefinition>
void put_definition(const Definition& definition, WithDefinition into) {
  into.setCapacity(definition.capacity.units);
  into.setTurnaround(definition.turnaround.ms);
  if (definition.max_ttl) into.setMaxTtl(definition.max_ttl->ms);
  if (definition.default_ttl) into.setDefaultTtl(definition.default_ttl->ms);
  into.setParts(definition.parts);
  if (definition.holder_limit) into.setHolderLimit(definition.holder_limit->units);
  if (definition.extension_limit) into.setExtensionLimit(*definition.extension_limit);
  if (definition.max_hold_time) into.setMaxHoldTime(definition.max_hold_time->ms);
  if (definition.attributes.empty()) return;
  auto list = into.initAttributes(static_cast<unsigned>(definition.attributes.size()));
  unsigned i = 0;
  for (const auto& [name, value] : definition.attributes) {
    list[i].setName(text(name));
    list[i++].setValue(text(value));
  }
}

// The fields of each type of event.
struct PutHappening {
  wire::Event::Builder into;

  void operator()(const Defined& defined) { put_definition(defined.definition, into); }
  void operator()(const Changed& changed) {
    put_definition(changed.definition, into);
    if (!changed.window) return;
    into.setWindow(changed.window->kind == WindowKind::hours ? "hours" : "blocked");
    into.setWindowAdded(changed.window->add);
    put_span(changed.window->span, into);
  }
  void operator()(const Closed&) {}
  void operator()(const Opened&) {}
  void operator()(const Retired& retired) { into.setForced(retired.forced); }
  void operator()(const Held& held) {
    put_span(held.span, into);
    into.setBound(held.bound);
    into.setQuantity(held.quantity.units);
    into.setExpiresAt(held.expires_at.ms);
    into.setClamped(held.clamped);
    if (held.capacity) into.setCapacity(held.capacity->units);
    if (held.stolen_from) into.setStolenFrom(text(*held.stolen_from));
  }
  void operator()(const Extended& extended) {
    into.setExpiresAt(extended.expires_at.ms);
    into.setClamped(extended.clamped);
  }
  void operator()(const Released& released) {
    into.setQuantity(released.quantity.units);
    into.setRemaining(released.remaining.units);
  }
  void operator()(const Committed& committed) {
    into.setQuantity(committed.quantity.units);
    into.setLetGo(committed.let_go.units);
  }
  void operator()(const Cancelled& cancelled) {
    into.setQuantity(cancelled.quantity.units);
    into.setRemaining(cancelled.remaining.units);
  }
  void operator()(const Moved& moved) {
    put_span(moved.span, into);
    if (!moved.to) return;
    into.setTo(text(*moved.to));
    into.setPreviousOnTo(moved.previous_on_to.value);
  }
  void operator()(const Stolen& stolen) { into.setStolenBy(text(stolen.by)); }
  void operator()(const Expired& expired) { into.setDue(expired.due.ms); }
};

}  // namespace

void put(const Claim& claim, wire::Claim::Builder into) {
  put_blocker(claim, into);
  if (claim.cart) into.setCart(text(*claim.cart));
  if (claim.label) into.setLabel(text(*claim.label));
  if (claim.stolen_from) into.setStolenFrom(text(*claim.stolen_from));
  if (claim.stolen_by) into.setStolenBy(text(*claim.stolen_by));
  into.setBound(claim.bound);
}

void put(const Refusal& refusal, wire::Refusal::Builder into) {
  into.setReason(static_cast<wire::Reason>(refusal.reason));
  if (!refusal.field.empty()) into.setField(refusal.field.c_str());
  if (!refusal.name.empty()) into.setName(refusal.name.c_str());
  if (refusal.max) into.setMax(*refusal.max);
  if (refusal.state) into.setState(text(state_name(*refusal.state)));
  if (refusal.expires_at) into.setExpiresAt(refusal.expires_at->ms);
  if (refusal.now) into.setNow(refusal.now->ms);
  if (refusal.current) into.setCurrent(static_cast<std::int64_t>(refusal.current->value));
  if (refusal.capacity) into.setCapacity(*refusal.capacity);
  if (refusal.available) into.setAvailable(*refusal.available);
  if (!refusal.path.empty()) into.setPath(text(refusal.path));
  if (!refusal.blockers.empty()) {
    auto blockers = into.initBlockers(static_cast<unsigned>(refusal.blockers.size()));
    for (unsigned i = 0; i < blockers.size(); ++i) put_blocker(refusal.blockers[i], blockers[i]);
  }
  if (refusal.retry_at) into.setRetryAt(refusal.retry_at->ms);
  if (refusal.claim) put(*refusal.claim, into.initClaim());
  if (refusal.allowed) into.setLimit(*refusal.allowed);
  if (!refusal.what.empty()) into.setWhat(text(refusal.what));
  if (!refusal.actual.empty()) into.setActual(text(refusal.actual));
  if (refusal.refused.empty()) return;
  auto positions = into.initPositions(static_cast<unsigned>(refusal.positions));
  for (const Refusal& one : refusal.refused) {
    put(one, positions[static_cast<unsigned>(one.position - 1)].initRefused());
  }
}

void put(const Accepted& accepted, wire::Accepted::Builder into) {
  into.setFirstPosition(accepted.first.value);
  into.setPositions(accepted.count);
  if (accepted.claim) put(*accepted.claim, into.initClaim());
  if (accepted.available) into.setAvailable(*accepted.available);
  into.setChanged(accepted.changed());
  into.setReplayed(accepted.replayed);
  into.setClamped(accepted.clamped);
  if (!accepted.parts.empty()) {
    auto parts = into.initParts(static_cast<unsigned>(accepted.parts.size()));
    for (unsigned i = 0; i < parts.size(); ++i) put(accepted.parts[i], parts[i]);
  }
  if (accepted.begun) {
    std::string cursor = std::to_string(accepted.begun->value);
    if (accepted.after) cursor += "/" + accepted.after->str();
    into.setCursor(text(cursor));
  }
}

void put(const Outcome& outcome, wire::Outcome::Builder into) {
  if (outcome) {
    put(*outcome, into.initAccepted());
  } else {
    put(outcome.error(), into.initRefused());
  }
}

void put(const FreePiece& piece, wire::FreePiece::Builder into) {
  into.setFrom(piece.span.from.ms);
  into.setUntil(piece.span.until.ms);
  into.setFree(piece.free);
}

void put(const ListedResource& resource, wire::ResourceState::Builder into) {
  into.setResource(text(resource.path));
  into.setFree(resource.free);
  into.setClaims(static_cast<std::uint64_t>(resource.claims));
  into.setClosed(resource.closed);
  put_definition(resource.definition, into);
  into.setHours(static_cast<std::uint32_t>(resource.hours));
  into.setBlocked(static_cast<std::uint32_t>(resource.blocked));
}

void put(const Event& event, wire::Event::Builder into) {
  into.setPosition(event.position.value);
  into.setTransaction(event.transaction.value);
  into.setTransactionCount(event.transaction_count);
  into.setRecordedAt(event.recorded_at.ms);
  into.setType(text(type_name(event.happening)));
  into.setResource(text(event.resource));
  if (event.key) into.setKey(text(*event.key));
  into.setPreviousOnResource(event.previous_on_resource.value);
  into.setPreviousOfClaim(event.previous_of_claim.value);
  into.setActor(text(event.actor));
  if (event.request_id) into.setRequestId(text(*event.request_id));
  if (event.correlation_id) into.setCorrelationId(text(*event.correlation_id));
  if (event.content) {
    into.setContent(
        {reinterpret_cast<const kj::byte*>(event.content->data()), event.content->size()});
  }
  if (event.available) into.setAvailable(*event.available);
  into.setStep(event.step);
  const Personal& personal = event.personal;
  if (personal.holder) into.setHolder(text(*personal.holder));
  if (personal.cart) into.setCart(text(*personal.cart));
  if (personal.label) into.setLabel(text(*personal.label));
  if (personal.on_behalf_of) into.setOnBehalfOf(text(*personal.on_behalf_of));
  if (personal.reason) into.setReason(text(*personal.reason));
  if (!personal.source.empty()) into.setSource(personal.source.c_str());
  std::visit(PutHappening{into}, event.happening);
}

}  // namespace holdfast::api
