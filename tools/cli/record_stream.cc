#include "tools/cli/record_stream.h"

#include <algorithm>

#include "tools/cli/ask.h"
#include "tools/cli/proof_bytes.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kUnderWay = 4;
// Less than what the server puts into an answer, so that most stretches come in one.
constexpr std::size_t kBytesAtOnce = 1 << 20;

}  // namespace

void RecordStream::ask(const std::shared_ptr<Stretch>& stretch) {
  api::Request request;
  auto records = request.root().initProof().initRecords();
  records.setFrom(stretch->from.value);
  records.setUntil(stretch->until.value);
  stretch->answer.reset();
  connection_.send(std::move(request),
                   [stretch](api::Client::Answer answer) { stretch->answer = std::move(answer); });
}

void RecordStream::ask_ahead() {
  while (asked_.size() < kUnderWay && next_ <= until_) {
    const Position last = std::min(until_, next_ + (length_ - 1));
    asked_.push_back(std::make_shared<Stretch>(Stretch{next_, last}));
    ask(asked_.back());
    next_ = last + 1;
  }
}

tl::expected<void, Exit> RecordStream::run(const Visit& visit) {
  for (ask_ahead(); !asked_.empty(); ask_ahead()) {
    const auto first = asked_.front();
    if (!connection_.wait_until([&] { return first->answer.has_value(); })) {
      return tl::unexpected(
          fail(options_, "connection", connection_.too_late() + ": wait longer with --timeout"));
    }
    // Kept while it is read: the stretch may be asked for again.
    const api::Client::Answer answer = std::move(*first->answer);
    if (auto used = use(answer, visit); !used) return used;
    if (first->from <= first->until) {
      ask(first);
    } else {
      asked_.pop_front();
    }
  }
  return {};
}

// Takes what the answer has from the first stretch.
tl::expected<void, Exit> RecordStream::use(const api::Client::Answer& answer, const Visit& visit) {
  if (!answer) {
    return tl::unexpected(fail(options_, "connection", connection_.explain(answer.error())));
  }
  const auto response = answer->root();
  if (response.isRefused()) return tl::unexpected(print_refusal(options_, response.getRefused()));
  Stretch& stretch = *asked_.front();
  const auto wrong = [&] {
    return tl::unexpected(fail(options_, "server",
                               "the server did not give the events from position " +
                                   std::to_string(stretch.from.value) + " on"));
  };
  if (!response.isRecords() || response.getRecords().size() == 0) return wrong();
  std::size_t size = 0;
  for (const auto record : response.getRecords()) {
    if (record.getPosition() != stretch.from.value || stretch.from > stretch.until) return wrong();
    const std::string_view bytes = view(record.getBytes());
    if (auto visited = visit(stretch.from, bytes); !visited) return visited;
    stretch.from = stretch.from + 1;
    size += bytes.size();
  }
  length_ = std::max<std::uint64_t>(kBytesAtOnce * response.getRecords().size() / (size + 1), 1);
  return {};
}

}  // namespace holdfast::cli
