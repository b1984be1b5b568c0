#include "tools/cli/loading.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "ledger/proof/text_bytes.h"
#include "ledger/store/event_codec.h"
#include "ledger/store/log_load.h"
#include "tools/cli/terminal.h"
#include "tools/cli/verify_export.h"

namespace holdfast::cli {
namespace {

Exit print_loaded(const Options& options, const std::string& data, const store::LedgerId& id,
                  const store::Parent& parent, bool before) {
  if (options.json) {
    print_json(boost::json::object{{"data", data},
                                   {"ledger_id", proof::to_hex(id)},
                                   {"parent_id", proof::to_hex(parent.id)},
                                   {"count", parent.position.value},
                                   {"root", proof::to_hex(parent.root)},
                                   {"loaded_before", before}});
    return Exit::accepted;
  }
  print(fmt::format("{}: {} events{}, root {}\nledger {}, whose parent is {}\n", data,
                    parent.position.value, before ? ", loaded before" : "",
                    proof::to_hex(parent.root), proof::to_hex(id), proof::to_hex(parent.id)));
  return Exit::accepted;
}

}  // namespace

Exit load_parts(const Options& options, const std::string& data,
                const std::vector<ExportPart>& parts, const proof::VerifierKey& key,
                const store::Parent& parent) {
  const auto storage = [&](const store::StorageError& error) {
    return fail(options, "storage", error.what);
  };
  auto load = store::LogLoad::begin(rocksdb::FileSystem::Default(), data, parent);
  if (!load) return storage(load.error());
  if (load->done()) return print_loaded(options, data, *load->done(), parent, true);
  const auto take = [&](Position position,
                        std::string_view record) -> tl::expected<void, std::string> {
    if (position > parent.position) return {};
    const auto event = store::decode(record);
    if (!event) return tl::unexpected(event.error());
    auto added = load->add(record, event->recorded_at);
    if (!added) return tl::unexpected(added.error().what);
    return {};
  };
  for (const ExportPart& part : parts) {
    if (part.manifest.from > parent.position) break;
    const auto read = check_export(part.file, part.manifest, key, "loading  ", take);
    if (!read) return print_fault(options, part.file, read.error());
  }
  const auto id = load->finish();
  if (!id) return storage(id.error());
  return print_loaded(options, data, *id, parent, false);
}

}  // namespace holdfast::cli
