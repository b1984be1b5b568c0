#include <capnp/message.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/convert_answer.h"
#include "api/text/json.h"
#include "ledger/domain/state.h"
#include "ledger/store/log.h"
#include "projections/projections.h"
#include "tools/cli/progress.h"
#include "tools/replay_statement.h"

// Rebuilds the projections of a stopped server from its log and compares; prints the state as of a
// position; makes and repeats statements. Exit 0: no difference; 1: a difference, or a log that is
// not whole; 2: it could not be done.
namespace holdfast::tools {
namespace {

struct Options {
  std::string data;
  bool verify = false;
  bool keep = false;
  std::optional<std::uint64_t> as_of;
  std::string statement;
  std::string check_statement;
  std::string public_key;
};

void print_claim(const StandingClaim& claim) {
  capnp::MallocMessageBuilder message;
  auto out = message.initRoot<wire::Claim>();
  api::put(State::snapshot(claim), out);
  fmt::print("{}\n", boost::json::serialize(api::to_json(capnp::toDynamic(out.asReader()))));
}

// The live claims as of the position, in order of key, one JSON object a line.
int print_state(const store::Log& log, Position as_of) {
  if (as_of > log.head() || !as_of) {
    return failed(kFailed, fmt::format("position {} is not in the log, which has {}", as_of.value,
                                       log.head().value));
  }
  State state;
  cli::Progress progress("replaying", as_of.value, "events");
  const auto scanned = log.scan(Position{1}, as_of, [&](Event&& event) {
    state.evolve(event);
    if (event.position.value % 4'096 == 0)
      progress.show(event.position.value, event.position.value);
    return true;
  });
  if (!scanned) return failed(kDifferent, scanned.error().what);
  std::vector<const StandingClaim*> live;
  state.visit_subtree({}, [&](const StandingClaim& claim) {
    live.push_back(&claim);
    return true;
  });
  std::sort(live.begin(), live.end(),
            [](const StandingClaim* a, const StandingClaim* b) { return a->key < b->key; });
  for (const StandingClaim* claim : live) print_claim(*claim);
  return kEqual;
}

int verify(const std::string& data) {
  const auto audited = audit(data, {});
  if (!audited) return print_flaw(audited.error());
  fmt::print("the log is whole: {} events\n", audited->head.value);
  return kEqual;
}

int rebuild(const store::Log& log, const Options& options) {
  projections::Options where;
  where.dir = options.data;
  const auto rebuilt = [&] {
    cli::Progress progress("rebuilding", log.head().value, "events");
    return projections::rebuild_stopped(where, log, !options.keep,
                                        [&](Position p) { progress.show(p.value, p.value); });
  }();
  if (!rebuilt) return failed(kFailed, rebuilt.error().what);
  for (const std::string& difference : rebuilt->differences) {
    fmt::print("differs: {}\n", difference);
  }
  if (!rebuilt->differences.empty()) return kDifferent;
  fmt::print("{} events replayed: {}\n", rebuilt->position.value,
             rebuilt->not_compared ? "nothing to compare with, " + *rebuilt->not_compared
                                   : "no difference");
  return kEqual;
}

int run(const Options& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.data + "/ledger", error)) {
    return failed(kFailed, options.data + ": there is no ledger here");
  }
  const auto log =
      store::Log::open({.fs = {}, .dir = options.data, .read_only = true, .accept_loss_from = {}});
  if (!log) return failed(kDifferent, log.error().what);
  if (options.as_of) return print_state(**log, Position{*options.as_of});
  if (!options.statement.empty()) return make_statement(options.data, **log, options.statement);
  if (!options.check_statement.empty()) {
    return check_statement(options.data, **log, options.check_statement, options.public_key);
  }
  if (options.verify) {
    if (const int code = verify(options.data); code != kEqual) return code;
  }
  return rebuild(**log, options);
}

}  // namespace
}  // namespace holdfast::tools

int main(int argc, char** argv) {
  CLI::App app(
      "Rebuilds the projections of a stopped server from its log, compares them with the stored\n"
      "ones and puts them in their place. Exit 0: no difference; 1: a difference, or a log that\n"
      "is not whole; 2: it could not be done. With --statement and --check-statement the stored\n"
      "projections stay as they are.");
  app.set_version_flag("--version", "holdfast-replay " HOLDFAST_VERSION);
  holdfast::tools::Options options;
  app.add_option("--data", options.data, "the server's data folder")->required()->type_name("DIR");
  app.add_flag("--verify", options.verify, "check every event against the log's hashes first");
  app.add_flag("--compare-only", options.keep, "leave the stored projections as they are");
  auto* as_of =
      app.add_option("--state-as-of", options.as_of,
                     "print the live claims as of a position instead, one JSON object a line")
          ->type_name("POSITION");
  auto* statement =
      app.add_option("--statement", options.statement,
                     "verify the log instead, and write what it gives, signed with the ledger's "
                     "key: root, size, digest of each projection")
          ->type_name("FILE")
          ->excludes(as_of);
  auto* check =
      app.add_option("--check-statement", options.check_statement,
                     "do the same with this copy of the log, and compare with a statement "
                     "that somebody has made of his; exit 1 where they differ")
          ->type_name("FILE")
          ->excludes(as_of)
          ->excludes(statement);
  auto* public_key =
      app.add_option("--public-key", options.public_key,
                     "who must have signed the statement: the ledger's public key, as `holdfast "
                     "head` prints it, or a file with it, from whom you trust")
          ->type_name("KEY|FILE")
          ->needs(check);
  check->needs(public_key);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : holdfast::tools::kFailed;
  }
  return holdfast::tools::run(options);
}
