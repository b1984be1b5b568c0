#include "api/convert_command.h"

#include <kj/debug.h>

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/form.h"

namespace holdfast::api {
namespace {

// Extend, release, commit and cancel need the holder, except from operators.
template <class Named>
std::optional<Holder> owner(Form& form, Named named, const Caller& caller) {
  if (!named.hasHolder() && !caller.grant.is_operator()) form.object_to_text("holder");
  return form.optional_text<Holder>(named.hasHolder(), named.getHolder(), "holder");
}

void operators_with_reason(Form& form, wire::Command::Reader command, const Caller& caller) {
  if (command.getReason().size() == 0) form.object_to_text("reason");
  if (!caller.grant.is_operator()) form.object(Reason::forbidden);
}

// One claim or the holds of a cart; what is said beside a cart is not for many.
template <class Named>
KeyOrCart key_or_cart(Form& form, Named named, bool not_for_many) {
  if (!named.hasCart()) return form.key(named.getKey());
  if (named.hasKey() || not_for_many) form.object_to_text("cart");
  const auto cart = form.optional_text<Cart>(true, named.getCart(), "cart");
  return cart.value_or(Cart::trusted({}));
}

using ChangedAttributes = std::map<AttributeName, std::optional<Note>>;

ChangedAttributes attributes(Form& form, capnp::List<wire::Attribute>::Reader given) {
  ChangedAttributes attributes;
  if (given.size() > kMaxAttributes) form.object_to_more_than("attributes", kMaxAttributes);
  for (const auto attribute : given) {
    const auto name = form.optional_text<AttributeName>(true, attribute.getName(), "attributes");
    const auto value = form.optional_text<Note>(attribute.getValue().size() > 0,
                                                attribute.getValue(), "attributes");
    if (name && !attributes.emplace(*name, value).second) form.object_to_text("attributes");
  }
  return attributes;
}

template <class Fields>
DefinitionChange settings(Form& form, Fields fields) {
  return {.capacity = form.units(fields.getCapacity(), 1),
          .turnaround = form.setting(fields.getTurnaround(), 0, kMaxSetting, "turnaround"),
          .parts = {},
          .max_ttl = form.setting(fields.getMaxTtl(), 1, kMaxMaxTtl, "max_ttl"),
          .default_ttl = form.setting(fields.getDefaultTtl(), 1, kMaxSetting, "default_ttl"),
          .holder_limit = form.units(fields.getHolderLimit(), 1),
          .extension_limit = form.count(fields.getExtensionLimit()),
          .max_hold_time = form.setting(fields.getMaxHoldTime(), 1, kMaxSetting, "max_hold_time"),
          .attributes = attributes(form, fields.getAttributes())};
}

Action action(Form& form, wire::Define::Reader define) {
  const DefinitionChange given = settings(form, define);
  Definition definition{.capacity = given.capacity.value_or(Quantity{1}),
                        .turnaround = given.turnaround.value_or(Duration{0}),
                        .parts = define.getParts(),
                        .max_ttl = given.max_ttl,
                        .default_ttl = given.default_ttl,
                        .holder_limit = given.holder_limit,
                        .extension_limit = given.extension_limit,
                        .max_hold_time = given.max_hold_time,
                        .attributes = {}};
  for (const auto& [name, value] : given.attributes) {
    definition.attributes.emplace(name, value.value_or(Note::trusted({})));
  }
  return Define{.resource = form.path(define.getResource()), .definition = std::move(definition)};
}

Action action(Form& form, wire::Change::Reader change) {
  DefinitionChange changed = settings(form, change);
  if (change.getParts() != wire::Flag::UNSET) changed.parts = change.getParts() == wire::Flag::TRUE;
  return Change{.resource = form.path(change.getResource()), .change = std::move(changed)};
}

Action action(Form& form, wire::Window::Reader window, WindowKind kind, bool add) {
  return ChangeWindow{.resource = form.path(window.getResource()),
                      .change = {kind, add, form.whole_span(window.getFrom(), window.getUntil())}};
}

Action action(Form& form, wire::Retire::Reader retire, wire::Command::Reader command,
              const Caller& caller) {
  if (retire.getForce()) operators_with_reason(form, command, caller);
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
      .bound = hold.getBound(),
  };
}

Action action(Form& form, wire::HoldAny::Reader any) {
  const std::int64_t count = form.units(any.getN(), 1).value_or(Quantity{1}).units;
  if (count > static_cast<std::int64_t>(kMaxTransaction)) {
    form.object_to_more_than("n", kMaxTransaction);
  }
  auto key = form.optional_key(any.hasKey(), any.getKey());
  // The longest key made of it must be one.
  if (key) form.key(capnp::Text::Reader((key->str() + "/" + std::to_string(count)).c_str()));
  return HoldAny{
      .below = form.path(any.getResource()),
      .count = count,
      .key = std::move(key),
      .span = form.span(any.getFrom(), any.getUntil()),
      .quantity = form.units(any.getQuantity(), 1).value_or(Quantity{1}),
      .holder = form.optional_text<Holder>(any.hasHolder(), any.getHolder(), "holder"),
      .cart = form.optional_text<Cart>(any.hasCart(), any.getCart(), "cart"),
      .label = form.optional_text<Note>(any.hasLabel(), any.getLabel(), "label"),
      .expiry = form.expiry(any.getTtl(), any.getExpiresAt()),
      .bound = any.getBound(),
  };
}

Action action(Form& form, wire::Extend::Reader extend, const Caller& caller) {
  const auto version = form.version(extend.getVersion());
  return Extend{.which = key_or_cart(form, extend, version.has_value()),
                .holder = owner(form, extend, caller),
                .version = version,
                .expiry = form.expiry(extend.getTtl(), extend.getExpiresAt()),
                .shorten = extend.getShorten()};
}

Action action(Form& form, wire::Release::Reader release, const Caller& caller) {
  const auto version = form.version(release.getVersion());
  const auto quantity = form.units(release.getQuantity(), 1);
  return Release{.which = key_or_cart(form, release, version || quantity),
                 .holder = owner(form, release, caller),
                 .version = version,
                 .quantity = quantity};
}

Action action(Form& form, wire::Commit::Reader commit, const Caller& caller) {
  const auto version = form.version(commit.getVersion());
  const auto quantity = form.units(commit.getQuantity(), 1);
  const auto reacquire = form.optional_key(commit.hasReacquire(), commit.getReacquire());
  const auto capacity = form.units(commit.getCapacity(), 0);
  return Commit{
      .which = key_or_cart(form, commit, version || quantity || reacquire || capacity),
      .holder = owner(form, commit, caller),
      .version = version,
      .quantity = quantity,
      .label = form.optional_text<Note>(commit.hasLabel(), commit.getLabel(), "label"),
      .reacquire = reacquire,
      .capacity = capacity,
  };
}

Action action(Form& form, wire::Cancel::Reader cancel, const Caller& caller) {
  return Cancel{.key = form.key(cancel.getKey()),
                .holder = owner(form, cancel, caller),
                .version = form.version(cancel.getVersion()),
                .quantity = form.units(cancel.getQuantity(), 1)};
}

Action action(Form& form, wire::Steal::Reader steal, wire::Command::Reader command,
              const Caller& caller) {
  if (steal.getForce()) operators_with_reason(form, command, caller);
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
      .force = steal.getForce(),
  };
}

