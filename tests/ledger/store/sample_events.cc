#include "tests/ledger/store/sample_events.h"

#include <algorithm>

#include <array>
#include <utility>

namespace holdfast::store {
namespace {

constexpr Instant kT0{1'767'225'600'000};  // 2026-01-01T00:00:00Z

Digest counting_digest() {
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<std::byte>(i + 1);
  return digest;
}

Event minimal(Happening happening, bool of_claim) {
  Event event{.position = {1},
              .transaction = {1},
              .transaction_count = 1,
              .recorded_at = kT0,
              .resource = Path::trusted("room-1"),
              .key = {},
              .previous_on_resource = {},
              .previous_of_claim = {},
              .actor = Actor::trusted("desk"),
              .request_id = {},
              .correlation_id = {},
              .content = {},
              .available = {},
              .personal = {},
              .happening = std::move(happening)};
  if (of_claim) event.key = Key::trusted("h1");
  return event;
}

Event full(Happening happening, bool of_claim) {
  Event event = minimal(std::move(happening), of_claim);
  event.position = {1'000'002};
  event.transaction = {1'000'001};
  event.transaction_count = 3;
  event.recorded_at = kT0 + Duration{59'999};
  event.resource = Path::trusted("hall/section-a/seat-12");
  event.previous_on_resource = {999'999};
  if (of_claim) event.previous_of_claim = {999'998};
  event.request_id = RequestId::trusted("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b");
  event.correlation_id = CorrelationId::trusted("trace 7");
  event.content = counting_digest();
  event.available = 41;
  event.personal = {.holder = Holder::trusted("ann"),
                    .cart = Cart::trusted("cart-9"),
                    .label = Note::trusted("window seat\nplease"),
                    .on_behalf_of = Holder::trusted("Zoë"),
                    .reason = Note::trusted("by telephone"),
                    .source = "192.0.2.7:50123"};
  return event;
}

Definition full_definition() {
  return {.capacity = {4},
          .turnaround = Duration{30 * kMinute.ms},
          .parts = false,
          .max_ttl = kDay,
          .default_ttl = kMinute,
          .holder_limit = {},
          .extension_limit = {},
          .max_hold_time = {},
          .attributes = {}};
}

Definition definition_in_a_tree() {
  Definition definition = full_definition();
  definition.parts = true;
  definition.holder_limit = Quantity{2};
  definition.extension_limit = 0;
  definition.max_hold_time = kHour;
  definition.attributes = {{AttributeName::trusted("floor"), Note::trusted("3")},
                           {AttributeName::trusted("station"), Note::trusted("17")}};
  return definition;
}

Held minimal_held() {
  return {.span = {},
          .quantity = {1},
          .expires_at = kT0 + kMinute,
          .clamped = false,
          .capacity = {},
          .stolen_from = {}};
}

Held full_held() {
  return {.span = Span{kT0 + kHour, kT0 + kDay},
          .quantity = {2},
          .expires_at = kT0 + kMinute,
          .clamped = true,
          .capacity = Quantity{5},
          .stolen_from = Key::trusted("h0")};
}

Held bound_held() {
  Held held = full_held();
  held.bound = true;
  return held;
}

Moved full_move() {
  return {.to = Path::trusted("hall/section-b/seat-1"),
          .span = Span{kT0 + kHour, kT0 + kDay},
          .previous_on_to = {999'997}};
}

template <class Tag>
rc::Gen<Text<Tag>> name(std::size_t max) {
  return rc::gen::map(rc::gen::mapcat(rc::gen::inRange<std::size_t>(1, max + 1),
                                      [](std::size_t size) {
                                        return rc::gen::container<std::string>(
                                            size, rc::gen::inRange<char>('!', '~'));
                                      }),
                      [](std::string text) {
                        // A path has no empty segments.
                        if (!Tag::valid(text)) std::replace(text.begin(), text.end(), '/', '.');
                        return Text<Tag>::trusted(std::move(text));
                      });
}

rc::Gen<Note> note() {
  return rc::gen::map(rc::gen::inRange<std::size_t>(0, 4097),
                      [](std::size_t size) { return Note::trusted(std::string(size, 'x')); });
}

template <class T>
rc::Gen<std::optional<T>> maybe(rc::Gen<T> gen) {
  return rc::gen::oneOf(
      rc::gen::just(std::optional<T>{}),
      rc::gen::map(std::move(gen), [](T value) { return std::optional<T>(std::move(value)); }));
}

std::int64_t number(std::int64_t min, std::int64_t max) {
  // Small numbers and zero are where words vanish from the canonical form.
  return *rc::gen::oneOf(rc::gen::inRange(min, max), rc::gen::inRange(min, min + 3));
}
Instant any_instant() { return {number(0, kMaxInstant.ms)}; }
Quantity any_quantity() { return {number(0, kMaxUnits + 1)}; }

std::optional<Duration> any_duration() {
  return *maybe(rc::gen::map(rc::gen::inRange<std::int64_t>(0, kMaxMaxTtl.ms),
                             [](std::int64_t ms) { return Duration{ms}; }));
}

Definition any_definition() {
  Definition definition{.capacity = any_quantity(),
                        .turnaround = {number(0, kDay.ms)},
                        .parts = *rc::gen::arbitrary<bool>(),
                        .max_ttl = any_duration(),
                        .default_ttl = any_duration(),
                        .holder_limit = {},
                        .extension_limit = *maybe(rc::gen::inRange<std::int64_t>(0, 100)),
                        .max_hold_time = any_duration(),
                        .attributes = {}};
  if (*rc::gen::arbitrary<bool>()) definition.holder_limit = any_quantity();
  for (int left = *rc::gen::inRange(0, 4); left > 0; --left) {
    definition.attributes.emplace(*name<NameTag<6, 64>>(64), *note());
  }
  return definition;
}

std::optional<Span> any_span() {
  const Instant from = any_instant();
  const Span span{from, {number(from.ms + 1, kMaxInstant.ms + 1)}};
  return span.until > kMaxInstant ? std::nullopt : std::optional(span);
}

Changed any_change() {
  Changed changed{.definition = any_definition()};
  const auto span = any_span();
  if (span) {
    changed.window = WindowChange{*rc::gen::element(WindowKind::hours, WindowKind::blocked),
                                  *rc::gen::arbitrary<bool>(), *span};
  }
  return changed;
}

Moved any_move() {
  // Position 0 is before every event there is.
  return {.to = *maybe(name<PathTag>(200)), .span = any_span(), .previous_on_to = {}};
}

Held any_held() {
  Held held{.span = {},
            .quantity = any_quantity(),
            .expires_at = any_instant(),
            .clamped = *rc::gen::arbitrary<bool>(),
            .capacity = {},
            .stolen_from = *maybe(name<NameTag<0, 200>>(200)),
            .bound = *rc::gen::arbitrary<bool>()};
  if (*rc::gen::arbitrary<bool>()) held.span = any_span();
  if (*rc::gen::arbitrary<bool>()) held.capacity = any_quantity();
  return held;
}

Happening any_happening() {
  switch (*rc::gen::inRange<int>(0, 13)) {
    case 0:
      return Defined{any_definition()};
    case 1:
      return any_change();
    case 2:
      return Closed{};
    case 3:
      return Opened{};
    case 4:
      return Retired{*rc::gen::arbitrary<bool>()};
    case 5:
      return any_held();
    case 6:
      return Extended{any_instant(), *rc::gen::arbitrary<bool>()};
    case 7:
      return Released{any_quantity(), any_quantity()};
    case 8:
      return Committed{any_quantity(), any_quantity()};
    case 9:
      return Cancelled{any_quantity(), any_quantity()};
    case 10:
      return Stolen{*name<NameTag<0, 200>>(200)};
    case 11:
      return any_move();
    default:
      return Expired{any_instant()};
  }
}

Personal any_personal() {
  return {.holder = *maybe(name<NameTag<1, 200>>(200)),
          .cart = *maybe(name<NameTag<2, 200>>(200)),
          .label = *maybe(note()),
          .on_behalf_of = *maybe(name<NameTag<1, 200>>(200)),
          .reason = *maybe(note()),
          .source = *rc::gen::element<std::string>("", "127.0.0.1:1", "[2001:db8::1]:65535")};
}

}  // namespace

std::vector<Sample> samples() {
  const std::vector<std::pair<Happening, Happening>> types{
      {Defined{}, Defined{full_definition()}},
      {Changed{}, Changed{full_definition()}},
      {Closed{}, Closed{}},
      {Opened{}, Opened{}},
      {Retired{}, Retired{true}},
      {minimal_held(), full_held()},
      {Extended{kT0 + kHour}, Extended{kT0 + kHour, true}},
      {Released{{1}, {0}}, Released{{1}, {2}}},
      {Committed{{1}, {0}}, Committed{{2}, {1}}},
      {Cancelled{{1}, {0}}, Cancelled{{1}, {1}}},
      {Stolen{Key::trusted("h2")}, Stolen{Key::trusted("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c")}},
      {Moved{.to = {}, .span = {}, .previous_on_to = {}}, full_move()},
      {Expired{kT0}, Expired{kT0 + kSecond}}};
  std::vector<Sample> all;
  for (const auto& [least, most] : types) {
    const bool of_claim = least.index() >= Happening(minimal_held()).index();
    const std::string type(type_name(least));
    all.push_back({type + "-minimal", minimal(least, of_claim)});
    all.push_back({type + "-full", full(most, of_claim)});
  }
  all.push_back({"defined-in-a-tree", full(Defined{definition_in_a_tree()}, false)});
  const WindowChange blocked{WindowKind::blocked, true, {kT0 + kHour, kT0 + kDay}};
  all.push_back({"changed-window", full(Changed{full_definition(), blocked}, false)});
  all.push_back({"held-bound", full(bound_held(), true)});
  Event step = full(full_held(), true);
  step.step = 2;
  all.push_back({"held-in-a-transaction", std::move(step)});
  return all;
}

Event numbered_hold(std::uint64_t position) {
  Event event = full(full_held(), true);
  event.position = event.transaction = {position};
  event.transaction_count = 1;
  event.key = Key::trusted("h" + std::to_string(position));
  event.previous_on_resource = {position - 1};
  event.previous_of_claim = {};
  event.recorded_at = kT0 + Duration{static_cast<std::int64_t>(position)};
  return event;
}

std::vector<Event> numbered_holds(std::uint64_t from, std::uint64_t until) {
  std::vector<Event> events;
  for (; from <= until; ++from) events.push_back(numbered_hold(from));
  return events;
}

rc::Gen<Event> arbitrary_event() {
  return rc::gen::exec([] {
    const auto index = static_cast<std::uint64_t>(number(0, 66'000));
    const std::uint64_t position = index + static_cast<std::uint64_t>(number(1, 1L << 62));
    Event event = minimal(any_happening(), *rc::gen::arbitrary<bool>());
    event.position = {position};
    event.transaction = {position - index};
    event.transaction_count = static_cast<std::uint32_t>(index + 1);
    event.recorded_at = any_instant();
    event.resource = *name<PathTag>(200);
    if (event.key) event.key = *name<NameTag<0, 200>>(200);
    event.previous_on_resource = {static_cast<std::uint64_t>(number(0, 1'000'000)) % position};
    event.previous_of_claim = {static_cast<std::uint64_t>(number(0, 1'000'000)) % position};
    event.actor = *name<NameTag<3, 200>>(200);
    event.request_id = *maybe(name<NameTag<4, 64>>(64));
    event.correlation_id = *maybe(name<NameTag<5, 200>>(200));
    if (*rc::gen::arbitrary<bool>()) event.content = counting_digest();
    event.step = static_cast<std::uint32_t>(number(0, 1'000));
    event.available = *maybe(rc::gen::inRange<std::int64_t>(-kMaxUnits, kMaxUnits));
    event.personal = any_personal();
    return event;
  });
}

}  // namespace holdfast::store
