#include "tools/cli/backup_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tools/cli/public_key.h"

namespace holdfast::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestEnd = ".bytes.manifest.json";

tl::unexpected<BackupFault> fault(std::string file, std::string why) {
  return tl::unexpected(BackupFault{std::move(file), std::move(why)});
}

// The files whose manifests are there: the others were never finished.
tl::expected<std::vector<std::string>, BackupFault> finished_files(const std::string& dir) {
  std::vector<std::string> files;
  std::error_code error;
  if (!fs::exists(dir, error)) return files;
  for (fs::directory_iterator at(dir, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (path.ends_with(kManifestEnd)) {
      files.push_back(path.substr(0, path.size() - manifest_beside("").size()));
    }
  }
  if (error) return fault(dir, "it cannot be listed: " + error.message());
  return files;
}

tl::expected<ExportPart, BackupFault> read_part(const std::string& file,
                                                const proof::VerifierKey& key) {
  auto manifest = read_manifest(file, "");
  if (!manifest) return tl::unexpected(BackupFault{file, manifest.error()});
  if (manifest->format != proof::ExportFormat::bytes) {
    return fault(file, "it is no part of a backup, but an export of another form");
  }
  if (const auto head = proof::check_manifest(*manifest, key); !head) {
    return tl::unexpected(BackupFault{file, head.error()});
  }
  return ExportPart{file, std::move(*manifest)};
}

// That each goes on where the one before ends.
tl::expected<void, BackupFault> check_order(const std::vector<ExportPart>& parts) {
  Position from{1};
  Digest root = store::MerkleFrontier{}.root();
  for (const ExportPart& part : parts) {
    if (part.manifest.from != from) {
      return fault(part.file, fmt::format("it begins at position {}, but the files before it end "
                                          "at {}",
                                          part.manifest.from.value, from.value - 1));
    }
    const auto before = proof::tree_before(part.manifest);
    if (!before || before->root() != root) {
      return fault(part.file, "it does not follow from the files before it");
    }
    from = part.manifest.until + 1;
    root = part.manifest.root;
  }
  return {};
}

}  // namespace

std::string backup_key_file(const std::string& dir) { return dir + "/public-key"; }

std::string backup_part_file(const std::string& dir, Position from) {
  return fmt::format("{}/events-{:012}.bytes", dir, from.value);
}

tl::expected<std::optional<BackupFolder>, BackupFault> read_backup(const std::string& dir) {
  const auto files = finished_files(dir);
  if (!files) return tl::unexpected(files.error());
  if (files->empty()) return std::nullopt;
  const auto key = read_public_key(backup_key_file(dir));
  if (!key) return fault(backup_key_file(dir), key.error());
  BackupFolder backup{*key, {}};
  for (const std::string& file : *files) {
    auto part = read_part(file, *key);
    if (!part) return tl::unexpected(part.error());
    backup.parts.push_back(std::move(*part));
  }
  std::ranges::sort(backup.parts, {}, [](const ExportPart& part) { return part.manifest.from; });
  if (auto ordered = check_order(backup.parts); !ordered) return tl::unexpected(ordered.error());
  return backup;
}

tl::expected<void, BackupFault> check_backup(const BackupFolder& backup, const std::string& doing,
                                             const TakeRecord& take) {
  for (const ExportPart& part : backup.parts) {
    const auto head = check_export(part.file, part.manifest, backup.key, doing, take);
    if (!head) return tl::unexpected(BackupFault{part.file, head.error()});
  }
  return {};
}

}  // namespace holdfast::cli
