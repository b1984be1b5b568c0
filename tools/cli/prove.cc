#include "tools/cli/prove.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "api/text/pages.h"
#include "ledger/proof/bundle.h"
#include "ledger/store/event_codec.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/proof_bytes.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kPositionsAtOnce = 1'000;

std::optional<std::uint64_t> position_in(const std::string& what) {
  std::uint64_t position = 0;
  const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), position);
  if (error != std::errc() || end != what.data() + what.size()) return std::nullopt;
  return position;
}

// Gathers a bundle, answer by answer. What ends the program is the error, and is printed.
class Prover {
 public:
  template <class T = void>
  using Got = tl::expected<T, Exit>;

  Prover(const Options& options, const ProveOptions& prove)
      : options_(options), prove_(prove), connection_(options) {}

  Got<> run();
  const proof::VerifierKey& key() const { return *key_; }
  const std::string& public_key() const { return public_key_; }
  const proof::Bundle& bundle() const { return bundle_; }
  const proof::Verified& verified() const { return verified_; }

 private:
  Got<api::Response> ask(api::Request request) {
    return cli::ask(options_, connection_, std::move(request));
  }
  tl::unexpected<Exit> not_proved(const std::string& why) {
    return tl::unexpected(
        fail(options_, "proof", "what the server answers is not proved by it: " + why));
  }

  Got<> state_head();
  Got<> state_plain_head();
  Got<> state_head_with_paths();
  Got<> take_note(capnp::Text::Reader note, capnp::Text::Reader public_key);
  Got<> take_chain(const std::string& path, Position last);
  Got<> take_positions(std::vector<Position> positions);
  Got<std::vector<Position>> positions_of_claim();
  Got<std::size_t> take_records(const api::Response& answer);

  const Options& options_;
  const ProveOptions& prove_;
  Connection connection_;
  proof::Bundle bundle_;
  std::string public_key_;
  std::optional<proof::VerifierKey> key_;
  std::uint64_t size_ = 0;
  std::map<Position, proof::ProvedRecord> records_;
  proof::Verified verified_;
};

Prover::Got<> Prover::run() {
  if (auto stated = state_head(); !stated) return stated;
  if (!prove_.resource.empty()) {
    bundle_.resource = prove_.resource;
    const auto head = proof::read_signed_head(bundle_.head, *key_);
    for (const proof::PathProof& path : bundle_.paths) {
      const auto last = head->paths ? proof::last_on_path(path, *head->paths) : std::nullopt;
      if (!last) return not_proved("the last position on " + path.path + " is not shown");
      if (auto taken = take_chain(path.path, *last); !taken) return taken;
    }
  } else if (const auto position = position_in(prove_.what)) {
    if (*position == 0 || *position > size_) {
      return tl::unexpected(
          fail(options_, "position", "the log has positions 1 to " + std::to_string(size_)));
    }
    if (auto taken = take_positions({{*position}}); !taken) return taken;
  } else {
    auto positions = positions_of_claim();
    if (!positions) return tl::unexpected(positions.error());
    if (auto taken = take_positions(std::move(*positions)); !taken) return taken;
  }
  for (auto& [position, record] : records_) bundle_.records.push_back(std::move(record));
  auto verified = proof::verify(bundle_, *key_);
  if (!verified) return not_proved(verified.error().what);
  verified_ = std::move(*verified);
  return {};
}

Prover::Got<> Prover::state_head() {
  return prove_.resource.empty() ? state_plain_head() : state_head_with_paths();
}

Prover::Got<> Prover::take_note(capnp::Text::Reader note, capnp::Text::Reader public_key) {
  bundle_.head = note.cStr();
  public_key_ = public_key.cStr();
  key_ = proof::parse_verifier_key(public_key_);
  if (!key_) return not_proved("its public key is none");
  const auto head = proof::read_signed_head(bundle_.head, *key_);
  if (!head) return not_proved("its head is not signed by its key");
  size_ = head->size;
  return {};
}

Prover::Got<> Prover::state_plain_head() {
  api::Request request;
  request.root().initQuery().initHead();
  const auto answer = ask(std::move(request));
  if (!answer) return tl::unexpected(answer.error());
  const auto head = answer->root().getHead();
  return take_note(head.getNote(), head.getPublicKey());
}

// Takes the server a pass over all paths that have events.
Prover::Got<> Prover::state_head_with_paths() {
  const auto asked = proof::paths_of(prove_.resource);
  api::Request request;
  auto paths =
      request.root().initProof().initPaths().initPaths(static_cast<unsigned>(asked.size()));
  for (unsigned i = 0; i < paths.size(); ++i) paths.set(i, asked[i]);
  const auto answer = ask(std::move(request));
  if (!answer) return tl::unexpected(answer.error());
  const auto stated = answer->root().getSignedHead();
  if (auto taken = take_note(stated.getNote(), stated.getPublicKey()); !taken) return taken;
  for (const auto path : stated.getPaths()) {
    proof::PathProof proof{path.getPath(), {}};
    for (const auto entry : path.getEntries()) {
      proof.entries.push_back(
          {entry.getPath(), {entry.getLast()}, entry.getIndex(), path_of(entry.getAudit())});
    }
    bundle_.paths.push_back(std::move(proof));
  }
  return {};
}

