#include "tools/cli/import_file.h"

#include <capnp/message.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "api/text/json.h"
#include "api/text/time_text.h"
#include "ledger/store/sha256_stream.h"
#include "tools/cli/progress.h"

namespace holdfast::cli {
namespace {

tl::expected<Digest, std::string> sha256_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  store::Sha256Stream sha256;
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    sha256.add({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) return tl::unexpected(path + ": cannot be read to its end");
  return sha256.digest();
}

// What is wrong with a line; the line's instant is kept in `latest`.
std::optional<std::string> check_line(std::string_view line, std::optional<Instant>& latest) {
  capnp::MallocMessageBuilder message;
  auto command = message.initRoot<wire::ImportLine>();
  if (auto done = api::import_line_from_json(line, command); !done) return done.error().text();
  const Instant at{command.getAt()};
  if (!in_range(at)) return "/at: is outside of 1970 to 9999";
  if (latest && at < *latest) {
    return "/at: " + api::to_text(at) + " is before " + api::to_text(*latest) +
           ", the instant of the line above";
  }
  latest = at;
  return std::nullopt;
}

}  // namespace

LineReader::LineReader(std::string path, std::ifstream file, std::uint64_t size)
    : path_(std::move(path)), file_(std::move(file)), size_(size) {}

tl::expected<LineReader, std::string> LineReader::open(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return tl::unexpected(path + ": there is no such file");
  if (!std::filesystem::is_regular_file(status)) {
    return tl::unexpected(path + ": is not a file (it is read twice, so a pipe will not do)");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected(path + ": " + std::strerror(errno));
  return LineReader(path, std::move(file), std::filesystem::file_size(path, error));
}

bool LineReader::next(std::string& line) {
  do {
    if (!read_line(line)) return false;
  } while (line.find_first_not_of(" \t\r") == std::string::npos);
  return true;
}

bool LineReader::read_line(std::string& line) {
  line.clear();
  if (!error_.empty() || file_.peek() == std::ifstream::traits_type::eof()) {
    if (file_.bad()) error_ = path_ + ": cannot be read to its end";
    return false;
  }
  ++number_;
  // Not std::getline: a file without line ends must not fill the memory.
  auto* buffer = file_.rdbuf();
  for (int c = buffer->sbumpc(); c != std::ifstream::traits_type::eof(); c = buffer->sbumpc()) {
    ++bytes_;
    if (c == '\n') return true;
    if (line.size() == kMaxLineBytes) {
      error_ = path_ + ":" + std::to_string(number_) + ": is longer than 1 MiB";
      return false;
    }
    line += static_cast<char>(c);
  }
  return true;
}

tl::expected<CheckedFile, std::string> check_import_file(const std::string& path) {
  auto reader = LineReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  Progress progress("checking ", reader->size(), "lines");
  std::optional<Instant> latest;
  std::uint64_t lines = 0;
  std::string line;
  while (reader->next(line)) {
    if (const auto wrong = check_line(line, latest)) {
      return tl::unexpected(path + ":" + std::to_string(reader->number()) + ": " + *wrong);
    }
    ++lines;
    progress.show(reader->bytes(), lines);
  }
  if (!reader->error().empty()) return tl::unexpected(reader->error());
  const auto digest = sha256_of(path);
  if (!digest) return tl::unexpected(digest.error());
  return CheckedFile{*digest, lines};
}

}  // namespace holdfast::cli
