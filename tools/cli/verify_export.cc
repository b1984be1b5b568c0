#include "tools/cli/verify_export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "ledger/proof/text_bytes.h"
#include "tools/cli/public_key.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

namespace json = boost::json;

Exit print_sound(const Options& options, const std::string& file,
                 const proof::ExportManifest& manifest, const proof::Head& head) {
  const bool proved = manifest.filter.empty();
  if (options.json) {
    print_json(json::object{{"sound", true},
                            {"proved", proved},
                            {"ledger_id", proof::to_hex(head.ledger)},
                            {"from", manifest.from.value},
                            {"until", manifest.until.value},
                            {"count", manifest.count},
                            {"size", head.size},
                            {"root", proof::to_hex(manifest.root)}});
    return Exit::accepted;
  }
  const std::string events =
      fmt::format("{} event{}", manifest.count, manifest.count == 1 ? "" : "s");
  if (proved) {
    print(fmt::format(
        "sound: {}, all of positions {} to {} of ledger {}, proved by its head of "
        "size {}\n",
        events, manifest.from.value, manifest.until.value, proof::to_hex(head.ledger), head.size));
  } else {
    print(
        fmt::format("whole: {}, the file that {}'s manifest is of\nnot proved: a filtered export "
                    "does not show that its events are the log's; `holdfast prove` does that\n",
                    events, printable(file)));
  }
  return Exit::accepted;
}

}  // namespace

Exit print_fault(const Options& options, const std::string& file, const ExportFault& fault) {
  if (const auto* what = std::get_if<std::string>(&fault)) {
    return fail(options, "file", file + ": " + *what);
  }
  const auto& flaw = std::get<proof::Flaw>(fault);
  return unsound(options, proof::name_of(flaw.kind), flaw.position, flaw.what);
}

void add_export_options(CLI::App& sub, VerifyExportOptions& options) {
  sub.add_option("file", options.file, "what `holdfast export` has written")
      ->required()
      ->type_name("FILE");
  sub.add_option("--public-key", options.public_key,
                 "the ledger's public key, as `holdfast head` prints it, or a file with it: from "
                 "whom you trust")
      ->required()
      ->type_name("KEY|FILE");
  sub.add_option("--manifest", options.manifest, "its manifest (default: FILE.manifest.json)")
      ->type_name("FILE");
}

CLI::App* add_verify_export(CLI::App& app, VerifyExportOptions& options) {
  CLI::App* sub =
      app.add_subcommand("verify-export", "check a file of `holdfast export`, without a server")
          ->group("Evidence")
          ->fallthrough();
  add_export_options(*sub, options);
  return sub;
}

Exit run_verify_export(const Options& options, const VerifyExportOptions& what) {
  const auto key = read_public_key(what.public_key);
  if (!key) return fail(options, "public-key", key.error());
  const auto manifest = read_manifest(what.file, what.manifest);
  if (!manifest) return print_fault(options, what.file, manifest.error());
  const auto head =
      check_export(what.file, *manifest, *key, "verifying",
                   [](Position, std::string_view) { return tl::expected<void, std::string>(); });
  if (!head) return print_fault(options, what.file, head.error());
  return print_sound(options, what.file, *manifest, *head);
}

}  // namespace holdfast::cli
