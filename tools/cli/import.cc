#include "tools/cli/import.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "api/text/fields.h"
#include "api/text/json.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/import_file.h"
#include "tools/cli/progress.h"
#include "tools/cli/refusal_text.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kBatchLines = 1'000;
constexpr std::size_t kBatchBytes = 1 << 20;
constexpr std::size_t kBatchesInFlight = 4;

struct Line {
  std::uint64_t number;
  std::string text;
};

struct Batch {
  std::vector<Line> lines;
  std::size_t text_bytes = 0;
  std::uint64_t file_bytes = 0;  // read up to its end
};

// Nothing when a line, which was checked before, is no command any more.
std::optional<api::Request> request_of(const Batch& batch) {
  api::Request request;
  auto lines = request.root().initImportLines(static_cast<unsigned>(batch.lines.size()));
  for (unsigned i = 0; i < lines.size(); ++i) {
    if (!api::import_line_from_json(batch.lines[i].text, lines[i])) return std::nullopt;
    lines[i].setLine(batch.lines[i].number);
  }
  return request;
}

// Counts outcomes and writes refusals, line after line, however the answers come in.
class Tally {
 public:
  explicit Tally(std::ostream* refusals) : refusals_(refusals) {}

  void add(const Batch& batch, capnp::List<wire::Outcome>::Reader outcomes) {
    for (unsigned i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].isAccepted()) {
        ++accepted_;
        continue;
      }
      const auto refusal = outcomes[i].getRefused();
      ++refused_[api::to_text(capnp::DynamicEnum(refusal.getReason()))];
      if (!refusals_) continue;
      const boost::json::object entry{{"line", batch.lines[i].number},
                                      {"command", boost::json::parse(batch.lines[i].text)},
                                      {"refused", api::to_json(refusal)}};
      *refusals_ << boost::json::serialize(entry) << '\n';
    }
    judged_ += outcomes.size();
  }

  std::uint64_t judged() const { return judged_; }
  std::uint64_t accepted() const { return accepted_; }
  const std::map<std::string, std::uint64_t>& refused() const { return refused_; }

 private:
  std::ostream* refusals_;
  std::uint64_t judged_ = 0;
  std::uint64_t accepted_ = 0;
  std::map<std::string, std::uint64_t> refused_;
};

// Sends the lines behind `after` and tallies their outcomes.
class Sending {
 public:
  Sending(Connection& connection, LineReader& reader, Tally& tally)
      : connection_(connection),
        reader_(reader),
        tally_(tally),
        progress_("importing", reader.size(), "lines") {}

  // What stopped it; nothing: all lines are judged.
  std::optional<std::string> run(std::uint64_t after) {
    while (!stopped_) {
      Batch batch = next_batch(after);
      if (batch.lines.empty()) break;
      send(std::move(batch));
      connection_.wait(kBatchesInFlight - 1);
    }
    connection_.wait(0);
    if (!stopped_ && !reader_.error().empty()) stopped_ = reader_.error();
    return stopped_;
  }

 private:
  Batch next_batch(std::uint64_t after) {
    Batch batch;
    std::string line;
    while (batch.lines.size() < kBatchLines && batch.text_bytes < kBatchBytes &&
           reader_.next(line)) {
      if (reader_.number() <= after) continue;
      batch.text_bytes += line.size();
      batch.lines.push_back({reader_.number(), std::move(line)});
      line.clear();
    }
    batch.file_bytes = reader_.bytes();
    return batch;
  }

  void send(Batch batch) {
    auto request = request_of(batch);
    if (!request) return stop("the file changed while it was imported");
    const std::uint64_t number = sent_++;
    batches_.emplace(number, std::move(batch));
    connection_.send(std::move(*request), [this, number](api::Client::Answer answer) {
      take(number, std::move(answer));
    });
  }

  void take(std::uint64_t number, api::Client::Answer answer) {
    if (!answer) {
      stop(connection_.explain(answer.error()));
    } else if (answer->root().isRefused()) {
      stop("refused: " + refusal_text(answer->root().getRefused()));
    } else if (!answer->root().isOutcomes() ||
               answer->root().getOutcomes().size() != batches_.at(number).lines.size()) {
      stop("the server gave an answer to another question");
    } else {
      answers_.emplace(number, std::move(*answer));
    }
    // In the order of the file, whichever came first.
    while (!answers_.empty() && answers_.begin()->first == tallied_) {
      const Batch& batch = batches_.at(tallied_);
      tally_.add(batch, answers_.begin()->second.root().getOutcomes());
      progress_.show(batch.file_bytes, tally_.judged());
      answers_.erase(answers_.begin());
      batches_.erase(tallied_++);
    }
  }