// From the newest event on the path back to the first; each names the one before it.
Prover::Got<> Prover::take_chain(const std::string& path, Position last) {
  for (Position next = last; next;) {
    api::Request request;
    auto chain = request.root().initProof().initChain();
    chain.setPath(path);
    chain.setLast(next.value);
    chain.setSize(size_);
    const auto answer = ask(std::move(request));
    if (!answer) return tl::unexpected(answer.error());
    const auto records = answer->root().getRecords();
    const auto taken = take_records(*answer);
    if (!taken) return tl::unexpected(taken.error());
    const auto oldest = store::decode(view(records[records.size() - 1].getBytes()));
    const auto before = oldest ? proof::previous_on(path, *oldest) : std::nullopt;
    if (!before || *before >= next) return not_proved("the chain of " + path + " is broken");
    next = *before;
  }
  return {};
}

Prover::Got<> Prover::take_positions(std::vector<Position> positions) {
  std::ranges::sort(positions);
  for (std::size_t done = 0; done < positions.size();) {
    const std::size_t count = std::min(kPositionsAtOnce, positions.size() - done);
    api::Request request;
    auto inclusion = request.root().initProof().initInclusion();
    inclusion.setSize(size_);
    auto list = inclusion.initPositions(static_cast<unsigned>(count));
    for (unsigned i = 0; i < count; ++i) list.set(i, positions[done + i].value);
    const auto answer = ask(std::move(request));
    if (!answer) return tl::unexpected(answer.error());
    const auto taken = take_records(*answer);
    if (!taken) return tl::unexpected(taken.error());
    done += *taken;
  }
  return {};
}

Prover::Got<std::size_t> Prover::take_records(const api::Response& answer) {
  const auto records = answer.root().getRecords();
  if (!answer.root().isRecords() || records.size() == 0) {
    return not_proved("the events are not there");
  }
  for (const auto record : records) {
    const Position position{record.getPosition()};
    records_[position] = {position, std::string(view(record.getBytes())),
                          path_of(record.getAudit())};
  }
  return records.size();
}

Prover::Got<std::vector<Position>> Prover::positions_of_claim() {
  std::vector<Position> positions;
  std::string cursor;
  do {
    api::Request request;
    auto history = request.root().initQuery().initHistory();
    history.setKey(prove_.what);
    history.initAsOf().setPosition(static_cast<std::int64_t>(size_));
    if (!cursor.empty()) history.setCursor(cursor);
    const auto answer = ask(std::move(request));
    if (!answer) return tl::unexpected(answer.error());
    for (const auto event : answer->root().getHistory().getEvents()) {
      positions.push_back({event.getPosition()});
    }
    const auto page = api::page_of(answer->root());
    cursor = page ? page->cursor : "";
  } while (!cursor.empty());
  if (!positions.empty()) return positions;
  return tl::unexpected(fail(options_, "key", "no event is of a claim '" + prove_.what + "'"));
}

Exit write_bundle(const Options& options, const ProveOptions& prove, const Prover& prover) {
  const std::string json = proof::to_json(prover.bundle());
  if (prove.out.empty()) {
    print(json);
    return Exit::accepted;
  }
  std::ofstream file(prove.out, std::ios::binary | std::ios::trunc);
  file << json;
  file.close();
  if (!file) return fail(options, "file", prove.out + " cannot be written");
  const std::size_t events = prover.verified().events.size();
  if (options.json) {
    print_json(boost::json::object{{"file", prove.out},
                                   {"events", events},
                                   {"complete", prover.verified().complete},
                                   {"size", prover.verified().head.size},
                                   {"public_key", prover.public_key()}});
  } else {
    print(
        fmt::format("{}: {} event{}, proved by the head of size {}\npublic key: {}\n"
                    "anyone can check it: holdfast verify {} --public-key KEY\n",
                    prove.out, events, events == 1 ? "" : "s", prover.verified().head.size,
                    prover.public_key(), prove.out));
  }
  return Exit::accepted;
}

}  // namespace

CLI::App* add_prove(CLI::App& app, ProveOptions& options) {
  CLI::App* sub = app.add_subcommand("prove", "write a bundle that proves events to a sceptic")
                      ->group("Evidence")
                      ->fallthrough();
  auto* what = sub->add_option("what", options.what, "a claim's key, or a position")
                   ->type_name("KEY|POSITION");
  auto* resource = sub->add_option("--resource", options.resource,
                                   "instead: all that ever happened to this path and above it")
                       ->type_name("PATH");
  what->excludes(resource);
  sub->add_option("--out", options.out, "the bundle's file (default: standard output)")
      ->type_name("FILE");
  return sub;
}

Exit run_prove(const Options& options, const ProveOptions& prove) {
  if (prove.what.empty() && prove.resource.empty()) {
    return fail(options, "usage", "prove what? A claim's KEY, a POSITION, or --resource PATH");
  }
  Prover prover(options, prove);
  if (const auto done = prover.run(); !done) return done.error();
  return write_bundle(options, prove, prover);
}

}  // namespace holdfast::cli