Action action(Form& form, wire::Move::Reader move, const Caller& caller) {
  return Move{.key = form.key(move.getKey()),
              .holder = owner(form, move, caller),
              .version = form.version(move.getVersion()),
              .to = move.hasTo() ? std::optional(form.path(move.getTo())) : std::nullopt,
              .span = form.span(move.getFrom(), move.getUntil())};
}

// Where an end all goes on: POSITION or POSITION/KEY.
void read_cursor(Form& form, std::string_view cursor, EndAll& into) {
  std::uint64_t begun = 0;
  const char* end = cursor.data() + cursor.size();
  const auto [stopped, error] = std::from_chars(cursor.data(), end, begun);
  if (error != std::errc() || (stopped != end && *stopped != '/')) {
    return form.object_to_text("cursor");
  }
  into.begun = Position{begun};
  if (stopped == end) return;
  into.after = Key::make({stopped + 1, static_cast<std::size_t>(end - stopped - 1)});
  if (!into.after) form.object_to_text("cursor");
}

Action action(Form& form, wire::EndAll::Reader end, wire::Command::Reader command,
              const Caller& caller) {
  if (!end.getDryRun()) operators_with_reason(form, command, caller);
  if (!caller.grant.is_operator()) form.object(Reason::forbidden);
  if (end.getLimit() == 0 || end.getLimit() > kMaxTransaction) {
    form.object_to_more_than("limit", kMaxTransaction);
  }
  EndAll all{.below = form.path(end.getResource()),
             .limit = end.getLimit(),
             .begun = {},
             .after = {},
             .dry_run = end.getDryRun()};
  if (end.hasCursor()) read_cursor(form, view(end.getCursor()), all);
  return all;
}

Action action(Form& form, wire::Check::Reader check) {
  Check all;
  const bool of_resource =
      check.getOpen() || check.getFree() != wire::NONE || check.hasAttributes();
  const bool of_claim = check.getLive() || check.getVersion() != wire::NONE;
  if (!of_resource && !of_claim) form.object_to_text("check");
  if (of_resource) {
    const Path resource = form.path(check.getResource());
    if (check.getOpen()) all.conditions.emplace_back(CheckOpen{resource});
    for (const auto& [name, value] : attributes(form, check.getAttributes())) {
      all.conditions.emplace_back(
          CheckAttribute{resource, name, value.value_or(Note::trusted({}))});
    }
    const auto span = form.span(check.getFrom(), check.getUntil());
    if (const auto free = form.units(check.getFree(), 0)) {
      all.conditions.emplace_back(CheckFree{resource, free->units, span});
    }
  }
  if (of_claim) {
    const Key key = form.key(check.getKey());
    if (check.getLive()) all.conditions.emplace_back(CheckLive{key});
    if (const auto version = form.version(check.getVersion())) {
      all.conditions.emplace_back(CheckVersion{key, *version});
    }
  }
  return all;
}

