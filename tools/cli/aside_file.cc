#include "tools/cli/aside_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace holdfast::cli {
namespace {

// So that a rename outlives a crash.
bool sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const int file = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool synced = fsync(file) == 0;
  close(file);
  return synced;
}

}  // namespace

tl::expected<AsideFile, std::string> AsideFile::create(const std::string& path) {
  if (path == "-") return AsideFile(path, STDOUT_FILENO);
  AsideFile file(path, open((path + ".part").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                            S_IRUSR | S_IWUSR));
  if (file.file_ < 0) return tl::unexpected(file.why_not("cannot be written"));
  return file;
}

AsideFile::AsideFile(AsideFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      aside_(std::exchange(other.aside_, false)),
      size_(other.size_),
      sha256_(std::move(other.sha256_)) {}

AsideFile::~AsideFile() {
  if (is_stdout()) return;
  if (file_ >= 0) close(file_);
  if (aside_) unlink(part().c_str());
}

std::string AsideFile::why_not(const std::string& what) const {
  return (is_stdout() ? "standard output" : path_) + " " + what + ": " + std::strerror(errno);
}

tl::expected<void, std::string> AsideFile::write(std::string_view bytes) {
  sha256_.add(bytes);
  size_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(why_not("cannot be written"));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

tl::expected<void, std::string> AsideFile::finish() {
  if (is_stdout()) return {};
  const bool synced = fsync(file_) == 0;
  const bool closed = close(std::exchange(file_, -1)) == 0;
  if (!synced || !closed) return tl::unexpected(why_not("cannot be written"));
  return {};
}

tl::expected<void, std::string> AsideFile::publish() {
  if (is_stdout()) return {};
  if (std::rename(part().c_str(), path_.c_str()) != 0 || !sync_folder_of(path_)) {
    return tl::unexpected(why_not("cannot be put in place"));
  }
  aside_ = false;
  return {};
}

}  // namespace holdfast::cli
