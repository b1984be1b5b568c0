#include "tools/cli/backup.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <filesystem>

#include "ledger/proof/text_bytes.h"
#include "tools/cli/backup_folder.h"
#include "tools/cli/exporter.h"
#include "tools/cli/public_key.h"
#include "tools/cli/terminal.h"
#include "tools/cli/verify_export.h"

namespace holdfast::cli {
namespace {

using Known = std::optional<BackupFolder>;

// Whose signature the server's head must have: the folder's ledger's, once there is one.
tl::expected<std::optional<proof::VerifierKey>, Exit> key_for(const Options& options,
                                                              const BackupOptions& what,
                                                              const Known& known) {
  std::optional<proof::VerifierKey> key;
  if (!what.public_key.empty()) {
    const auto read = read_public_key(what.public_key);
    if (!read) return tl::unexpected(fail(options, "public-key", read.error()));
    key = *read;
  }
  if (!known) return key;
  if (key && proof::to_text(*key) != proof::to_text(known->key)) {
    return tl::unexpected(fail(options, "public-key",
                               what.dir + " is the backup of a ledger with another public key"));
  }
  return known->key;
}

tl::expected<void, std::string> write_key(const std::string& dir, const std::string& key) {
  auto file = AsideFile::create(backup_key_file(dir));
  if (!file) return tl::unexpected(file.error());
  auto done = file->write(key + "\n");
  if (done) done = file->finish();
  if (done) done = file->publish();
  return done;
}

tl::expected<void, Exit> make_folder(const Options& options, const std::string& dir,
                                     const std::string& key) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    return tl::unexpected(fail(options, "file", dir + " cannot be made: " + error.message()));
  }
  if (auto written = write_key(dir, key); !written) {
    return tl::unexpected(fail(options, "file", written.error()));
  }
  return {};
}

// A log that is not what was backed up of it is found here.
tl::expected<void, Exit> check_grown(const Options& options, const BackupFolder& known,
                                     const proof::Head& head) {
  const std::uint64_t size = known.until().value;
  if (head.size < size) {
    return tl::unexpected(unsound(options, "shortened", {head.size + 1},
                                  fmt::format("the server's log ends at position {}, but {} were "
                                              "backed up",
                                              head.size, size)));
  }
  if (head.size == size && head.root != known.root()) {
    return tl::unexpected(unsound(
        options, "forked", {1},
        fmt::format("the server's log of {} events is another one than was backed up", size)));
  }
  return {};
}

Exit print_backed_up(const Options& options, const std::string& dir, std::uint64_t before,
                     const proof::Head& head) {
  if (options.json) {
    print_json(boost::json::object{{"dir", dir},
                                   {"added", head.size - before},
                                   {"until", head.size},
                                   {"root", proof::to_hex(head.root)},
                                   {"ledger_id", proof::to_hex(head.ledger)}});
    return Exit::accepted;
  }
  print(fmt::format("{}: {} events added, {} in all, root {}\n", dir, head.size - before, head.size,
                    proof::to_hex(head.root)));
  return Exit::accepted;
}

}  // namespace

CLI::App* add_backup(CLI::App& app, BackupOptions& options) {
  CLI::App* sub = app.add_subcommand("backup", "add to a folder what is new in the log, proved")
                      ->group("Operators")
                      ->fallthrough();
  sub->add_option("dir", options.dir, "the folder: empty, not there yet, or of earlier backups")
      ->required()
      ->type_name("DIR");
  sub->add_option("--public-key", options.public_key,
                  "who must have signed the log's head (default: whoever the first backup into the "
                  "folder found)")
      ->type_name("KEY|FILE");
  return sub;
}

Exit run_backup(const Options& options, const BackupOptions& what) {
  const auto known = read_backup(what.dir);
  if (!known) return print_fault(options, known.error().file, known.error().fault);
  const auto key = key_for(options, what, *known);
  if (!key) return key.error();
  Exporter exporter(options, proof::ExportFormat::bytes);
  const auto head = exporter.take_head(*key);
  if (!head) return head.error();
  const std::uint64_t before = *known ? (*known)->until().value : 0;
  Exporter::Range range{{before + 1}, {head->size}};
  if (*known) {
    if (auto grown = check_grown(options, **known, *head); !grown) return grown.error();
    range.root_before = (*known)->root();
  } else if (auto made = make_folder(options, what.dir,
                                     *key ? proof::to_text(**key) : exporter.public_key());
             !made) {
    return made.error();
  }
  if (head->size > before) {
    const std::string file = backup_part_file(what.dir, range.from);
    const auto written = exporter.write(range, {}, file, manifest_beside(file));
    if (!written) return written.error();
  }
  return print_backed_up(options, what.dir, before, *head);
}

}  // namespace holdfast::cli
