#include "tools/replay_statement.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "ledger/proof/replay_statement.h"
#include "ledger/proof/signing_key.h"
#include "ledger/proof/text_bytes.h"
#include "projections/projections.h"
#include "projections/rows.h"
#include "tools/cli/aside_file.h"
#include "tools/cli/progress.h"
#include "tools/cli/public_key.h"

namespace holdfast::tools {
namespace {

// What the first `size` events come to, replayed here.
tl::expected<proof::ReplayStatement, store::StorageError> replay(const std::string& data,
                                                                 const store::Log& log,
                                                                 const store::LedgerId& ledger,
                                                                 Position size,
                                                                 const Digest& root) {
  projections::Options where;
  where.dir = data;
  cli::Progress progress("replaying", size.value, "events");
  auto digests = projections::digest_stopped(
      where, log, size, [&](Position at) { progress.show(at.value, at.value); });
  progress.hide();
  if (!digests) return tl::unexpected(digests.error());
  return proof::ReplayStatement{.ledger = ledger,
                                .size = size.value,
                                .root = root,
                                .program = "holdfast-replay " HOLDFAST_VERSION,
                                .row_format = projections::kRowFormat,
                                .projections = std::move(*digests)};
}

void print_rows(const proof::ReplayStatement& statement) {
  for (const proof::RowsDigest& rows : statement.projections) {
    fmt::print("{}: {} rows, {}\n", rows.name, rows.rows, proof::to_base64(rows.digest));
  }
}

std::string why(proof::NoteFault fault) {
  switch (fault) {
    case proof::NoteFault::malformed:
      return "malformed: it is no statement";
    case proof::NoteFault::other_ledger:
      return "other_ledger: it is of another ledger than the public key";
    case proof::NoteFault::other_key:
      return "other_key: it is signed by another key";
    case proof::NoteFault::bad_signature:
      break;
  }
  return "bad_signature: the signature is not of its text";
}

}  // namespace

int failed(int code, const std::string& what) {
  fmt::print(stderr, "holdfast-replay: {}\n", what);
  return code;
}

int print_flaw(const proof::LogFlaw& flaw) {
  return failed(kDifferent, std::string(proof::name_of(flaw.kind)) + ": " + flaw.what);
}

tl::expected<proof::Audited, proof::LogFlaw> audit(const std::string& data,
                                                   std::span<const proof::Head> stated) {
  std::optional<cli::Progress> progress;
  return proof::audit_log({.dir = data, .published = stated}, [&](Position at, Position of) {
    if (!progress) progress.emplace("verifying", of.value, "events");
    progress->show(at.value, at.value);
  });
}

int make_statement(const std::string& data, const store::Log& log, const std::string& file) {
  const std::string key_file = data + "/signing-key";
  std::error_code error;
  if (!std::filesystem::exists(key_file, error)) {
    return failed(kFailed,
                  data + " has no signing-key: the ledger's server makes it when it starts");
  }
  const auto key = proof::SigningKey::open(key_file);
  if (!key) return failed(kFailed, key.error().what);
  const auto audited = audit(data, {});
  if (!audited) return print_flaw(audited.error());
  const auto statement = replay(data, log, log.id(), audited->head, audited->root);
  if (!statement) return failed(kFailed, statement.error().what);
  auto out = cli::AsideFile::create(file);
  if (!out) return failed(kFailed, out.error());
  auto written = out->write(proof::sign_statement(*statement, *key));
  if (written) written = out->finish();
  if (written) written = out->publish();
  if (!written) return failed(kFailed, written.error());
  if (out->is_stdout()) return kEqual;
  print_rows(*statement);
  fmt::print("{}: stated of {} events, root {}\npublic key: {}\n", file, statement->size,
             proof::to_hex(statement->root), proof::to_text({log.id(), key->public_key()}));
  return kEqual;
}

int check_statement(const std::string& data, const store::Log& log, const std::string& file,
                    const std::string& public_key) {
  const auto key = cli::read_public_key(public_key);
  if (!key) return failed(kFailed, key.error());
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return failed(kFailed, file + " cannot be read");
  const auto stated = proof::read_signed_statement(text.str(), *key);
  if (!stated) return failed(kDifferent, file + ": " + why(stated.error()));
  const proof::Head head{stated->ledger, stated->size, stated->root, {}};
  const auto audited = audit(data, {&head, 1});
  if (!audited) return print_flaw(audited.error());
  const auto here = replay(data, log, stated->ledger, {stated->size}, stated->root);
  if (!here) return failed(kFailed, here.error().what);
  const auto found = proof::differences(*stated, *here);
  for (const std::string& difference : found) fmt::print("differs: {}\n", difference);
  if (!found.empty()) return kDifferent;
  print_rows(*here);
  fmt::print("as stated by {}: {} events, root {}\n", stated->program, stated->size,
             proof::to_hex(stated->root));
  return kEqual;
}

}  // namespace holdfast::tools
