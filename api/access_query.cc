#include "api/access_query.h"

#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "api/form.h"
#include "ledger/access/listing.h"
#include "ledger/proof/signed_head.h"

namespace holdfast::api {
namespace {

constexpr std::size_t kMaxPage = 500;
constexpr std::size_t kMaxTypeBytes = 64;

capnp::Text::Reader text(const std::string& s) { return {s.c_str(), s.size()}; }

tl::unexpected<Refusal> bad_text(const char* field) {
  return tl::unexpected(Refusal{.reason = Reason::bad_text, .field = field});
}

tl::expected<access::Listing, Refusal> to_listing(wire::AccessQuery::Reader query) {
  access::Listing asked;
  if (query.hasType()) {
    if (!is_name(view(query.getType()), kMaxTypeBytes)) return bad_text("type");
    asked.type = view(query.getType());
  }
  if (query.hasActor()) {
    if (!Actor::make(view(query.getActor()))) return bad_text("actor");
    asked.actor = view(query.getActor());
  }
  if (query.getFrom() != wire::NONE) asked.from = {query.getFrom()};
  if (query.getUntil() != wire::NONE) asked.until = {query.getUntil()};
  if (!in_range(asked.from) || !in_range(asked.until) || asked.until <= asked.from) {
    return tl::unexpected(Refusal{.reason = Reason::bad_span});
  }
  if (query.hasCursor()) {
    const auto cursor = view(query.getCursor());
    const char* end = cursor.data() + cursor.size();
    const auto read = std::from_chars(cursor.data(), end, asked.behind.value);
    if (read.ec != std::errc() || read.ptr != end || !asked.behind) return bad_text("cursor");
  }
  asked.oldest_first = query.getOldestFirst();
  asked.limit =
      query.getLimit() == 0 ? kMaxPage : std::min<std::size_t>(query.getLimit(), kMaxPage);
  return asked;
}

// Whether every text in it may be shown: what was asked is kept as it came.
bool is_well_formed(const capnp::DynamicValue::Reader& value) {
  switch (value.getType()) {
    case capnp::DynamicValue::TEXT:
      return is_utf8(view(value.as<capnp::Text>()));
    case capnp::DynamicValue::LIST: {
      for (const auto element : value.as<capnp::DynamicList>()) {
        if (!is_well_formed(element)) return false;
      }
      return true;
    }
    case capnp::DynamicValue::STRUCT: {
      const auto from = value.as<capnp::DynamicStruct>();
      for (const auto field : from.getSchema().getFields()) {
        if (from.has(field) && !is_well_formed(from.get(field))) return false;
      }
      return true;
    }
    default:
      return true;
  }
}

// The request as it was kept; nothing where it cannot be shown.
void put_request(const std::string& bytes, wire::AccessRecord::Builder into) {
  if (bytes.empty()) return;
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.begin(), bytes.data(), words.asBytes().size());
  const kj::ArrayPtr<const capnp::word> segment = words;
  try {
    capnp::SegmentArrayMessageReader message(kj::arrayPtr(&segment, 1));
    const auto request = message.getRoot<wire::Request>();
    if (is_well_formed(capnp::toDynamic(request))) into.setRequest(request);
  } catch (const kj::Exception&) {  // malformed as it came
  }
}

struct PutWhat {
  wire::AccessRecord::Builder into;

  void operator()(const access::Asked& asked) {
    into.setOutcome(std::string(access::name_of(asked.outcome)));
    put(asked.reason, [&](auto t) { into.setReason(t); });
    if (asked.items) into.setItems(*asked.items);
    into.setRequestBytes(asked.request_bytes);
    put_request(asked.request, into);
  }
  void operator()(const access::Refused& refused) {
    put(refused.command, [&](auto t) { into.setCommand(t); });
    put(refused.resource, [&](auto t) { into.setResource(t); });
    put(refused.key, [&](auto t) { into.setKey(t); });
    put(refused.request_id, [&](auto t) { into.setRequestId(t); });
    put(refused.reason, [&](auto t) { into.setReason(t); });
    put(refused.path, [&](auto t) { into.setPath(t); });
    put(refused.blocker, [&](auto t) { into.setBlocker(t); });
    if (refused.in_the_way) {
      into.setInTheWay(static_cast<std::int64_t>(refused.in_the_way.value));
    }
    if (refused.step > 0) into.setStep(refused.step);
  }
  void operator()(const access::Dropped& dropped) {
    put(dropped.kind, [&](auto t) { into.setKind(t); });
    into.setMinute(dropped.minute.ms);
    into.setCount(static_cast<std::int64_t>(dropped.count));
  }
  void operator()(const access::Started& started) {
    put(started.version, [&](auto t) { into.setVersion(t); });
    into.setLedgerId(bytes(started.ledger));
    put(started.settings, [&](auto t) { into.setSettings(t); });
  }
  void operator()(const access::Stopped&) {}
  void operator()(const access::ConfigurationChanged& changed) {
    put(changed.subject, [&](auto t) { into.setSubject(t); });
    put(changed.detail, [&](auto t) { into.setDetail(t); });
  }

  // An empty text stays null.
  static void put(const std::string& value, const auto& set) {
    if (!value.empty()) set(text(value));
  }
};

void put(const access::Record& record, wire::AccessRecord::Builder into) {
  into.setPosition(record.position.value);
  into.setRecordedAt(record.at.ms);
  into.setType(access::type_of(record.entry.what));
  PutWhat::put(record.entry.actor, [&](auto t) { into.setActor(t); });
  PutWhat::put(record.entry.source, [&](auto t) { into.setSource(t); });
  if (record.entry.ledger_position) {
    into.setLedgerPosition(static_cast<std::int64_t>(record.entry.ledger_position.value));
  }
  std::visit(PutWhat{into}, record.entry.what);
}

Fill unavailable(const std::string& why) {
  return error_answer(wire::ErrorKind::UNAVAILABLE, "the access log: " + why);
}

// Every answer brings the head of what it was taken from, which can be held against a later one.
std::string signed_head(const store::RecordLog& log, const proof::SigningKey& key) {
  const Position size = log.head();
  const auto root =
      store::merkle_root(size.value, [&](store::MerkleNode node) { return log.node(node); });
  if (!root) return {};
  return proof::sign_head({log.id(), size.value, *root, log.latest()}, key);
}

}  // namespace

void AccessQueries::ask(wire::AccessQuery::Reader query, const Reply& reply) {
  const Position at = ledger_.log().head();
  if (log_ == nullptr) return reply(unavailable("this server keeps none"));
  auto asked = to_listing(query);
  if (!asked) return reply(refused_answer(asked.error(), at));
  const bool queued = thread_.post([this, at, reply, asked = std::move(*asked)] {
    if (!log_->flush()) {
      return reply(unavailable(log_->failure().value_or("the server is stopping")));
    }
    auto listed = access::list(log_->records(), asked);
    if (!listed) return reply(unavailable(listed.error().what));
    reply([at, listed = std::move(*listed),
           note = signed_head(log_->records(), key_)](wire::Response::Builder response) {
      response.setPosition(at.value);
      auto answer = response.initAccess();
      auto list = answer.initRecords(static_cast<unsigned>(listed.records.size()));
      for (unsigned i = 0; i < list.size(); ++i) put(listed.records[i], list[i]);
      if (listed.behind) answer.setCursor(std::to_string(listed.behind.value));
      answer.setNote(note);
    });
  });
  if (!queued) reply(refused_answer(Refusal{Reason::overloaded}, at));
}

}  // namespace holdfast::api
