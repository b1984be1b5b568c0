#include "tests/ledger/domain/world.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "ledger/domain/undo.h"

namespace holdfast::testing {

namespace {

// The words of a line: verb, subject, then name=value.
class Words {
 public:
  explicit Words(std::string_view line) {
    std::istringstream in{std::string(line)};
    in >> verb;
    for (std::string word; in >> word;) {
      const auto equals = word.find('=');
      if (equals == std::string::npos) {
        subject = word;
      } else {
        fields_[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
  }
  ~Words() {
    for (const auto& [name, value] : fields_) ADD_FAILURE() << verb << ": unknown word " << name;
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  std::optional<std::string> take(const std::string& name) {
    const auto found = fields_.find(name);
    if (found == fields_.end()) return std::nullopt;
    std::string value = found->second;
    fields_.erase(found);
    return value;
  }
  template <class T>
  std::optional<T> name(const std::string& field) {
    const auto value = take(field);
    return value ? T::make(*value) : std::optional<T>{};
  }
  std::optional<std::int64_t> number(const std::string& field) {
    const auto value = take(field);
    return value ? std::optional(std::stoll(*value)) : std::nullopt;
  }
  std::optional<Quantity> quantity(const std::string& field) {
    const auto units = number(field);
    return units ? std::optional(Quantity{*units}) : std::nullopt;
  }
  std::optional<Duration> duration(const std::string& field) {
    const auto value = take(field);
    if (!value) return std::nullopt;
    std::size_t end = 0;
    const std::int64_t count = std::stoll(*value, &end);
    const std::string unit = value->substr(end);
    if (unit == "ms") return Duration{count};
    if (unit == "s") return Duration{count * kSecond.ms};
    if (unit == "m") return Duration{count * kMinute.ms};
    if (unit == "h") return Duration{count * kHour.ms};
    ADD_FAILURE() << "not a duration: " << *value;
    return std::nullopt;
  }
  std::optional<Instant> instant(const std::string& field) {
    const auto offset = duration(field);
    return offset ? std::optional(kT0 + *offset) : std::nullopt;
  }
  std::optional<Position> position(const std::string& field) {
    const auto value = number(field);
    return value ? std::optional(Position{static_cast<std::uint64_t>(*value)}) : std::nullopt;
  }
  std::optional<Span> span() {
    const auto from = instant("from");
    const auto until = instant("until");
    return from ? std::optional(Span{*from, *until}) : std::nullopt;
  }
  Expiry expiry() { return {duration("ttl"), instant("expires")}; }
  bool flag(const std::string& field) { return take(field).has_value(); }
  Path path() const { return *Path::make(subject); }
  Key key() const { return *Key::make(subject); }

  std::string verb;
  std::string subject;

 private:
  std::map<std::string, std::string> fields_;
};

Action claim_action(Words& w) {
  if (w.verb == "hold") {
    return Hold{w.path(),
                w.name<Key>("key"),
                w.span(),
                w.quantity("quantity").value_or(Quantity{1}),
                w.name<Holder>("holder"),
                w.name<Cart>("cart"),
                w.name<Note>("label"),
                w.expiry(),
                w.quantity("capacity")};
  }
  if (w.verb == "extend") {
    return Extend{w.key(), w.name<Holder>("holder"), w.position("version"), w.expiry(),
                  w.flag("shorten")};
  }
  if (w.verb == "release") {
    return Release{w.key(), w.name<Holder>("holder"), w.position("version"),
                   w.quantity("quantity")};
  }
  if (w.verb == "commit") {
    return Commit{w.key(), w.name<Holder>("holder"), w.position("version"), w.quantity("quantity"),
                  w.name<Note>("label")};
  }
  if (w.verb == "cancel") {
    return Cancel{w.key(), w.name<Holder>("holder"), w.position("version"), w.quantity("quantity")};
  }
  EXPECT_EQ(w.verb, "steal");
  const auto from_holder = w.name<Holder>("from-holder");
  return Steal{w.key(),
               from_holder.value(),
               w.name<Key>("key"),
               w.name<Holder>("holder"),
               w.position("version"),
               w.name<Cart>("cart"),
               w.name<Note>("label"),
               w.expiry(),
               w.quantity("capacity")};
}

Action action_of(Words& w) {
  if (w.verb == "define") {
    return Define{w.path(),
                  {.capacity = w.quantity("capacity").value_or(Quantity{1}),
                   .turnaround = w.duration("turnaround").value_or(Duration{0}),
                   .parts = w.flag("parts"),
                   .max_ttl = w.duration("max_ttl"),
                   .default_ttl = w.duration("default_ttl"),
                   .holder_limit = w.quantity("holder_limit"),
                   .extension_limit = w.number("extension_limit"),
                   .max_hold_time = w.duration("max_hold_time"),
                   .attributes = {}}};
  }
  if (w.verb == "change") {
    return Change{w.path(),
                  {.capacity = w.quantity("capacity"),
                   .turnaround = w.duration("turnaround"),
                   .parts = {},
                   .max_ttl = w.duration("max_ttl"),
                   .default_ttl = w.duration("default_ttl"),
                   .holder_limit = w.quantity("holder_limit"),
                   .extension_limit = w.number("extension_limit"),
                   .max_hold_time = w.duration("max_hold_time"),
                   .attributes = {}}};
  }
  if (w.verb == "close") return Close{w.path()};
  if (w.verb == "open") return Open{w.path()};
  if (w.verb == "retire") return Retire{w.path(), w.flag("force")};
  return claim_action(w);
}

}  // namespace

std::string text_of(const Outcome& outcome) {
  return outcome.refusal ? text_of(*outcome.refusal) : text_of(outcome.accepted);
}

Command command_of(std::string_view line) {
  Words words(line);
  Command command{{Actor::trusted("app"), {}, {}, {}, {}, {}, {}}, action_of(words), {}};
  Asker& asker = command.asker;
  if (const auto actor = words.name<Actor>("actor")) asker.actor = *actor;
  if (const auto scope = words.name<Path>("scope")) asker.scope = Scope({*scope});
  asker.on_behalf_of = words.name<Holder>("on-behalf-of");
  asker.reason = words.name<Note>("reason");
  asker.correlation_id = words.name<CorrelationId>("correlation");
  asker.request_id = words.name<RequestId>("request");
  asker.source = words.take("source").value_or("");
  if (const auto content = words.number("content")) {
    command.content.emplace();
    command.content->front() = static_cast<std::byte>(*content);
  }
  return command;
}

Outcome World::run(const Command& command) {
  state.advance(now, lapsed_at_once);
  const std::string fresh = "fresh-" + std::to_string(++fresh_);
  std::vector<Key> fresh_keys;
  while (fresh_keys.size() < fresh_keys_needed(command.action)) {
    const std::size_t more = fresh_keys.size();
    fresh_keys.push_back(Key::trusted(more == 0 ? fresh : fresh + "-" + std::to_string(more + 1)));
  }
  const Given given{now, fresh_keys, policy};
  auto judged = judge(state, command, given);
  while (judged && !judged->unknown.empty()) {
    recall_last_events(judged->unknown);
    judged = judge(state, command, given);
  }
  Outcome outcome;
  if (!judged) {
    outcome.refusal = std::move(judged.error());
    return outcome;
  }
  outcome.accepted = std::move(judged->answer);
  outcome.events = std::move(judged->events);
  log.insert(log.end(), outcome.events.begin(), outcome.events.end());
  return outcome;
}

bool World::would_accept(const Command& command) {
  state.advance(now, lapsed_at_once);
  Undo undo(state);
  const std::vector<Key> fresh_keys{Key::trusted("probe")};
  const bool accepted = judge(state, command, {now, fresh_keys, policy}).has_value();
  undo.take_back(0);
  return accepted;
}

void World::recall_last_events(const std::vector<Path>& paths) {
  for (const Path& path : paths) {
    Position last;
    for (const Event& event : log) {
      const Path* second = second_resource(event);
      if (event.resource == path || (second != nullptr && *second == path)) last = event.position;
    }
    state.recall_last_event(path, last);
  }
}

std::vector<Event> World::sweep(std::size_t limit) {
  state.advance(now);
  std::vector<Event> events = holdfast::sweep(state, now, limit);
  for (const Event& event : events) state.evolve(event);
  log.insert(log.end(), events.begin(), events.end());
  return events;
}

std::vector<Event> World::disconnect() {
  state.advance(now);
  std::set<Key> bound;
  state.visit_subtree({}, [&](const StandingClaim& claim) {
    if (claim.bound) bound.insert(claim.key);
    return true;
  });
  std::vector<Event> events;
  for (const Key& key : bound) {
    auto released = release_bound(state, key.view(), now);
    if (!released) continue;
    state.evolve(*released);
    log.push_back(*released);
    events.push_back(std::move(*released));
  }
  return events;
}

std::string World::run(std::string_view line) {
  const std::string_view verb = line.substr(0, line.find(' '));
  if (verb == "policy") {
    Words settings(line);
    policy.strict_resources = settings.flag("strict");
    policy.max_ttl = settings.duration("max_ttl").value_or(policy.max_ttl);
    policy.default_ttl = settings.duration("default_ttl").value_or(policy.default_ttl);
    return "ok";
  }
  if (verb == "at" || verb == "sweep" || verb == "forget") {
    Words words(std::string(verb) + " value=" + std::string(line.substr(verb.size() + 1)));
    if (verb == "at") now = words.instant("value").value();
    if (verb == "sweep") sweep(static_cast<std::size_t>(words.number("value").value()));
    if (verb == "forget") state.forget_through(words.position("value").value());
    return "ok";
  }
  return text_of(run(command_of(line)));
}

void World::given(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const std::string answer = run(line);
    EXPECT_EQ(answer.substr(0, 2), "ok") << line << "\n=> " << answer;
  }
}

std::string World::show(std::string_view key) const {
  const auto claim = state.claim(key);
  return claim ? text_of(*claim) : "none";
}

std::string World::events_from(std::uint64_t position) const {
  std::string text;
  for (const Event& event : log) {
    if (event.position.value >= position) text += testing::text_of(event) + "\n";
  }
  return text;
}

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.name) + ": " + row.command);
    World world;
    world.given(row.given);
    const std::size_t before = world.log.size();
    EXPECT_EQ(world.run(row.command), row.answer);
    std::string expected;
    for (const std::string& event : row.events) expected += event + "\n";
    EXPECT_EQ(world.events_from(before + 1), expected);
  }
}

}  // namespace holdfast::testing
