#include "tools/cli/load.h"

#include <CLI/CLI.hpp>

#include "tools/cli/loading.h"
#include "tools/cli/public_key.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
CLI::App* add_load(CLI::App& app, LoadOptions& options) {
  CLI::App* sub = app.add_subcommand("load", "make a ledger of an export --bytes, offline")
                      ->group("Evidence")
                      ->fallthrough();
  add_export_options(*sub, options.from);
  sub->add_option("--data", options.data,
                  "the folder of a stopped server, empty or not there yet; the ledger gets an id "
                  "of its own, which names the exported one as its parent")
      ->required()
      ->type_name("DIR");
  return sub;
}

Exit run_load(const Options& options, const LoadOptions& what) {
  const auto key = read_public_key(what.from.public_key);
  if (!key) return fail(options, "public-key", key.error());
  const auto manifest = read_manifest(what.from.file, what.from.manifest);
  if (!manifest) return print_fault(options, what.from.file, manifest.error());
  if (manifest->format != proof::ExportFormat::bytes || manifest->from.value != 1 ||
      !manifest->until) {
    return fail(options, "usage",
                "what is loaded is the stored bytes of a log from its beginning: holdfast export "
                "--bytes");
  }
  const auto head =
      check_export(what.from.file, *manifest, *key, "verifying",
                   [](Position, std::string_view) { return tl::expected<void, std::string>(); });
  if (!head) return print_fault(options, what.from.file, head.error());
  return load_parts(options, what.data, {{what.from.file, *manifest}}, *key,
                    {key->ledger, manifest->until, manifest->root});
}

}  // namespace holdfast::cli
