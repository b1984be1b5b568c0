#pragma once

#include <rocksdb/file_system.h>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/ids.h"
#include "ledger/proof/signed_head.h"
#include "ledger/store/ledger_id.h"

// A stored log, held against everything that says what should be there: its Merkle tree and head,
// its own chains, the watermark, and heads that were published.
namespace holdfast::proof {

// The first thing that is not as it should be.
struct LogFlaw {
  enum class Kind {
    unreadable,    // RocksDB, a record or an event cannot be read
    missing,       // an event between others is gone
    shortened,     // the last events are gone
    edited,        // an event is not the one that was appended
    swapped,       // an event stands in the place of another
    broken_chain,  // an event does not name the one before it, or time goes back
    forked,        // the log is whole, but another than the one whose head was stated
    replaced,      // it is another ledger
    bad_paths,     // the events do not give the paths' root that a published head states
  };
  Kind kind;
  Position first;  // first position that is bad, or may be; 0: it is about none
  std::string what;
};
std::string_view name_of(LogFlaw::Kind kind);

struct AuditOptions {
  std::shared_ptr<rocksdb::FileSystem> fs = nullptr;  // null: the operating system's
  std::string dir;                                    // DATA
  std::span<const Head> published = {};               // signatures checked before
};

struct Audited {
  store::LedgerId ledger{};
  Position head;
  Digest root{};
};

// Reads every event. Opens read-only; changes nothing. Progress is called now and then with the
// position reached and the last one. Memory grows with the resources and claims there are, by some
// 50 bytes each, and where a published head states a root over paths by the paths. Of those roots
// the last is checked.
tl::expected<Audited, LogFlaw> audit_log(
    const AuditOptions& options,
    const std::function<void(Position reached, Position of)>& progress);

}  // namespace holdfast::proof
