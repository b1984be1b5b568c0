#include "tools/cli/verify.h"

#include <capnp/message.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "api/convert_answer.h"
#include "api/text/json.h"
#include "ledger/access/access_audit.h"
#include "ledger/proof/bundle.h"
#include "ledger/proof/export_manifest.h"
#include "ledger/proof/log_audit.h"
#include "ledger/proof/text_bytes.h"
#include "tools/cli/answer_text.h"
#include "tools/cli/export_file.h"
#include "tools/cli/progress.h"
#include "tools/cli/public_key.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

namespace json = boost::json;

std::optional<std::string> whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return std::nullopt;
  return text.str();
}

// -- a bundle

json::array events_as_json(const std::vector<Event>& events) {
  json::array list;
  for (const Event& event : events) {
    capnp::MallocMessageBuilder message;
    auto wire = message.initRoot<wire::Event>();
    api::put(event, wire);
    list.push_back(api::to_json(wire.asReader()));
  }
  return list;
}

void print_events(const std::vector<Event>& events) {
  Table table = history_table();
  for (const Event& event : events) {
    capnp::MallocMessageBuilder message;
    auto wire = message.initRoot<wire::Event>();
    api::put(event, wire);
    add_row(table, wire.asReader());
  }
  table.flush();
}

Exit print_verified(const Options& options, const proof::Bundle& bundle,
                    const proof::Verified& verified) {
  const proof::Head& head = verified.head;
  if (options.json) {
    json::object answer{{"sound", true},
                        {"complete", verified.complete},
                        {"ledger_id", proof::to_hex(head.ledger)},
                        {"size", head.size},
                        {"root", proof::to_hex(head.root)},
                        {"events", events_as_json(verified.events)}};
    if (bundle.resource) answer["resource"] = *bundle.resource;
    print_json(answer);
    return Exit::accepted;
  }
  print_events(verified.events);
  print(fmt::format("sound: {} event{} of ledger {}, proved by its head of size {}\n",
                    verified.events.size(), verified.events.size() == 1 ? "" : "s",
                    proof::to_hex(head.ledger), head.size));
  if (verified.complete) {
    print(fmt::format("complete: nothing else happened to {} or above it up to position {}\n",
                      printable(*bundle.resource), head.size));
  } else {
    print("what else happened is not proved: `holdfast prove --resource PATH` does that\n");
  }
  return Exit::accepted;
}

// What stands beside a bundle is no manifest.
bool is_export(const std::string& file) {
  std::error_code error;
  return std::filesystem::exists(manifest_beside(file), error);
}

Exit verify_bundle(const Options& options, const VerifyOptions& what) {
  if (is_export(what.file)) {
    return fail(options, "usage",
                what.file + " is an export: holdfast verify-export checks it by its manifest");
  }
  if (what.public_key.empty()) {
    return fail(options, "usage",
                "a bundle is checked against the ledger's public key: --public-key KEY, from "
                "whom you trust (`holdfast head` of the ledger prints it)");
  }
  const auto key = read_public_key(what.public_key);
  if (!key) return fail(options, "public-key", key.error());
  const auto text = whole_file(what.file);
  if (!text) return fail(options, "file", what.file + " cannot be read");
  if (const auto manifest = proof::parse_manifest(*text)) {
    return fail(options, "usage",
                what.file +
                    " is the manifest of an export: holdfast verify-export FILE checks "
                    "both, FILE being " +
                    printable(manifest->file));
  }
  const auto bundle = proof::parse_bundle(*text);
  if (!bundle) return unsound(options, "malformed", {}, bundle.error());
  const auto verified = proof::verify(*bundle, *key);
  if (!verified) {
    const proof::Flaw& flaw = verified.error();
    return unsound(options, proof::name_of(flaw.kind), flaw.position, flaw.what);
  }
  return print_verified(options, *bundle, *verified);
}

// -- a folder

struct Published {
  std::vector<proof::Head> heads;
  std::size_t cut_off = 0;  // notes that a crash has left half written
};

// What is wrong with the file of heads ends the program.
tl::expected<Published, Exit> read_heads(const Options& options, const VerifyOptions& what) {
  Published published;
  if (what.heads.empty()) return published;
  const auto file = whole_file(what.heads);
  if (!file) return tl::unexpected(fail(options, "heads", what.heads + " cannot be read"));
  std::optional<proof::VerifierKey> key;
  if (!what.public_key.empty()) {
    const auto read = read_public_key(what.public_key);
    if (!read) return tl::unexpected(fail(options, "public-key", read.error()));
    key = *read;
  }
  for (const std::string_view note : proof::split_notes(*file)) {
    const auto stated = proof::read_unchecked_head(note);
    if (!stated) {
      ++published.cut_off;
      continue;
    }
    // The key is the ledger's under each id that it has had.
    if (key && !proof::read_signed_head(note, {stated->ledger, key->key})) {
      const std::string size = std::to_string(stated->size);
      return tl::unexpected(
          unsound(options, "other_key", {stated->size},
                  "the published head of size " + size + " is not signed by the given key"));
    }
    published.heads.push_back(*stated);
  }
  if (published.heads.empty()) {
    return tl::unexpected(fail(options, "heads", what.heads + " has no published head"));
  }
  return published;
}

