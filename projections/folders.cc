#include "projections/folders.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace holdfast::projections {
namespace {

using rocksdb::IOOptions;
using rocksdb::IOStatus;
using store::StorageError;

constexpr std::string_view kCurrent = "/CURRENT";
constexpr std::string_view kNewCurrent = "/CURRENT.new";

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// rocksdb::WriteStringToFile is not among the installed headers.
IOStatus write_file(rocksdb::FileSystem& fs, const std::string& name, const std::string& text) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  IOStatus status = fs.NewWritableFile(name, rocksdb::FileOptions(), &file, nullptr);
  if (status.ok()) status = file->Append(text, IOOptions(), nullptr);
  if (status.ok()) status = file->Sync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  return status;
}

IOStatus read_file(rocksdb::FileSystem& fs, const std::string& name, std::string& text) {
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  IOStatus status = fs.NewSequentialFile(name, rocksdb::FileOptions(), &file, nullptr);
  if (!status.ok()) return status;
  char scratch[64];
  rocksdb::Slice found;
  status = file->Read(sizeof scratch, IOOptions(), &found, scratch, nullptr);
  text.assign(found.data(), found.size());
  return status;
}

IOStatus sync_folder(rocksdb::FileSystem& fs, const std::string& dir) {
  std::unique_ptr<rocksdb::FSDirectory> folder;
  IOStatus status = fs.NewDirectory(dir, IOOptions(), &folder, nullptr);
  if (status.ok()) status = folder->Fsync(IOOptions(), nullptr);
  return status;
}

}  // namespace

IOStatus remove_folder(rocksdb::FileSystem& fs, const std::string& dir) {
  std::vector<std::string> files;
  IOStatus status = fs.GetChildren(dir, IOOptions(), &files, nullptr);
  if (!status.ok()) return status;
  for (const std::string& file : files) {
    if (file == "." || file == "..") continue;
    status = fs.DeleteFile(dir + "/" + file, IOOptions(), nullptr);
    if (!status.ok()) return status;
  }
  return fs.DeleteDir(dir, IOOptions(), nullptr);
}

StorageError Folders::error(const IOStatus& status) const {
  return {"the folder " + dir_ + " cannot be used: " + status.ToString()};
}

tl::expected<void, StorageError> Folders::create() {
  const IOStatus status = fs_->CreateDirIfMissing(dir_, IOOptions(), nullptr);
  if (!status.ok()) return tl::unexpected(error(status));
  return {};
}

tl::expected<std::optional<std::uint64_t>, StorageError> Folders::current() const {
  std::string text;
  const IOStatus status = read_file(*fs_, dir_ + std::string(kCurrent), text);
  if (status.IsNotFound() || status.IsPathNotFound()) return std::nullopt;
  if (!status.ok()) return tl::unexpected(error(status));
  if (!text.ends_with('\n')) return std::nullopt;
  return number(std::string_view(text).substr(0, text.size() - 1));
}

tl::expected<void, StorageError> Folders::set_current(std::uint64_t generation) {
  const std::string fresh_name = dir_ + std::string(kNewCurrent);
  IOStatus status = write_file(*fs_, fresh_name, std::to_string(generation) + "\n");
  if (status.ok()) {
    status = fs_->RenameFile(fresh_name, dir_ + std::string(kCurrent), IOOptions(), nullptr);
  }
  if (status.ok()) status = sync_folder(*fs_, dir_);
  if (!status.ok()) return tl::unexpected(error(status));
  return {};
}

tl::expected<std::vector<std::uint64_t>, StorageError> Folders::generations() const {
  std::vector<std::string> names;
  const IOStatus status = fs_->GetChildren(dir_, IOOptions(), &names, nullptr);
  if (!status.ok()) return tl::unexpected(error(status));
  std::vector<std::uint64_t> found;
  for (const std::string& name : names) {
    if (const auto generation = number(name)) found.push_back(*generation);
  }
  return found;
}

tl::expected<void, StorageError> Folders::remove_others(std::optional<std::uint64_t> kept) {
  const auto found = generations();
  if (!found) return tl::unexpected(found.error());
  for (const std::uint64_t generation : *found) {
    if (generation == kept) continue;
    const IOStatus status = remove_folder(*fs_, of(generation));
    if (!status.ok()) return tl::unexpected(error(status));
  }
  return {};
}

tl::expected<std::uint64_t, StorageError> Folders::fresh() const {
  const auto found = generations();
  if (!found) return tl::unexpected(found.error());
  return found->empty() ? 1 : *std::max_element(found->begin(), found->end()) + 1;
}

}  // namespace holdfast::projections
