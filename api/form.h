#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/holdfast.capnp.h"
#include "ledger/domain/command.h"

namespace holdfast::api {

inline std::string_view view(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

// Reads the fields of one command and keeps the first objection in the order of precedence, which
// is that of Reason; between equals the one found first. A field that was objected to reads as a
// placeholder, which nobody gets to see.
class Form {
 public:
  // `scope`: paths outside it are forbidden.
  explicit Form(const Scope& scope) : scope_(scope) {}

  void object(Refusal refusal) {
    if (!objection_ || refusal.reason < objection_->reason) objection_ = std::move(refusal);
  }
  void object(Reason reason) { object(Refusal{.reason = reason}); }
  void object_to_text(std::string_view field) {
    object(Refusal{.reason = Reason::bad_text, .field = std::string(field)});
  }
  const std::optional<Refusal>& objection() const { return objection_; }

  Path path(capnp::Text::Reader text) {
    auto path = Path::make(view(text));
    if (!path) object(Reason::bad_path);
    if (path && !scope_.covers(path->view())) object(Reason::forbidden);
    return path ? std::move(*path) : Path::trusted({});
  }
  Key key(capnp::Text::Reader text) {
    auto key = Key::make(view(text));
    if (!key) object(Reason::bad_key);
    return key ? std::move(*key) : Key::trusted({});
  }
  std::optional<Key> optional_key(bool given, capnp::Text::Reader text) {
    if (!given) return std::nullopt;
    return key(text);
  }
  template <class Name>
  std::optional<Name> optional_text(bool given, capnp::Text::Reader text, std::string_view field) {
    if (!given) return std::nullopt;
    auto name = Name::make(view(text));
    if (!name) object_to_text(field);
    return name;
  }
  Holder required_holder(capnp::Text::Reader text, std::string_view field) {
    auto holder = Holder::make(view(text));
    if (!holder) object_to_text(field);
    return holder ? std::move(*holder) : Holder::trusted({});
  }

  std::optional<Span> span(std::int64_t from, std::int64_t until) {
    if (from == wire::NONE && until == wire::NONE) return std::nullopt;
    return whole_span(from, until);
  }
  Span whole_span(std::int64_t from, std::int64_t until) {
    const Span span{Instant{from}, Instant{until}};
    if (!in_range(span.from) || !in_range(span.until) || span.until <= span.from) {
      object(Reason::bad_span);
    }
    return span;
  }
  std::optional<Quantity> units(std::int64_t units, std::int64_t least) {
    if (units == wire::NONE) return std::nullopt;
    if (units < least || units > kMaxUnits) object(Reason::bad_quantity);
    return Quantity{units};
  }
  Expiry expiry(std::int64_t ttl, std::int64_t expires_at) {
    Expiry expiry;
    // Whatever is longer than all of time is clamped all the same, and cannot overflow.
    if (ttl != wire::NONE) expiry.ttl = Duration{std::min(ttl, kMaxInstant.ms)};
    if (expires_at != wire::NONE) expiry.expires_at = Instant{expires_at};
    const bool both = expiry.ttl && expiry.expires_at;
    const bool bad_ttl = expiry.ttl && expiry.ttl->ms <= 0;
    const bool bad_instant = expiry.expires_at && !in_range(*expiry.expires_at);
    if (both || bad_ttl || bad_instant) object(Reason::bad_ttl);
    return expiry;
  }
  std::optional<Duration> setting(std::int64_t ms, std::int64_t least, Duration most,
                                  std::string_view name) {
    if (ms == wire::NONE) return std::nullopt;
    if (ms < least) object(Reason::bad_ttl);
    if (ms > most.ms) object_to_more_than(name, static_cast<std::size_t>(most.ms));
    return Duration{ms};
  }
  // How many; 0 allowed.
  std::optional<std::int64_t> count(std::int64_t count) {
    if (count == wire::NONE) return std::nullopt;
    if (count < 0 || count > kMaxUnits) object(Reason::bad_quantity);
    return count;
  }
  void object_to_more_than(std::string_view name, std::size_t max) {
    object(Refusal{
        .reason = Reason::limit, .name = std::string(name), .max = static_cast<std::int64_t>(max)});
  }
  std::optional<Position> version(std::int64_t version) {
    if (version == wire::NONE) return std::nullopt;
    // No claim has a version below 1: what is less is as stale as 0.
    return Position{static_cast<std::uint64_t>(std::max<std::int64_t>(version, 0))};
  }

 private:
  const Scope& scope_;
  std::optional<Refusal> objection_;
};

}  // namespace holdfast::api
