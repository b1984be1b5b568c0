#include "tests/ledger/domain/text.h"

#include <type_traits>

namespace holdfast::testing {

namespace {

template <class T>
std::string field(const char* name, const std::optional<T>& text) {
  return text ? std::string(" ") + name + "=" + text->str() : "";
}

std::string number(const char* name, std::int64_t value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

std::string units(Quantity quantity) { return " x" + std::to_string(quantity.units); }

std::string body(const Defined& e) { return " " + text_of(e.definition); }
std::string body(const Changed& e) {
  std::string text = " " + text_of(e.definition);
  if (!e.window) return text;
  return text + (e.window->add ? " +" : " -") +
         (e.window->kind == WindowKind::hours ? "hours " : "blocked ") + text_of(e.window->span);
}
std::string body(const Closed&) { return ""; }
std::string body(const Opened&) { return ""; }
std::string body(const Retired& e) { return e.forced ? " forced" : ""; }
std::string body(const Held& e) {
  std::string text = " " + text_of(e.span) + units(e.quantity) +
                     " expires=" + text_of(e.expires_at) + (e.clamped ? " clamped" : "");
  if (e.capacity) text += number("capacity", e.capacity->units);
  if (e.bound) text += " bound";
  return text + field("from", e.stolen_from);
}
std::string body(const Extended& e) {
  return " expires=" + text_of(e.expires_at) + (e.clamped ? " clamped" : "");
}
std::string body(const Released& e) {
  return units(e.quantity) + number("remaining", e.remaining.units);
}
std::string body(const Committed& e) {
  return units(e.quantity) + number("let_go", e.let_go.units);
}
std::string body(const Cancelled& e) {
  return units(e.quantity) + number("remaining", e.remaining.units);
}
std::string body(const Moved& e) {
  std::string text = " " + text_of(e.span);
  if (e.to) {
    text +=
        " to=" + e.to->str() + number("prev", static_cast<std::int64_t>(e.previous_on_to.value));
  }
  return text;
}
std::string body(const Stolen& e) { return " by=" + e.by.str(); }
std::string body(const Expired& e) { return " due=" + text_of(e.due); }

}  // namespace

std::string text_of(Instant at) { return text_of(at - kT0); }

std::string text_of(Duration length) {
  if (length.ms == 0) return "0s";
  if (length.ms % kHour.ms == 0) return std::to_string(length.ms / kHour.ms) + "h";
  if (length.ms % kSecond.ms == 0) return std::to_string(length.ms / kSecond.ms) + "s";
  return std::to_string(length.ms) + "ms";
}

std::string text_of(const std::optional<Span>& span) {
  return span ? text_of(span->from) + "-" + text_of(span->until) : "always";
}

std::string text_of(const Definition& d) {
  std::string text = "capacity=" + std::to_string(d.capacity.units);
  if (d.turnaround.ms != 0) text += " turnaround=" + text_of(d.turnaround);
  if (d.max_ttl) text += " max_ttl=" + text_of(*d.max_ttl);
  if (d.default_ttl) text += " default_ttl=" + text_of(*d.default_ttl);
  if (d.parts) text += " parts";
  if (d.holder_limit) text += number("holder_limit", d.holder_limit->units);
  if (d.extension_limit) text += number("extension_limit", *d.extension_limit);
  if (d.max_hold_time) text += " max_hold_time=" + text_of(*d.max_hold_time);
  for (const auto& [name, value] : d.attributes) text += " attr." + name.str() + "=" + value.str();
  return text;
}

std::string text_of(const Claim& c) {
  std::string text = c.key.str() + " " + std::string(state_name(c.state)) + " " + c.resource.str() +
                     " " + text_of(c.span) + units(c.quantity);
  if (c.quantity != c.original_quantity) text += "/" + std::to_string(c.original_quantity.units);
  text += " v" + std::to_string(c.version.value);
  if (c.last_event != c.version)
    text += number("last", static_cast<std::int64_t>(c.last_event.value));
  text += " holder=" + c.holder.str() + " at=" + text_of(c.held_at) +
          " expires=" + text_of(c.expires_at) + field("cart", c.cart) + field("label", c.label);
  if (c.vouched_capacity) text += number("capacity", c.vouched_capacity->units);
  if (c.bound) text += " bound";
  if (c.original) {
    text += " placed=" + std::to_string(c.placed.value) +
            " original=" + c.original->resource.str() + " " + text_of(c.original->span);
  }
  return text + field("from", c.stolen_from) + field("by", c.stolen_by);
}

std::string text_of(const Refusal& r) {
  std::string text(reason_name(r.reason));
  if (!r.field.empty()) text += " field=" + r.field;
  if (!r.name.empty()) text += " name=" + r.name;
  if (r.max) text += number("max", *r.max);
  if (r.state) text += " state=" + std::string(state_name(*r.state));
  if (r.expires_at) text += " expires_at=" + text_of(*r.expires_at);
  if (r.now) text += " now=" + text_of(*r.now);
  if (r.current) text += number("current", static_cast<std::int64_t>(r.current->value));
  if (r.available) text += number("available", *r.available);
  if (r.capacity) text += number("capacity", *r.capacity);
  if (!r.path.empty()) text += " path=" + r.path;
  if (r.allowed) text += number("allowed", *r.allowed);
  if (!r.what.empty()) text += " what=" + r.what + " actual=" + r.actual;
  for (std::size_t i = 0; i < r.blockers.size(); ++i) {
    text += (i == 0 ? " blockers=" : ",") + r.blockers[i].key.str();
  }
  if (r.retry_at) text += " retry_at=" + text_of(*r.retry_at);
  if (r.claim) text += " | " + text_of(*r.claim);
  for (const Refusal& one : r.refused) {
    text += " / " + std::to_string(one.position) + " " + text_of(one);
  }
  return text;
}

std::string text_of(const Accepted& a) {
  std::string text = "ok";
  if (a.count != 0) {
    text += " #" + std::to_string(a.first.value) + "+" + std::to_string(a.count);
  } else if (a.first) {
    text += " first=" + std::to_string(a.first.value) + " without count";
  }
  if (!a.changed()) text += " unchanged";
  if (a.replayed) text += " replayed";
  if (a.clamped) text += " clamped";
  if (a.available) text += number("available", *a.available);
  if (a.claim) text += " | " + text_of(*a.claim);
  for (const Accepted& part : a.parts) text += " / " + text_of(part);
  return text;
}

std::string text_of(const Event& e) {
  std::string text = "#" + std::to_string(e.position.value) +
                     " tx=" + std::to_string(e.transaction.value) + "+" +
                     std::to_string(e.transaction_count) + " at=" + text_of(e.recorded_at) + " " +
                     std::string(type_name(e.happening)) + " " + e.resource.str();
  if (e.key) text += " " + e.key->str();
  text += " prev=" + std::to_string(e.previous_on_resource.value) + "," +
          std::to_string(e.previous_of_claim.value) + " by=" + e.actor.str() +
          field("request", e.request_id) + field("correlation", e.correlation_id);
  if (e.content) text += number("content", std::to_integer<int>(e.content->front()));
  if (e.available) text += number("available", *e.available);
  text += std::visit([](const auto& happening) { return body(happening); }, e.happening);
  const Personal& p = e.personal;
  text += field("holder", p.holder) + field("cart", p.cart) + field("label", p.label) +
          field("on_behalf_of", p.on_behalf_of) + field("reason", p.reason);
  if (!p.source.empty()) text += " source=" + p.source;
  return text;
}

std::string text_of(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) text += text_of(event) + "\n";
  return text;
}

}  // namespace holdfast::testing
