#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "api/text/time_text.h"
#include "ledger/proof/text_bytes.h"
#include "ledger/proof/text_fields.h"
#include "ledger/store/event_codec.h"
#include "tools/cli/backup.h"
#include "tools/cli/backup_folder.h"
#include "tools/cli/loading.h"
#include "tools/cli/public_key.h"
#include "tools/cli/terminal.h"
#include "tools/cli/verify_export.h"

namespace holdfast::cli {
namespace {

// Up to where, as it was asked for: one of the two, or neither for all of it.
struct Asked {
  std::optional<Position> position;
  std::optional<Instant> instant;
};

tl::expected<Asked, std::string> read_asked(const std::string& text) {
  if (text.empty()) return Asked{};
  if (text.front() == '@') {
    Position position;
    const bool read = proof::read_number(std::string_view(text).substr(1), position.value);
    if (read && position) return Asked{.position = position, .instant = {}};
    return tl::unexpected("'" + text + "' is no position");
  }
  const auto instant = api::parse_instant(text);
  if (!instant) return tl::unexpected(instant.error());
  return Asked{.position = {}, .instant = *instant};
}

// Finds where the restored ledger ends, as the events of the backup go by in order.
class EndFinder {
 public:
  explicit EndFinder(const Asked& asked) : asked_(asked) {}

  tl::expected<void, std::string> pass(std::string_view record) {
    if (over_) return {};
    const auto event = store::decode(record);
    if (!event) return tl::unexpected(event.error());
    over_ = (asked_.position && event->position > *asked_.position) ||
            (asked_.instant && event->recorded_at > *asked_.instant);
    if (over_) return {};
    tree_.append(record);
    recorded_at_ = event->recorded_at;
    transaction_ = event->transaction;
    transaction_end_ = event->transaction + (event->transaction_count - 1);
    return {};
  }

  Position end() const { return Position{tree_.size()}; }
  Digest root() const { return tree_.root(); }
  Instant recorded_at() const { return recorded_at_; }
  // Why a ledger cannot end there.
  std::optional<std::string> why_not() const {
    if (!end()) return "nothing was recorded by then";
    if (asked_.position && *asked_.position > end()) {
      return fmt::format("the backup has positions 1 to {}", end().value);
    }
    if (transaction_end_ == end()) return std::nullopt;
    return fmt::format(
        "position {} lies within a transaction of positions {} to {}: restore to @{} "
        "or @{}",
        end().value, transaction_.value, transaction_end_.value, transaction_.value - 1,
        transaction_end_.value);
  }

 private:
  const Asked asked_;
  bool over_ = false;
  store::MerkleFrontier tree_;
  Instant recorded_at_;
  Position transaction_;
  Position transaction_end_;
};

Exit print_restorable(const Options& options, const BackupFolder& backup, const EndFinder& end) {
  if (options.json) {
    print_json(boost::json::object{{"sound", true},
                                   {"ledger_id", proof::to_hex(backup.key.ledger)},
                                   {"until", backup.until().value},
                                   {"count", end.end().value},
                                   {"root", proof::to_hex(end.root())},
                                   {"recorded_at", api::to_text(end.recorded_at())}});
    return Exit::accepted;
  }
  print(
      fmt::format("sound: {} events of ledger {}\nwould be restored: positions 1 to {}, the last "
                  "recorded at {}, root {}\n",
                  backup.until().value, proof::to_hex(backup.key.ledger), end.end().value,
                  api::to_text(end.recorded_at()), proof::to_hex(end.root())));
  return Exit::accepted;
}

}  // namespace

CLI::App* add_restore(CLI::App& app, RestoreOptions& options) {
  CLI::App* sub = app.add_subcommand("restore", "make a ledger of a backup, offline")
                      ->group("Operators")
                      ->fallthrough();
  sub->add_option("backup", options.backup, "the folder that `holdfast backup` has filled")
      ->required()
      ->type_name("DIR");
  sub->add_option("--data", options.data,
                  "the folder of a stopped server, empty or not there yet; the ledger "
                  "gets an id of its own, which names the one backed up as its parent")
      ->type_name("DIR");
  sub->add_option("--to", options.to,
                  "only what was recorded by an instant (RFC 3339), or up to @POSITION")
      ->type_name("INSTANT|@POSITION");
  sub->add_option("--public-key", options.public_key,
                  "the ledger's public key, from whom you trust (default: the backup's own)")
      ->type_name("KEY|FILE");
  sub->add_flag("--dry-run", options.dry_run,
                "instead: check the backup and say what would be restored");
  return sub;
}

Exit run_restore(const Options& options, const RestoreOptions& what) {
  if (what.data.empty() != what.dry_run) {
    return fail(options, "usage", "either --data DIR, or --dry-run to check the backup");
  }
  const auto asked = read_asked(what.to);
  if (!asked) return fail(options, "usage", asked.error());
  const auto backup = read_backup(what.backup);
  if (!backup) return print_fault(options, backup.error().file, backup.error().fault);
  if (!*backup) return fail(options, "file", what.backup + " has no backup");
  if (!what.public_key.empty()) {
    const auto key = read_public_key(what.public_key);
    if (!key) return fail(options, "public-key", key.error());
    if (proof::to_text(*key) != proof::to_text((*backup)->key)) {
      return unsound(options, "other_key", {}, "the backup is signed by another key");
    }
  }
  EndFinder end(*asked);
  const auto checked = check_backup(
      **backup, "verifying", [&](Position, std::string_view record) { return end.pass(record); });
  if (!checked) return print_fault(options, checked.error().file, checked.error().fault);
  if (const auto why = end.why_not()) return fail(options, "position", *why);
  if (what.dry_run) return print_restorable(options, **backup, end);
  return load_parts(options, what.data, (*backup)->parts, (*backup)->key,
                    {(*backup)->key.ledger, end.end(), end.root()});
}

}  // namespace holdfast::cli