// Everything but a transaction.
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
      return action(form, command.getRetire(), command, caller);
    case wire::Command::HOURS:
      return action(form, command.getHours(), WindowKind::hours, true);
    case wire::Command::UNHOURS:
      return action(form, command.getUnhours(), WindowKind::hours, false);
    case wire::Command::BLOCK:
      return action(form, command.getBlock(), WindowKind::blocked, true);
    case wire::Command::UNBLOCK:
      return action(form, command.getUnblock(), WindowKind::blocked, false);
    case wire::Command::HOLD:
      return action(form, command.getHold());
    case wire::Command::HOLD_ANY:
      return action(form, command.getHoldAny());
    case wire::Command::EXTEND:
      return action(form, command.getExtend(), caller);
    case wire::Command::RELEASE:
      return action(form, command.getRelease(), caller);
    case wire::Command::COMMIT:
      return action(form, command.getCommit(), caller);
    case wire::Command::CANCEL:
      return action(form, command.getCancel(), caller);
    case wire::Command::STEAL:
      return action(form, command.getSteal(), command, caller);
    case wire::Command::MOVE:
      return action(form, command.getMove(), caller);
    case wire::Command::END_ALL:
      return action(form, command.getEndAll(), command, caller);
    case wire::Command::CHECK:
      return action(form, command.getCheck());
    case wire::Command::TRANSACT:
      form.object_to_more_than("depth", 1);
      return Transact{};
  }
  KJ_FAIL_REQUIRE("a command that this server does not know");
}

Asker asker(Form& form, wire::Command::Reader command, const Caller& caller) {
  if (caller.grant.role == Role::auditor) form.object(Reason::forbidden);
  return {
      .actor = caller.actor(),
      .scope = caller.grant.scope,
      .on_behalf_of = form.optional_text<Holder>(command.hasOnBehalfOf(), command.getOnBehalfOf(),
                                                 "on_behalf_of"),
      .reason = form.optional_text<Note>(command.hasReason(), command.getReason(), "reason"),
      .correlation_id = form.optional_text<CorrelationId>(
          command.hasCorrelationId(), command.getCorrelationId(), "correlation_id"),
      .request_id = form.optional_text<RequestId>(command.hasRequestId(), command.getRequestId(),
                                                  "request_id"),
      .source = caller.source,
      .connection = caller.connection,
  };
}

// A command of a transaction: what it does not say of itself the whole says for it.
Submission step(wire::Command::Reader command, const Caller& caller, const Asker& whole,
                const Digest& content) {
  Form form(caller.grant.scope);
  auto what = action(form, command, caller);
  auto who = asker(form, command, caller);
  if (command.hasRequestId()) form.object_to_text("request_id");
  if (form.objection()) return tl::unexpected(*form.objection());
  who.request_id = whole.request_id;
  if (!who.on_behalf_of) who.on_behalf_of = whole.on_behalf_of;
  if (!who.reason) who.reason = whole.reason;
  if (!who.correlation_id) who.correlation_id = whole.correlation_id;
  return Command{std::move(who), std::move(what), content};
}

std::size_t claims_of(const Action& action) {
  if (const auto* any = std::get_if<HoldAny>(&action)) return static_cast<std::size_t>(any->count);
  if (const auto* end = std::get_if<EndAll>(&action)) return end->limit;
  return 1;
}

Transact transaction(Form& form, capnp::List<wire::Command>::Reader commands, const Caller& caller,
                     const Asker& whole, const Digest& content) {
  Transact transact;
  std::size_t claims = 0;
  if (commands.size() > 0 && commands.size() <= kMaxTransaction) {
    for (const auto command : commands) {
      transact.steps.push_back({step(command, caller, whole, content)});
      const auto& last = transact.steps.back().command;
      claims += last ? claims_of(last->action) : 1;
    }
  }
  if (claims == 0 || claims > kMaxTransaction) {
    form.object_to_more_than("positions", kMaxTransaction);
  }
  return transact;
}

}  // namespace

Submission to_submission(wire::Command::Reader command, const Caller& caller) {
  Form form(caller.grant.scope);
  const Digest content = content_digest(command);
  if (!command.isTransact()) {
    auto what = action(form, command, caller);
    auto who = asker(form, command, caller);
    if (form.objection()) return tl::unexpected(*form.objection());
    return Command{std::move(who), std::move(what), content};
  }
  auto who = asker(form, command, caller);
  auto what = transaction(form, command.getTransact().getSteps(), caller, who, content);
  if (form.objection()) return tl::unexpected(*form.objection());
  return Command{std::move(who), std::move(what), content};
}

}  // namespace holdfast::api
