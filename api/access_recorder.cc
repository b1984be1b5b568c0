#include "api/access_recorder.h"

#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <string_view>
#include <utility>

#include "api/convert_query.h"
#include "api/form.h"
#include "api/text/fields.h"

namespace holdfast::api {
namespace {

using capnp::DynamicStruct;
using capnp::DynamicValue;

constexpr std::size_t kMaxRequestBytes = 4'096;

std::string name_of_member(const DynamicStruct::Reader& of) {
  KJ_IF_MAYBE (member, of.which()) return snake_case(member->getProto().getName().cStr());
  return "unknown";
}

// query.history: the request's member, and where that is a choice too, its member.
std::string kind_of(wire::Request::Reader request) {
  const DynamicStruct::Reader root(request);
  std::string kind = name_of_member(root);
  KJ_IF_MAYBE (member, root.which()) {
    if (!member->getType().isStruct()) return kind;
    const auto inner = root.get(*member).as<DynamicStruct>();
    if (inner.getSchema().getUnionFields().size() > 0) kind += "." + name_of_member(inner);
  }
  return kind;
}

// Of the list that an answer is, or that its struct has first.
std::optional<std::uint32_t> count_items(wire::Response::Reader response) {
  const DynamicStruct::Reader root(response);
  KJ_IF_MAYBE (member, root.which()) {
    const auto value = root.get(*member);
    if (value.getType() == DynamicValue::LIST) return value.as<capnp::DynamicList>().size();
    if (value.getType() != DynamicValue::STRUCT) return std::nullopt;
    const auto inner = value.as<DynamicStruct>();
    for (const auto& field : fields_of(inner.getSchema())) {
      if (!field.field.getType().isList() || field.in_union) continue;
      return inner.get(field.field).as<capnp::DynamicList>().size();
    }
  }
  return std::nullopt;
}

template <class Enum>
std::string enum_name(Enum value) {
  return to_text(capnp::DynamicEnum(std::move(value)));
}

bool is_command(wire::Request::Reader request) {
  return request.isBatch() || request.isImportLines();
}

wire::Command::Reader command_at(wire::Request::Reader request, unsigned index) {
  return request.isBatch() ? request.getBatch()[index]
                           : request.getImportLines()[index].getCommand();
}

// A text field of a command, if it has it and it is well-formed.
template <class Name>
std::string field_of(const DynamicStruct::Reader& of, const char* name) {
  KJ_IF_MAYBE (field, of.getSchema().findFieldByName(name)) {
    if (!field->getType().isText() || !of.has(*field)) return {};
    const std::string_view text = view(of.get(*field).as<capnp::Text>());
    if (Name::make(text)) return std::string(text);
  }
  return {};
}

Position in_the_way(wire::Refusal::Reader refusal) {
  if (refusal.getBlockers().size() > 0) return {refusal.getBlockers()[0].getVersion()};
  if (refusal.hasClaim()) return {refusal.getClaim().getVersion()};
  if (refusal.getCurrent() > 0) return {static_cast<std::uint64_t>(refusal.getCurrent())};
  return {};
}

access::Refused refused_of(wire::Command::Reader command, wire::Refusal::Reader refusal) {
  access::Refused refused;
  refused.request_id = command.hasRequestId()
                           ? field_of<RequestId>(DynamicStruct::Reader(command), "requestId")
                           : std::string();
  // Of a transaction, the command that was refused first.
  const auto positions = refusal.getPositions();
  for (unsigned i = 0; i < positions.size() && refused.step == 0; ++i) {
    if (positions[i].isRefused()) refused.step = i + 1;
  }
  if (command.isTransact() && refused.step > 0 &&
      refused.step <= command.getTransact().getSteps().size()) {
    command = command.getTransact().getSteps()[refused.step - 1];
  }
  const DynamicStruct::Reader root(command);
  refused.command = name_of_member(root);
  KJ_IF_MAYBE (member, root.which()) {
    const auto inner = root.get(*member).as<DynamicStruct>();
    refused.resource = field_of<Path>(inner, "resource");
    refused.key = field_of<Key>(inner, "key");
  }
  refused.reason = enum_name(refusal.getReason());
  refused.path = std::string(view(refusal.getPath()));
  if (refusal.getBlockers().size() > 0) {
    refused.blocker = std::string(view(refusal.getBlockers()[0].getKey()));
  }
  refused.in_the_way = in_the_way(refusal);
  return refused;
}

std::string canonical(wire::Request::Reader request) {
  const auto words = capnp::canonicalize(request);
  const auto bytes = words.asChars();
  return {bytes.begin(), bytes.size()};
}

}  // namespace

Asking::Asking(access::AccessLog& log, wire::Request::Reader request, const Caller& caller)
    : log_(log), entry_{.actor = caller.actor().str(), .source = caller.source, .what = {}} {
  asked_.kind = kind_of(request);
  const std::size_t size = request.totalSize().wordCount * sizeof(capnp::word);
  asked_.request_bytes = static_cast<std::uint32_t>(size);
  if (size <= kMaxRequestBytes) asked_.request = canonical(request);
}

Asking::~Asking() {
  if (recorded_) return;
  asked_.outcome = access::Outcome::unanswered;
  record();
}

void Asking::answered(wire::Response::Reader response) {
  entry_.ledger_position = {response.getPosition()};
  if (response.isRefused()) {
    asked_.outcome = access::Outcome::refused;
    asked_.reason = enum_name(response.getRefused().getReason());
  } else if (response.isError()) {
    asked_.outcome = access::Outcome::failed;
    asked_.reason = enum_name(response.getError().getKind());
  } else {
    asked_.items = count_items(response);
  }
  record();
}

void Asking::begun(Position at) {
  entry_.ledger_position = at;
  record();
}

void Asking::record() {
  recorded_ = true;
  entry_.what = std::move(asked_);
  log_.record(std::move(entry_));
}

void AccessRecorder::turned_away(const std::string& source, wire::ErrorKind why,
                                 Position at) const {
  access::Asked hello;
  hello.kind = "hello";
  hello.outcome = access::Outcome::failed;
  hello.reason = enum_name(why);
  log_.record({.source = source, .ledger_position = at, .what = std::move(hello)});
}

void AccessRecorder::configured(const std::string& subject, const std::string& detail,
                                Position at) const {
  log_.record({.ledger_position = at, .what = access::ConfigurationChanged{subject, detail}});
}

std::optional<Fill> AccessRecorder::unrecordable(wire::Request::Reader request) const {
  if (is_command(request)) return std::nullopt;
  const auto failure = log_.failure();
  if (!failure) return std::nullopt;
  return error_answer(wire::ErrorKind::UNAVAILABLE,
                      "what is read cannot be recorded: the access log: " + *failure);
}

std::shared_ptr<Asking> AccessRecorder::asking(wire::Request::Reader request,
                                               const Caller& caller) const {
  return std::make_shared<Asking>(log_, request, caller);
}

Reply AccessRecorder::recorded(wire::Request::Reader request, const Caller& caller,
                               Reply reply) const {
  if (is_command(request)) {
    return refusals_ ? with_refusals(request, caller, std::move(reply)) : std::move(reply);
  }
  if (request.isQueries() && request.getQueries().size() <= kMaxQueries) {
    return each_recorded(request.getQueries(), caller, std::move(reply));
  }
  return [asking = asking(request, caller), reply = std::move(reply)](Fill fill) {
    reply([asking, fill = std::move(fill)](wire::Response::Builder response) {
      fill(response);
      asking->answered(response);
    });
  };
}

// As if each had been asked alone.
Reply AccessRecorder::each_recorded(capnp::List<wire::Query>::Reader queries, const Caller& caller,
                                    Reply reply) const {
  std::vector<std::shared_ptr<Asking>> askings;
  askings.reserve(queries.size());
  for (const auto query : queries) {
    capnp::MallocMessageBuilder message;
    auto alone = message.initRoot<wire::Request>();
    alone.setQuery(query);
    askings.push_back(asking(alone.asReader(), caller));
  }
  return [askings = std::move(askings), reply = std::move(reply)](Fill fill) {
    reply([askings, fill = std::move(fill)](wire::Response::Builder response) {
      fill(response);
      for (unsigned i = 0; i < askings.size(); ++i) {
        askings[i]->answered(response.isAnswers() ? response.getAnswers()[i].asReader()
                                                  : response.asReader());
      }
    });
  };
}

Reply AccessRecorder::with_refusals(wire::Request::Reader request, const Caller& caller,
                                    Reply reply) const {
  auto kept = std::make_shared<capnp::MallocMessageBuilder>(
      static_cast<unsigned>(request.totalSize().wordCount) + 1);
  kept->setRoot(request);
  access::Entry entry{.actor = caller.actor().str(), .source = caller.source, .what = {}};
  return [kept = std::move(kept), entry = std::move(entry), reply = std::move(reply),
          &log = log_](Fill fill) {
    reply([=, &log, fill = std::move(fill)](wire::Response::Builder response) {
      fill(response);
      if (!response.isOutcomes()) return;
      const auto outcomes = response.getOutcomes().asReader();
      const auto asked = kept->getRoot<wire::Request>().asReader();
      for (unsigned i = 0; i < outcomes.size(); ++i) {
        if (!outcomes[i].isRefused()) continue;
        access::Entry refused = entry;
        refused.ledger_position = {response.getPosition()};
        refused.what = refused_of(command_at(asked, i), outcomes[i].getRefused());
        log.record(std::move(refused));
      }
    });
  };
}

}  // namespace holdfast::api
