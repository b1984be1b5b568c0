#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/holdfast.capnp.h"
#include "ledger/domain/ids.h"
#include "ledger/domain/refusal.h"
#include "ledger/ledger.h"
#include "projections/projections.h"

// Answers as values that can be handed from thread to thread, put into a message at the end.
namespace holdfast::api {

// Bytes for a message.
kj::ArrayPtr<const kj::byte> bytes(const auto& of) {
  return {reinterpret_cast<const kj::byte*>(of.data()), of.size()};
}

// Puts an answer into a message: everything but its id. Called at most once, on any one thread.
using Fill = std::function<void(wire::Response::Builder)>;
// Takes the answer of one request; called exactly once, from any thread. Quick.
using Reply = std::function<void(Fill)>;

Fill error_answer(wire::ErrorKind kind, std::string text);
Fill storage_answer(const store::StorageError& error);
Fill refused_answer(Refusal refusal, Position at);
// Claims that would make the answer larger than a message may be are left out of it.
Fill outcomes_answer(std::vector<Outcome> outcomes, Position at);
Fill claim_answer(Claim claim, Position at);
Fill claims_answer(projections::Page<Claim> page);
Fill history_answer(projections::HistoryPage page);
Fill tallies_answer(projections::TallyPage page);
Fill free_answer(std::int64_t units, Position at);
Fill pieces_answer(AvailabilityPage page, Position at);
// Cut off, with a cursor, where it would be larger than a message may be.
Fill resources_answer(ResourceList list, Position at);
// In order, each with its own position.
Fill answers_answer(std::vector<Fill> answers, Position at);
Fill done_answer(Position at);

}  // namespace holdfast::api
