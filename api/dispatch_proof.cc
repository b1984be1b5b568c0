#include "api/dispatch_proof.h"

#include <kj/debug.h>
#include <algorithm>
#include <utility>

#include "api/framing.h"
#include "api/head_publisher.h"
#include "ledger/proof/bundle.h"
#include "ledger/proof/signed_head.h"
#include "ledger/store/event_codec.h"

namespace holdfast::api {
namespace {

constexpr unsigned kMaxPositions = 1'000;
constexpr unsigned kMaxPaths = 100;
constexpr std::size_t kAnswerBytes = kMaxMessageBytes / 4;
constexpr std::uint64_t kMostRecords = 100'000;  // of an answer

using store::MerklePath;

// `init(size)` makes a list of Data.
void put(const MerklePath& path, const auto& init) {
  auto list = init(static_cast<unsigned>(path.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, bytes(path[i]));
}

Fill beyond_the_head(Position head) { return refused_answer(Refusal{Reason::bad_time}, head); }

Fill records_answer(std::vector<ProvedRecord> records, Position at) {
  return [records = std::move(records), at](wire::Response::Builder response) {
    response.setPosition(at.value);
    auto list = response.initRecords(static_cast<unsigned>(records.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setPosition(records[i].position.value);
      list[i].setBytes(bytes(records[i].bytes));
      put(records[i].audit, [&](unsigned size) { return list[i].initAudit(size); });
    }
  };
}

Fill signed_answer(StatedHead stated, const proof::SigningKey& key) {
  return [stated = std::move(stated),
          public_key = key.public_key()](wire::Response::Builder response) {
    const auto& proofs = stated.proofs;
    response.setPosition(stated.head.size);
    auto answer = response.initSignedHead();
    answer.setNote(stated.note);
    answer.setPublicKey(proof::to_text({stated.head.ledger, public_key}));
    auto paths = answer.initPaths(static_cast<unsigned>(proofs.size()));
    for (unsigned i = 0; i < paths.size(); ++i) {
      paths[i].setPath(proofs[i].path);
      auto entries = paths[i].initEntries(static_cast<unsigned>(proofs[i].entries.size()));
      for (unsigned k = 0; k < entries.size(); ++k) {
        const proof::PathEntry& entry = proofs[i].entries[k];
        entries[k].setPath(entry.path);
        entries[k].setLast(entry.last.value);
        entries[k].setIndex(entry.index);
        put(entry.audit, [&](unsigned size) { return entries[k].initAudit(size); });
      }
    }
  };
}

// The first of the positions, as many as fit into an answer.
tl::expected<std::vector<ProvedRecord>, store::StorageError> read_records(
    const store::RecordLog& log, std::span<const Position> positions) {
  std::vector<ProvedRecord> records;
  std::size_t size = 0;
  auto read = log.read(
      positions,
      [&](Position position, std::string_view record) -> tl::expected<bool, store::StorageError> {
        records.push_back({position, std::string(record), {}});
        size += record.size();
        return size < kAnswerBytes;
      });
  if (!read) return tl::unexpected(read.error());
  return records;
}

// The events on the path from `last` back, as many as fit into an answer.
tl::expected<std::vector<ProvedRecord>, store::StorageError> read_chain(const store::RecordLog& log,
                                                                        std::string_view path,
                                                                        Position last) {
  std::vector<ProvedRecord> records;
  std::size_t size = 0;
  for (Position at = last; at && size < kAnswerBytes && records.size() < kMaxPositions;) {
    auto read = read_records(log, {&at, 1});
    if (!read) return read;
    const auto event = store::decode(read->front().bytes);
    if (!event) return store::fail(store::at_position(at) + ": " + event.error());
    const auto before = proof::previous_on(path, *event);
    if (!before) break;
    size += read->front().bytes.size();
    records.push_back(std::move(read->front()));
    at = *before;
  }
  return records;
}

}  // namespace

Proofs::Proofs(Ledger& ledger, projections::Projections& projections, const proof::SigningKey& key)
    : ledger_(ledger), projections_(projections), key_(key) {}

void Proofs::ask(wire::Proof::Reader request, Reply reply) {
  switch (request.which()) {
    case wire::Proof::RECORDS:
      return records(request.getRecords(), reply);
    case wire::Proof::INCLUSION:
      return inclusion(request.getInclusion(), reply);
    case wire::Proof::CHAIN:
      return chain(request.getChain(), reply);
    case wire::Proof::CONSISTENCY:
      return consistency(request.getConsistency(), reply);
    case wire::Proof::PATHS:
      return paths(request.getPaths(), reply);
  }
  KJ_FAIL_REQUIRE("a proof that this server does not know");
}

void Proofs::records(wire::Records::Reader request, const Reply& reply) {
  const Position from{request.getFrom()};
  const Position until{request.getUntil()};
  KJ_REQUIRE(from.value > 0 && from <= until, "records from a position to a later one");
  Work work = [this, from, until](projections::AsOf head) {
    if (until > head.position) return beyond_the_head(head.position);
    std::vector<ProvedRecord> records;
    std::size_t size = 0;
    auto scanned = ledger_.log().records().scan(
        from, std::min(until, from + (kMostRecords - 1)),
        [&](Position position, std::string_view record) -> tl::expected<bool, store::StorageError> {
          records.push_back({position, std::string(record), {}});
          size += record.size();
          return size < kAnswerBytes;
        });
    return scanned ? records_answer(std::move(records), head.position)
                   : storage_answer(scanned.error());
  };
  at_head(std::move(work), reply);
}

void Proofs::inclusion(wire::Inclusion::Reader request, const Reply& reply) {
  const std::uint64_t size = request.getSize();
  const auto asked = request.getPositions();
  KJ_REQUIRE(asked.size() > 0 && asked.size() <= kMaxPositions, "from 1 to 1000 positions");
  std::vector<Position> positions;
  for (const std::uint64_t position : asked) {
    KJ_REQUIRE(position > 0 && position <= size, "positions of a tree of that size");
    positions.push_back({position});
  }
  Work work = [this, size, positions = std::move(positions)](projections::AsOf head) {
    if (size > head.position.value) return beyond_the_head(head.position);
    auto records = read_records(ledger_.log().records(), positions);
    if (!records) return storage_answer(records.error());
    return proved(std::move(*records), size, head.position);
  };
  at_head(std::move(work), reply);
}

void Proofs::chain(wire::Chain::Reader request, const Reply& reply) {
  const std::uint64_t size = request.getSize();
  const Position last{request.getLast()};
  KJ_REQUIRE(last.value > 0 && last.value <= size, "the chain of a tree of that size");
  Work work = [this, size, last,
               path = std::string(request.getPath().cStr())](projections::AsOf head) {
    if (size > head.position.value) return beyond_the_head(head.position);
    auto records = read_chain(ledger_.log().records(), path, last);
    if (!records) return storage_answer(records.error());
    return proved(std::move(*records), size, head.position);
  };
  at_head(std::move(work), reply);
}

Fill Proofs::proved(std::vector<ProvedRecord> records, std::uint64_t size, Position at) const {
  const store::ReadNode read = [this](store::MerkleNode node) {
    return ledger_.log().records().node(node);
  };
  for (ProvedRecord& record : records) {
    auto audit = store::inclusion_path(record.position.value - 1, size, read);
    if (!audit) return storage_answer(audit.error());
    record.audit = std::move(*audit);
  }
  return records_answer(std::move(records), at);
}

void Proofs::consistency(wire::Consistency::Reader request, const Reply& reply) {
  const std::uint64_t first = request.getFirst();
  const std::uint64_t size = request.getSize();
  KJ_REQUIRE(first > 0 && first <= size, "the sizes of a tree and of one that continues it");
  Work work = [this, first, size](projections::AsOf head) {
    if (size > head.position.value) return beyond_the_head(head.position);
    auto path = store::consistency_path(
        first, size, [&](store::MerkleNode node) { return ledger_.log().records().node(node); });
    if (!path) return storage_answer(path.error());
    return Fill([path = std::move(*path), at = head.position](wire::Response::Builder response) {
      response.setPosition(at.value);
      put(path, [&](unsigned count) { return response.initConsistency(count); });
    });
  };
  at_head(std::move(work), reply);
}

void Proofs::paths(wire::Paths::Reader request, const Reply& reply) {
  KJ_REQUIRE(request.getPaths().size() <= kMaxPaths, "at most 100 paths");
  std::vector<std::string> asked;
  for (const auto path : request.getPaths()) {
    if (!Path::make({path.cStr(), path.size()})) {
      return reply(refused_answer(Refusal{Reason::bad_path}, ledger_.log().head()));
    }
    asked.emplace_back(path.cStr(), path.size());
  }
  at_head(
      [this, asked = std::move(asked)](projections::AsOf head) { return signed_head(asked, head); },
      reply);
}

Fill Proofs::signed_head(const std::vector<std::string>& asked, projections::AsOf head) const {
  if (!projections_.wait_for(head.position)) {
    return error_answer(wire::ErrorKind::UNAVAILABLE,
                        projections_.progress().stopped.value_or("the projections have stopped"));
  }
  auto stated = state_head(ledger_.log(), projections_, key_, asked, head.now);
  return stated ? signed_answer(std::move(*stated), key_) : storage_answer(stated.error());
}

void Proofs::at_head(Work work, const Reply& reply) {
  ledger_.read([this, work = std::move(work), reply](const State&, Instant now) -> Ledger::Deliver {
    return [this, work, reply, now](Position at) {
      if (thread_.post([work, reply, head = projections::AsOf{at, now}] { reply(work(head)); })) {
        return;
      }
      reply(refused_answer(Refusal{Reason::overloaded}, at));
    };
  });
}

}  // namespace holdfast::api
