#include "tools/cli/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "ledger/proof/text_bytes.h"
#include "tools/cli/export_file.h"
#include "tools/cli/exporter.h"
#include "tools/cli/public_key.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

using proof::ExportFormat;

tl::expected<Exporter::Range, Exit> range_of(const Options& options, const ExportOptions& what,
                                             const proof::Head& head) {
  const Exporter::Range range{{what.from}, {what.until.value_or(head.size)}};
  const bool empty = head.size == 0 && what.from == 1 && !what.until;
  if (empty || (what.from > 0 && range.from <= range.until && range.until.value <= head.size)) {
    return range;
  }
  return tl::unexpected(fail(options, "position",
                             head.size == 0
                                 ? "the log is empty"
                                 : fmt::format("the log has positions 1 to {}", head.size)));
}

void print_done(const Options& options, const std::string& out, const Exporter& exporter,
                const proof::Head& head) {
  const proof::ExportManifest& manifest = exporter.manifest();
  if (options.json) {
    print_json(boost::json::object{{"file", out},
                                   {"count", manifest.count},
                                   {"from", manifest.from.value},
                                   {"until", manifest.until.value},
                                   {"bytes", manifest.bytes},
                                   {"sha256", proof::to_hex(manifest.sha256)},
                                   {"root", proof::to_hex(manifest.root)},
                                   {"public_key", exporter.public_key()}});
    return;
  }
  print(
      fmt::format("{}: {} event{} of positions {} to {}, as the signed head of size {} states\n"
                  "public key: {}\n"
                  "anyone can check it: holdfast verify-export {} --public-key KEY\n",
                  out, manifest.count, manifest.count == 1 ? "" : "s", manifest.from.value,
                  manifest.until.value, head.size, exporter.public_key(), out));
}

void add_filter(CLI::App& sub, EventFilter& filter) {
  const auto add = [&](const char* option, std::string& into, const char* about) {
    sub.add_option(option, into, about)->type_name("TEXT");
  };
  add("--resource", filter.resource, "only events on this path and below");
  add("--key", filter.key, "only events of one claim");
  add("--holder", filter.holder, "only events of claims of this holder");
  add("--actor", filter.actor, "only events written by this actor");
  add("--type", filter.type, "only events of this type: held, committed, closed ...");
  add("--correlation", filter.correlation, "only events that carry this correlation id");
}

}  // namespace

CLI::App* add_export(CLI::App& app, ExportOptions& options) {
  CLI::App* sub = app.add_subcommand("export", "write the events of the log to a file, proved")
                      ->group("Evidence")
                      ->fallthrough();
  sub->add_option("--out", options.out,
                  "the file; - for standard output. It appears when it is whole")
      ->required()
      ->type_name("FILE");
  auto* format = sub->add_option("--format", options.format, "jsonl, or csv")
                     ->check(CLI::IsMember({"jsonl", "csv"}))
                     ->type_name("FORMAT")
                     ->capture_default_str();
  sub->add_flag("--bytes", options.bytes, "instead: the stored bytes, which `holdfast load` reads")
      ->excludes(format);
  sub->add_option("--from", options.from, "first position")
      ->type_name("POSITION")
      ->capture_default_str();
  sub->add_option("--until", options.until, "last position (default: what the log has now)")
      ->type_name("POSITION");
  add_filter(*sub, options.filter);
  sub->add_option("--manifest", options.manifest,
                  "its manifest (default: FILE.manifest.json; of standard output none)")
      ->type_name("FILE");
  sub->add_option("--public-key", options.public_key,
                  "who must have signed the head (default: whoever the server says it is)")
      ->type_name("KEY|FILE");
  return sub;
}

Exit run_export(const Options& options, const ExportOptions& what) {
  if (what.bytes && !what.filter.given().empty()) {
    return fail(options, "usage", "an export of the stored bytes has every event of its range");
  }
  std::optional<proof::VerifierKey> key;
  if (!what.public_key.empty()) {
    const auto read = read_public_key(what.public_key);
    if (!read) return fail(options, "public-key", read.error());
    key = *read;
  }
  Exporter exporter(options,
                    what.bytes ? ExportFormat::bytes : proof::export_format(what.format).value());
  const auto head = exporter.take_head(key);
  if (!head) return head.error();
  const auto range = range_of(options, what, *head);
  if (!range) return range.error();
  const bool to_stdout = what.out == "-";
  const std::string beside = to_stdout ? "" : manifest_beside(what.out);
  const auto done =
      exporter.write(*range, what.filter, what.out, what.manifest.empty() ? beside : what.manifest);
  if (!done) return done.error();
  if (!to_stdout) print_done(options, what.out, exporter, *head);
  return Exit::accepted;
}

}  // namespace holdfast::cli
