#include "ledger/proof/bundle.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>
#include <utility>

#include "ledger/proof/text_bytes.h"
#include "ledger/store/event_codec.h"

namespace holdfast::proof {
namespace {

namespace json = boost::json;

constexpr std::string_view kFormat = "holdfast bundle 1";

json::array to_json(const MerklePath& path) {
  json::array digests;
  for (const Digest& digest : path) digests.emplace_back(to_hex(digest));
  return digests;
}

// Reads JSON that has exactly the members it is asked for. What is wrong is thrown as a sentence,
// and caught in parse_bundle.
struct Malformed {
  std::string what;
};

class Object {
 public:
  Object(const json::value& value, std::string where) : where_(std::move(where)) {
    if (!value.is_object()) throw Malformed{where_ + " is no object"};
    object_ = &value.as_object();
  }

  const json::value& member(std::string_view name) {
    const json::value* value = object_->if_contains(name);
    if (value == nullptr) throw Malformed{where_ + " has no " + std::string(name)};
    ++read_;
    return *value;
  }
  bool has(std::string_view name) const { return object_->contains(name); }
  std::string text(std::string_view name) {
    const json::value& value = member(name);
    if (!value.is_string()) throw wrong(name);
    return std::string(value.as_string());
  }
  std::uint64_t number(std::string_view name) {
    const json::value& value = member(name);
    if (value.is_uint64()) return value.as_uint64();
    if (value.is_int64() && value.as_int64() >= 0) {
      return static_cast<std::uint64_t>(value.as_int64());
    }
    throw wrong(name);
  }
  const json::array& list(std::string_view name) {
    const json::value& value = member(name);
    if (!value.is_array()) throw wrong(name);
    return value.as_array();
  }
  MerklePath digests(std::string_view name) {
    MerklePath path;
    for (const json::value& text : list(name)) {
      const auto digest =
          text.is_string() ? fixed<32>(from_hex(std::string_view(text.as_string()))) : std::nullopt;
      if (!digest) throw wrong(name);
      path.push_back(*digest);
    }
    return path;
  }
  std::string bytes(std::string_view name) {
    auto bytes = from_base64(text(name));
    if (!bytes) throw wrong(name);
    return std::move(*bytes);
  }
  void done() const {
    if (read_ != object_->size()) throw Malformed{where_ + " has a member that is unknown"};
  }
  Malformed wrong(std::string_view name) const {
    return {where_ + ": " + std::string(name) + " is not what it should be"};
  }