// The key that the folder signs with has to be the one that is known outside.
std::optional<Exit> check_signing_key(const Options& options, const VerifyOptions& what) {
  const std::string path = what.data + "/signing-key";
  std::error_code error;
  if (what.public_key.empty() || !std::filesystem::exists(path, error)) return std::nullopt;
  const auto key = read_public_key(what.public_key);
  if (!key) return fail(options, "public-key", key.error());
  const auto own = proof::SigningKey::open(path);
  if (!own) return fail(options, "signing-key", own.error().what);
  if (own->public_key() == key->key) return std::nullopt;
  return unsound(options, "other_key", {}, "the ledger signs with another key than the given one");
}

// Nothing: the folder has none.
tl::expected<std::optional<proof::Audited>, proof::LogFlaw> audit_accesses(
    const std::string& data) {
  if (!access::has_access_log(data)) return std::nullopt;
  auto audited = access::audit_access_log(nullptr, data, [](Position, Position) {});
  if (!audited) return tl::unexpected(audited.error());
  return *audited;
}

Exit verify_folder(const Options& options, const VerifyOptions& what) {
  std::error_code error;
  if (!std::filesystem::is_directory(what.data + "/ledger", error)) {
    return fail(options, "data", what.data + ": there is no ledger here");
  }
  const auto published = read_heads(options, what);
  if (!published) return published.error();
  if (const auto wrong = check_signing_key(options, what)) return *wrong;
  const auto audited = [&] {
    std::optional<Progress> progress;
    return proof::audit_log({.dir = what.data, .published = published->heads},
                            [&](Position reached, Position of) {
                              if (!progress) progress.emplace("verifying", of.value, "events");
                              progress->show(reached.value, reached.value);
                            });
  }();
  if (!audited) {
    const proof::LogFlaw& flaw = audited.error();
    return unsound(options, proof::name_of(flaw.kind), flaw.first, flaw.what);
  }
  const auto accesses = audit_accesses(what.data);
  if (!accesses) {
    const proof::LogFlaw& flaw = accesses.error();
    return unsound(options, proof::name_of(flaw.kind), flaw.first, flaw.what);
  }
  if (options.json) {
    json::object answer{{"sound", true},
                        {"position", audited->head.value},
                        {"root", proof::to_hex(audited->root)},
                        {"published_heads", published->heads.size()}};
    if (*accesses) answer["access_position"] = (*accesses)->head.value;
    print_json(answer);
    return Exit::accepted;
  }
  print(fmt::format("sound: {} events, root {}\n", audited->head.value,
                    proof::to_hex(audited->root)));
  if (*accesses) print(fmt::format("access log: sound: {} records\n", (*accesses)->head.value));
  if (!published->heads.empty()) {
    print(fmt::format("as stated in {} published heads{}\n", published->heads.size(),
                      what.public_key.empty() ? ", whose signatures were not checked (--public-key)"
                                              : ", all signed by the given key"));
  }
  if (published->cut_off > 0) {
    print(fmt::format("{} not whole in {}: passed over\n", published->cut_off, what.heads));
  }
  return Exit::accepted;
}

}  // namespace

CLI::App* add_verify(CLI::App& app, VerifyOptions& options) {
  CLI::App* sub =
      app.add_subcommand("verify", "check a bundle, or every byte of a log against its hashes")
          ->group("Evidence")
          ->fallthrough();
  auto* file = sub->add_option("file", options.file, "a bundle that `holdfast prove` has made")
                   ->type_name("FILE");
  auto* data = sub->add_option("--data", options.data,
                               "instead: the folder of a ledger, its server running or not")
                   ->type_name("DIR");
  file->excludes(data);
  sub->add_option("--public-key", options.public_key,
                  "the ledger's public key, as `holdfast head` prints it, or a file with it")
      ->type_name("KEY|FILE");
  sub->add_option("--heads", options.heads,
                  "with --data: heads that holdfastd --publish-heads has written")
      ->type_name("FILE")
      ->needs(data);
  return sub;
}

Exit run_verify(const Options& options, const VerifyOptions& what) {
  if (!what.data.empty()) return verify_folder(options, what);
  if (!what.file.empty()) return verify_bundle(options, what);
  return fail(options, "usage", "verify what? A bundle's FILE, or --data DIR");
}

}  // namespace holdfast::cli
