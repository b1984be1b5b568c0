#include "api/client_message.h"

#include <capnp/serialize.h>

#include "api/framing.h"

namespace holdfast::api {

namespace {

// An answer is the server's, and its reader may go through it as often as it likes.
capnp::ReaderOptions unlimited() {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = UINT64_MAX;
  options.nestingLimit = kMaxNesting;
  return options;
}

bool is_overloaded(wire::Outcome::Reader outcome) {
  return outcome.isRefused() && outcome.getRefused().getReason() == wire::Reason::OVERLOADED;
}

// Iterators of capnp lists are none to the standard algorithms.
template <class List, class Test>
bool all_of(const List& list, Test test) {
  for (const auto element : list) {
    if (!test(element)) return false;
  }
  return true;
}

}  // namespace

Request::Request(unsigned first_segment_words)
    : message_(std::make_unique<capnp::MallocMessageBuilder>(first_segment_words)),
      root_(message_->initRoot<wire::Request>()) {}

struct Response::Message {
  explicit Message(kj::Array<capnp::word> w) : words(kj::mv(w)), reader(words, unlimited()) {}
  kj::Array<capnp::word> words;
  capnp::FlatArrayMessageReader reader;
};

Response::Response(kj::Array<capnp::word> words)
    : message_(std::make_shared<Message>(kj::mv(words))),
      root_(message_->reader.getRoot<wire::Response>()) {}

Repeat repeat_of(wire::Request::Reader request) {
  switch (request.which()) {
    case wire::Request::BATCH: {
      const bool all = all_of(request.getBatch(), [](wire::Command::Reader command) {
        return command.getRequestId().size() > 0;
      });
      return all ? Repeat::safe : Repeat::unknown;
    }
    case wire::Request::IMPORT_LINES:
    case wire::Request::IMPORT_END:
      return Repeat::import;
    default:
      return Repeat::safe;
  }
}

bool overloaded_whole(wire::Response::Reader response) {
  if (response.isRefused()) {
    return response.getRefused().getReason() == wire::Reason::OVERLOADED;
  }
  if (!response.isOutcomes()) return false;
  const auto outcomes = response.getOutcomes();
  return outcomes.size() > 0 && all_of(outcomes, is_overloaded);
}

}  // namespace holdfast::api