 private:
  std::string where_;
  const json::object* object_ = nullptr;
  std::size_t read_ = 0;
};

ProvedRecord read_record(const json::value& value, std::size_t place) {
  Object object(value, "record " + std::to_string(place));
  ProvedRecord record;
  record.position = {object.number("position")};
  record.record = object.bytes("record");
  record.path = object.digests("audit");
  object.done();
  return record;
}

PathProof read_path(const json::value& value) {
  Object object(value, "path");
  PathProof proof{object.text("path"), {}};
  for (const json::value& item : object.list("entries")) {
    Object entry(item, "entry of path " + proof.path);
    proof.entries.push_back({entry.text("path"),
                             {entry.number("last")},
                             entry.number("index"),
                             entry.digests("audit")});
    entry.done();
  }
  object.done();
  return proof;
}

Bundle read_bundle(const json::value& value) {
  Object object(value, "the file");
  if (object.text("format") != kFormat) throw object.wrong("format");
  Bundle bundle;
  bundle.head = object.text("head");
  if (object.has("resource")) bundle.resource = object.text("resource");
  for (const json::value& record : object.list("records")) {
    bundle.records.push_back(read_record(record, bundle.records.size() + 1));
  }
  for (const json::value& path : object.list("paths")) bundle.paths.push_back(read_path(path));
  object.done();
  return bundle;
}

tl::unexpected<Flaw> flaw(Flaw::Kind kind, Position position, std::string what) {
  return tl::unexpected(Flaw{kind, position, std::move(what)});
}

tl::expected<Event, Flaw> checked_event(const ProvedRecord& record, const Head& head) {
  auto event = store::decode(record.record);
  if (!event) return flaw(Flaw::Kind::malformed, record.position, event.error());
  const std::uint64_t index = record.position.value - 1;
  if (event->position != record.position ||
      !store::is_included(store::leaf_digest(record.record), index, head.size, record.path,
                          head.root)) {
    return flaw(Flaw::Kind::not_in_log, record.position,
                "the event at position " + std::to_string(record.position.value) +
                    " is not in the log that the head states");
  }
  return std::move(*event);
}

// That the events are all there are on the paths: each chain from its last position to its first.
tl::expected<void, Flaw> check_complete(const Bundle& bundle, const Verified& verified) {
  std::map<Position, const Event*> by_position;
  for (const Event& event : verified.events) by_position.emplace(event.position, &event);
  std::set<Position> seen;
  const auto paths = paths_of(*bundle.resource);
  if (!verified.head.paths || bundle.paths.size() != paths.size()) {
    return flaw(Flaw::Kind::bad_paths, {}, "the head or the bundle says nothing of last positions");
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto last = bundle.paths[i].path == paths[i]
                          ? last_on_path(bundle.paths[i], *verified.head.paths)
                          : std::nullopt;
    if (!last || last->value > verified.head.size) {
      return flaw(Flaw::Kind::bad_paths, {}, "the last position on " + paths[i] + " is not shown");
    }
    for (Position at = *last; at;) {
      const auto found = by_position.find(at);
      const auto before =
          found == by_position.end() ? std::nullopt : previous_on(paths[i], *found->second);
      if (!before) {
        return flaw(Flaw::Kind::left_out, at,
                    "the event at position " + std::to_string(at.value) + " is on " + paths[i] +
                        " and was left out");
      }
      seen.insert(at);
      at = *before;
    }
  }
  for (const Event& event : verified.events) {
    if (seen.contains(event.position)) continue;
    return flaw(Flaw::Kind::not_asked, event.position,
                "the event at position " + std::to_string(event.position.value) +
                    " is no part of the history of " + *bundle.resource);
  }
  return {};
}

}  // namespace

std::string to_json(const Bundle& bundle) {
  json::object object{{"format", kFormat}, {"head", bundle.head}};
  if (bundle.resource) object["resource"] = *bundle.resource;
  json::array records;
  for (const ProvedRecord& record : bundle.records) {
    records.push_back(json::object{{"position", record.position.value},
                                   {"record", to_base64(bytes_of(record.record))},
                                   {"audit", to_json(record.path)}});
  }
  json::array paths;
  for (const PathProof& proof : bundle.paths) {
    json::array entries;
    for (const PathEntry& entry : proof.entries) {
      entries.push_back(json::object{{"path", entry.path},
                                     {"last", entry.last.value},
                                     {"index", entry.index},
                                     {"audit", to_json(entry.audit)}});
    }
    paths.push_back(json::object{{"path", proof.path}, {"entries", std::move(entries)}});
  }
  object["records"] = std::move(records);
  object["paths"] = std::move(paths);
  return json::serialize(object) + "\n";
}

tl::expected<Bundle, std::string> parse_bundle(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error) return tl::unexpected("the file is no JSON: " + error.message());
  try {
    return read_bundle(value);
  } catch (const Malformed& malformed) {
    return tl::unexpected(malformed.what);
  }
}

tl::expected<Verified, Flaw> verify(const Bundle& bundle, const VerifierKey& key) {
  Verified verified;
  auto head = checked_head(bundle.head, key, "the head");
  if (!head) return tl::unexpected(head.error());
  verified.head = *head;
  Position before;
  for (const ProvedRecord& record : bundle.records) {
    if (record.position <= before) {
      return flaw(Flaw::Kind::malformed, record.position,
                  "the events are not in order of position");
    }
    before = record.position;
    auto event = checked_event(record, verified.head);
    if (!event) return tl::unexpected(event.error());
    verified.events.push_back(std::move(*event));
  }
  if (bundle.resource) {
    if (auto complete = check_complete(bundle, verified); !complete) {
      return tl::unexpected(complete.error());
    }
    verified.complete = true;
  }
  return verified;
}

std::vector<std::string> paths_of(std::string_view resource) {
  std::vector<std::string> paths;
  for (; !resource.empty(); resource = parent_of(resource)) paths.emplace_back(resource);
  std::ranges::reverse(paths);
  return paths;
}

std::optional<Position> previous_on(std::string_view path, const Event& event) {
  if (event.resource.view() == path) return event.previous_on_resource;
  const auto* moved = std::get_if<Moved>(&event.happening);
  if (moved != nullptr && moved->to && moved->to->view() == path) return moved->previous_on_to;
  return std::nullopt;
}

}  // namespace holdfast::proof
