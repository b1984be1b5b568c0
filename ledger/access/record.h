#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"
#include "ledger/store/ledger_id.h"

// What the access log holds: who asked for what, which commands were refused, what was done to the
// server. Never part of the ledger's state.
namespace holdfast::access {

enum class Outcome : std::uint8_t {
  answered,
  refused,
  failed,      // answered with an error
  unanswered,  // malformed, or the connection was gone before
};

// A query, a proof, a subscription, an admin request: everything that is no command.
struct Asked {
  std::string kind = {};  // query.history
  Outcome outcome = Outcome::answered;
  std::string reason = {};                  // of a refusal or an error, by name
  std::optional<std::uint32_t> items = {};  // how many the answer's list held; none: it has none
  std::uint32_t request_bytes = 0;
  std::string request =
      {};  // the message as it came, in canonical form; empty: too large to be kept
  bool operator==(const Asked&) const = default;
};

// A command that the ledger refused.
struct Refused {
  std::string command = {};
  std::string resource = {};  // this and the next two: empty where not given or not well-formed
  std::string key = {};
  std::string request_id = {};
  std::string reason = {};
  std::string path = {};     // of what is closed, blocked or at its limit
  std::string blocker = {};  // key of the first claim in the way
  Position in_the_way = {};  // last event of what stood in the way; 0: not known to the refusal
  std::uint32_t step = 0;    // which of a transaction's commands, from 1; 0: no transaction
  bool operator==(const Refused&) const = default;
};

// Records of an actor that were not written: one too many in a minute, or for the queue.
struct Dropped {
  std::string kind = {};  // the first part of theirs: query, proof, subscription, admin, refused
  Instant minute = {};    // its begin
  std::uint64_t count = 0;
  bool operator==(const Dropped&) const = default;
};

struct Started {
  std::string version = {};
  store::LedgerId ledger = {};
  std::string settings = {};
  bool operator==(const Started&) const = default;
};

struct Stopped {
  bool operator==(const Stopped&) const = default;
};

struct ConfigurationChanged {
  std::string subject = {};  // tokens
  std::string detail = {};   // no secret is any part of it
  bool operator==(const ConfigurationChanged&) const = default;
};

using What = std::variant<Asked, Refused, Dropped, Started, Stopped, ConfigurationChanged>;

struct Entry {
  std::string actor = {};         // empty: the server itself
  std::string source = {};        // address of the connection
  Position ledger_position = {};  // of the ledger, when it was answered; 0: not said
  What what = {};
  bool operator==(const Entry&) const = default;
};

struct Record {
  Position position;  // in the access log
  Instant at;         // when it was recorded; never before that of an earlier record
  Entry entry;
  bool operator==(const Record&) const = default;
};

// "query.history", "refused", "started" and so on.
std::string type_of(const What& what);
// Whether a type is the wanted one or below it: query.history is below query.
bool is_of_type(std::string_view type, std::string_view wanted);
std::string_view name_of(Outcome outcome);

// The bytes the log keeps: access.capnp in canonical form. Any thread.
std::string encode(const Record& record);
// Takes any bytes. The error is a sentence.
tl::expected<Record, std::string> decode(std::string_view bytes);

}  // namespace holdfast::access
