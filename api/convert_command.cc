#include "api/convert_command.h"

#include <kj/debug.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace holdfast::api {
namespace {

std::string_view view(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

// Reads the fields of one command and keeps the first objection in the order of precedence, which
// is that of Reason; between equals the one found first. A field that was objected to reads as a
// placeholder, which nobody gets to see.
class Form {
 public:
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
    if (ms > most.ms) {
      object(Refusal{.reason = Reason::limit, .name = std::string(name), .max = most.ms});
    }
    return Duration{ms};
  }
  std::optional<Position> version(std::int64_t version) {
    if (version == wire::NONE) return std::nullopt;
    // No claim has a version below 1: what is less is as stale as 0.
    return Position{static_cast<std::uint64_t>(std::max<std::int64_t>(version, 0))};
  }

 private:
  std::optional<Refusal> objection_;
};

// Extend, release, commit and cancel need the holder, except from operators.
template <class Named>
std::optional<Holder> owner(Form& form, Named named, const Caller& caller) {
  if (!named.hasHolder() && !caller.is_operator) form.object_to_text("holder");
  return form.optional_text<Holder>(named.hasHolder(), named.getHolder(), "holder");
}

template <class Fields>
DefinitionChange settings(Form& form, Fields fields) {
  return {.capacity = form.units(fields.getCapacity(), 1),
          .turnaround = form.setting(fields.getTurnaround(), 0, kMaxSetting, "turnaround"),
          .max_ttl = form.setting(fields.getMaxTtl(), 1, kMaxMaxTtl, "max_ttl"),
          .default_ttl = form.setting(fields.getDefaultTtl(), 1, kMaxSetting, "default_ttl")};
}

Action action(Form& form, wire::Define::Reader define) {
  const DefinitionChange given = settings(form, define);
  return Define{.resource = form.path(define.getResource()),
                .definition = {.capacity = given.capacity.value_or(Quantity{1}),
                               .turnaround = given.turnaround.value_or(Duration{0}),
                               .max_ttl = given.max_ttl,
                               .default_ttl = given.default_ttl}};
}

Action action(Form& form, wire::Change::Reader change) {
  return Change{.resource = form.path(change.getResource()), .change = settings(form, change)};
}

Action action(Form& form, wire::Retire::Reader retire, wire::Command::Reader command) {
  if (retire.getForce() && command.getReason().size() == 0) form.object_to_text("reason");
  return Retire{.resource = form.path(retire.getResource()), .force = retire.getForce()};
}

Action action(Form& form, wire::Hold::Reader hold) {
  return Hold{
      .resource = form.path(hold.getResource()),
      .key = form.optional_key(hold.hasKey(), hold.getKey()),
      .span = form.span(hold.getFrom(), hold.getUntil()),
      .quantity = form.units(hold.getQuantity(), 1).value_or(Quantity{1}),
      .holder = form.optional_text<Holder>(hold.hasHolder(), hold.getHolder(), "holder"),
      .cart = form.optional_text<Cart>(hold.hasCart(), hold.getCart(), "cart"),
      .label = form.optional_text<Note>(hold.hasLabel(), hold.getLabel(), "label"),
      .expiry = form.expiry(hold.getTtl(), hold.getExpiresAt()),
      .capacity = form.units(hold.getCapacity(), 0),
  };
}

Action action(Form& form, wire::Extend::Reader extend, const Caller& caller) {
  return Extend{.key = form.key(extend.getKey()),
                .holder = owner(form, extend, caller),
                .version = form.version(extend.getVersion()),
                .expiry = form.expiry(extend.getTtl(), extend.getExpiresAt()),
                .shorten = extend.getShorten()};
}

Action action(Form& form, wire::Release::Reader release, const Caller& caller) {
  return Release{.key = form.key(release.getKey()),
                 .holder = owner(form, release, caller),
                 .version = form.version(release.getVersion()),
                 .quantity = form.units(release.getQuantity(), 1)};
}

Action action(Form& form, wire::Commit::Reader commit, const Caller& caller) {
  return Commit{
      .key = form.key(commit.getKey()),
      .holder = owner(form, commit, caller),
      .version = form.version(commit.getVersion()),
      .quantity = form.units(commit.getQuantity(), 1),
      .label = form.optional_text<Note>(commit.hasLabel(), commit.getLabel(), "label"),
  };
}

Action action(Form& form, wire::Cancel::Reader cancel, const Caller& caller) {
  return Cancel{.key = form.key(cancel.getKey()),
                .holder = owner(form, cancel, caller),
                .version = form.version(cancel.getVersion()),
                .quantity = form.units(cancel.getQuantity(), 1)};
}

Action action(Form& form, wire::Steal::Reader steal) {
  return Steal{
      .key = form.key(steal.getKey()),
      .from_holder = form.required_holder(steal.getFromHolder(), "from_holder"),
      .new_key = form.optional_key(steal.hasNewKey(), steal.getNewKey()),
      .holder = form.optional_text<Holder>(steal.hasHolder(), steal.getHolder(), "holder"),
      .version = form.version(steal.getVersion()),
      .cart = form.optional_text<Cart>(steal.hasCart(), steal.getCart(), "cart"),
      .label = form.optional_text<Note>(steal.hasLabel(), steal.getLabel(), "label"),
      .expiry = form.expiry(steal.getTtl(), steal.getExpiresAt()),
      .capacity = form.units(steal.getCapacity(), 0),
  };
}

Action action(Form& form, wire::Command::Reader command, const Caller& caller) {
  switch (command.which()) {
    case wire::Command::DEFINE:
      return action(form, command.getDefine());
    case wire::Command::CHANGE:
      return action(form, command.getChange());
    case wire::Command::CLOSE:
      return Close{form.path(command.getClose().getResource())};
    case wire::Command::OPEN:
      return Open{form.path(command.getOpen().getResource())};
    case wire::Command::RETIRE:
      return action(form, command.getRetire(), command);
    case wire::Command::HOLD:
      return action(form, command.getHold());
    case wire::Command::EXTEND:
      return action(form, command.getExtend(), caller);
    case wire::Command::RELEASE:
      return action(form, command.getRelease(), caller);
    case wire::Command::COMMIT:
      return action(form, command.getCommit(), caller);
    case wire::Command::CANCEL:
      return action(form, command.getCancel(), caller);
    case wire::Command::STEAL:
      return action(form, command.getSteal());
  }
  KJ_FAIL_REQUIRE("a command that this server does not know");
}

Asker asker(Form& form, wire::Command::Reader command, const Caller& caller) {
  return {
      .actor = caller.actor,
      .is_operator = caller.is_operator,
      .on_behalf_of = form.optional_text<Holder>(command.hasOnBehalfOf(), command.getOnBehalfOf(),
                                                 "on_behalf_of"),
      .reason = form.optional_text<Note>(command.hasReason(), command.getReason(), "reason"),
      .correlation_id = form.optional_text<CorrelationId>(
          command.hasCorrelationId(), command.getCorrelationId(), "correlation_id"),
      .request_id = form.optional_text<RequestId>(command.hasRequestId(), command.getRequestId(),
                                                  "request_id"),
      .source = caller.source,
  };
}

}  // namespace

Submission to_submission(wire::Command::Reader command, const Caller& caller) {
  Form form;
  auto what = action(form, command, caller);
  auto who = asker(form, command, caller);
  if (form.objection()) return tl::unexpected(*form.objection());
  return Command{std::move(who), std::move(what), content_digest(command)};
}

}  // namespace holdfast::api
