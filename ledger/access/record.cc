#include "ledger/access/record.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "ledger/access/access.capnp.h"

namespace holdfast::access {
namespace {

capnp::Text::Reader text(const std::string& s) { return {s.c_str(), s.size()}; }
std::string text(capnp::Text::Reader reader) { return {reader.cStr(), reader.size()}; }

capnp::Data::Reader bytes_of(const auto& bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}

// An empty text stays null.
void put(const std::string& value, const auto& set) {
  if (!value.empty()) set(text(value));
}

struct SetWhat {
  wire::Record::What::Builder to;

  void operator()(const Asked& asked) {
    auto into = to.initAsked();
    put(asked.kind, [&](auto t) { into.setKind(t); });
    into.setOutcome(static_cast<wire::Outcome>(asked.outcome));
    put(asked.reason, [&](auto t) { into.setReason(t); });
    if (asked.items) into.setItems(*asked.items);
    into.setRequestBytes(asked.request_bytes);
    if (!asked.request.empty()) into.setRequest(bytes_of(asked.request));
  }
  void operator()(const Refused& refused) {
    auto into = to.initRefused();
    put(refused.command, [&](auto t) { into.setCommand(t); });
    put(refused.resource, [&](auto t) { into.setResource(t); });
    put(refused.key, [&](auto t) { into.setKey(t); });
    put(refused.request_id, [&](auto t) { into.setRequestId(t); });
    put(refused.reason, [&](auto t) { into.setReason(t); });
    put(refused.path, [&](auto t) { into.setPath(t); });
    put(refused.blocker, [&](auto t) { into.setBlocker(t); });
    into.setInTheWay(refused.in_the_way.value);
    into.setStep(refused.step);
  }
  void operator()(const Dropped& dropped) {
    auto into = to.initDropped();
    put(dropped.kind, [&](auto t) { into.setKind(t); });
    into.setMinute(dropped.minute.ms);
    into.setCount(dropped.count);
  }
  void operator()(const Started& started) {
    auto into = to.initStarted();
    put(started.version, [&](auto t) { into.setVersion(t); });
    into.setLedgerId(bytes_of(started.ledger));
    put(started.settings, [&](auto t) { into.setSettings(t); });
  }
  void operator()(const Stopped&) { to.setStopped(); }
  void operator()(const ConfigurationChanged& changed) {
    auto into = to.initConfigurationChanged();
    put(changed.subject, [&](auto t) { into.setSubject(t); });
    put(changed.detail, [&](auto t) { into.setDetail(t); });
  }
};

tl::unexpected<std::string> wrong(std::string why) { return tl::unexpected(std::move(why)); }

tl::expected<What, std::string> what(wire::Record::What::Reader from) {
  switch (from.which()) {
    case wire::Record::What::ASKED: {
      const auto asked = from.getAsked();
      if (asked.getOutcome() > wire::Outcome::UNANSWERED) {
        return wrong("an outcome that this version does not know");
      }
      const auto request = asked.getRequest().asChars();
      const std::int64_t items = asked.getItems();
      if (items < -1 || items > std::numeric_limits<std::uint32_t>::max()) {
        return wrong("its number of items is out of range");
      }
      return Asked{
          .kind = text(asked.getKind()),
          .outcome = static_cast<Outcome>(asked.getOutcome()),
          .reason = text(asked.getReason()),
          .items = items < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(items)),
          .request_bytes = asked.getRequestBytes(),
          .request = {request.begin(), request.size()}};
    }
    case wire::Record::What::REFUSED: {
      const auto refused = from.getRefused();
      return Refused{.command = text(refused.getCommand()),
                     .resource = text(refused.getResource()),
                     .key = text(refused.getKey()),
                     .request_id = text(refused.getRequestId()),
                     .reason = text(refused.getReason()),
                     .path = text(refused.getPath()),
                     .blocker = text(refused.getBlocker()),
                     .in_the_way = {refused.getInTheWay()},
                     .step = refused.getStep()};
    }
    case wire::Record::What::DROPPED: {
      const auto dropped = from.getDropped();
      return Dropped{text(dropped.getKind()), {dropped.getMinute()}, dropped.getCount()};
    }
    case wire::Record::What::STARTED: {
      const auto started = from.getStarted();
      const auto id = started.getLedgerId();
      Started result{text(started.getVersion()), {}, text(started.getSettings())};
      if (id.size() != result.ledger.size()) return wrong("its ledger id has not 16 bytes");
      std::memcpy(result.ledger.data(), id.begin(), id.size());
      return result;
    }
    case wire::Record::What::STOPPED:
      return Stopped{};
    case wire::Record::What::CONFIGURATION_CHANGED: {
      const auto changed = from.getConfigurationChanged();
      return ConfigurationChanged{text(changed.getSubject()), text(changed.getDetail())};
    }
  }
  return wrong("a type that this version does not know");
}

tl::expected<Record, std::string> record(wire::Record::Reader from) {
  const Instant at{from.getRecordedAt()};
  if (from.getPosition() == 0 || !in_range(at)) {
    return wrong("its position or instant is out of range");
  }
  auto read = what(from.getWhat());
  if (!read) return tl::unexpected(read.error());
  return Record{{from.getPosition()},
                at,
                {.actor = text(from.getActor()),
                 .source = text(from.getSource()),
                 .ledger_position = {from.getLedgerPosition()},
                 .what = std::move(*read)}};
}

}  // namespace

