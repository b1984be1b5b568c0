#include "tools/cli/load.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "ledger/proof/text_bytes.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/log_load.h"
#include "tools/cli/public_key.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

Exit print_loaded(const Options& options, const LoadOptions& what, const store::LedgerId& id,
                  const store::Parent& parent, bool before) {
  if (options.json) {
    print_json(boost::json::object{{"data", what.data},
                                   {"ledger_id", proof::to_hex(id)},
                                   {"parent_id", proof::to_hex(parent.id)},
                                   {"count", parent.position.value},
                                   {"root", proof::to_hex(parent.root)},
                                   {"loaded_before", before}});
    return Exit::accepted;
  }
  print(fmt::format("{}: {} events{}, root {}\nledger {}, whose parent is {}\n", what.data,
                    parent.position.value, before ? ", loaded before" : "",
                    proof::to_hex(parent.root), proof::to_hex(id), proof::to_hex(parent.id)));
  return Exit::accepted;
}

// Reads the file a second time, and holds it against its manifest again.
Exit load(const Options& options, const LoadOptions& what, const proof::ExportManifest& manifest,
          const proof::VerifierKey& key) {
  const store::Parent parent{key.ledger, manifest.until, manifest.root};
  const auto storage = [&](const store::StorageError& error) {
    return fail(options, "storage", error.what);
  };
  auto load = store::LogLoad::begin(rocksdb::FileSystem::Default(), what.data, parent);
  if (!load) return storage(load.error());
  if (load->done()) return print_loaded(options, what, *load->done(), parent, true);
  const auto take = [&](Position, std::string_view record) -> tl::expected<void, std::string> {
    const auto event = store::decode(record);
    if (!event) return tl::unexpected(event.error());
    auto added = load->add(record, event->recorded_at);
    if (!added) return tl::unexpected(added.error().what);
    return {};
  };
  const auto read = check_export(what.from.file, manifest, key, "loading  ", take);
  if (!read) return print_fault(options, what.from.file, read.error());
  const auto id = load->finish();
  if (!id) return storage(id.error());
  return print_loaded(options, what, *id, parent, false);
}

}  // namespace

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
  return load(options, what, *manifest, *key);
}

}  // namespace holdfast::cli