  void stop(std::string why) {
    if (!stopped_) stopped_ = std::move(why);
  }

  Connection& connection_;
  LineReader& reader_;
  Tally& tally_;
  Progress progress_;
  std::map<std::uint64_t, Batch> batches_;          // without a tallied answer
  std::map<std::uint64_t, api::Response> answers_;  // that came before an earlier one's
  std::uint64_t sent_ = 0;
  std::uint64_t tallied_ = 0;
  std::optional<std::string> stopped_;
};

void print_summary(const Options& options, const Tally& tally, std::uint64_t after,
                   std::uint64_t position) {
  if (options.json) {
    boost::json::object refused;
    for (const auto& [reason, count] : tally.refused()) refused[reason] = count;
    print_json(boost::json::object{{"position", position},
                                   {"went_on_after", after},
                                   {"lines", tally.judged()},
                                   {"accepted", tally.accepted()},
                                   {"refused", std::move(refused)}});
    return;
  }
  if (after > 0) print(fmt::format("went on after line {}, judged before\n", after));
  print(fmt::format("{} lines judged, {} accepted\n", tally.judged(), tally.accepted()));
  for (const auto& [reason, count] : tally.refused()) {
    print(fmt::format("refused: {} {}\n", count, reason));
  }
}

// The file for refusals: begun anew, or gone on with where the import goes on.
tl::expected<std::ofstream, std::string> open_refusals(const std::string& path, bool go_on) {
  std::ofstream file;
  if (path.empty()) return file;
  file.open(path, go_on ? std::ios::app : std::ios::trunc);
  if (!file) return tl::unexpected(path + ": " + std::strerror(errno));
  return file;
}

api::Request begin_request(const Digest& file) {
  api::Request request;
  request.root().initImportBegin().setFile(
      {reinterpret_cast<const kj::byte*>(file.data()), file.size()});
  return request;
}

api::Request end_request(bool more) {
  api::Request request;
  request.root().initImportEnd().setMore(more);
  return request;
}

}  // namespace

CLI::App* add_import(CLI::App& app, ImportOptions& import) {
  CLI::App* sub = app.add_subcommand("import", "judge a file of commands, each at its own instant")
                      ->group("Operators")
                      ->fallthrough();
  sub->add_option("FILE", import.file, "one command a line, as JSON, with `at`")->required();
  sub->add_flag("--more", import.more, "another file follows: stay in import mode");
  sub->add_option("--refusals", import.refusals, "write refused lines to this file, as JSON lines")
      ->type_name("FILE");
  return sub;
}

Exit run_import(const Options& options, const ImportOptions& import) {
  const auto checked = check_import_file(import.file);
  if (!checked) return fail(options, "file", checked.error());
  auto reader = LineReader::open(import.file);
  if (!reader) return fail(options, "file", reader.error());

  Connection connection(options);
  const auto begun = connection.call(begin_request(checked->sha256));
  if (!begun) return fail(options, "connection", begun.error());
  if (begun->root().isRefused()) return print_refusal(options, begun->root().getRefused());
  const std::uint64_t after = begun->root().getImport().getLine();
  auto refusals = open_refusals(import.refusals, after > 0);
  if (!refusals) return fail(options, "file", refusals.error());

  Tally tally(import.refusals.empty() ? nullptr : &*refusals);
  if (const auto stopped = Sending(connection, *reader, tally).run(after)) {
    return fail(options, "import",
                fmt::format("{} (after {} lines; run it again: it goes on where it stopped)",
                            *stopped, tally.judged()));
  }
  const auto ended = connection.call(end_request(import.more));
  if (!ended) return fail(options, "connection", ended.error());
  if (ended->root().isRefused()) return print_refusal(options, ended->root().getRefused());
  if (!import.refusals.empty() && !refusals->flush()) {
    return fail(options, "file", import.refusals + ": cannot be written");
  }
  print_summary(options, tally, after, ended->root().getPosition());
  return Exit::accepted;
}

}  // namespace holdfast::cli