std::string type_of(const What& what) {
  struct Name {
    std::string operator()(const Asked& asked) { return asked.kind; }
    std::string operator()(const Refused&) { return "refused"; }
    std::string operator()(const Dropped&) { return "dropped"; }
    std::string operator()(const Started&) { return "started"; }
    std::string operator()(const Stopped&) { return "stopped"; }
    std::string operator()(const ConfigurationChanged&) { return "configuration_changed"; }
  };
  return std::visit(Name{}, what);
}

bool is_of_type(std::string_view type, std::string_view wanted) {
  return type.starts_with(wanted) &&
         (wanted.empty() || type.size() == wanted.size() || type[wanted.size()] == '.');
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::answered:
      return "answered";
    case Outcome::refused:
      return "refused";
    case Outcome::failed:
      return "failed";
    case Outcome::unanswered:
      break;
  }
  return "unanswered";
}

std::string encode(const Record& record) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::Record>();
  root.setPosition(record.position.value);
  root.setRecordedAt(record.at.ms);
  root.setLedgerPosition(record.entry.ledger_position.value);
  if (!record.entry.actor.empty()) root.setActor(text(record.entry.actor));
  if (!record.entry.source.empty()) root.setSource(text(record.entry.source));
  std::visit(SetWhat{root.getWhat()}, record.entry.what);
  const auto words = capnp::canonicalize(root.asReader());
  const auto bytes = words.asBytes();
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

tl::expected<Record, std::string> decode(std::string_view bytes) {
  if (bytes.empty() || bytes.size() % sizeof(capnp::word) != 0) {
    return wrong("cannot be read: its bytes are not whole words");
  }
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.begin(), bytes.data(), bytes.size());
  const kj::ArrayPtr<const capnp::word> segment = words;
  const capnp::ReaderOptions options{.traversalLimitInWords = 4 * words.size() + 64,
                                     .nestingLimit = 8};
  try {
    capnp::SegmentArrayMessageReader message(kj::arrayPtr(&segment, 1), options);
    auto read = record(message.getRoot<wire::Record>());
    if (!read) return wrong("cannot be read: " + read.error());
    return read;
  } catch (const kj::Exception& e) {
    return tl::unexpected(std::string("cannot be read: ") + e.getDescription().cStr());
  }
}

}  // namespace holdfast::access
