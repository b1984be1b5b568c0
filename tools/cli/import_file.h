#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/ids.h"

namespace holdfast::cli {

// Longest line: far more than any command needs, far less than a message can carry.
inline constexpr std::size_t kMaxLineBytes = 1 << 20;

// Reads a file line by line, numbered from 1. Lines of white space alone are passed over.
class LineReader {
 public:
  // Fails with a sentence when the file cannot be read.
  static tl::expected<LineReader, std::string> open(const std::string& path);

  // The next line without its end; false at the end of the file or after an error().
  bool next(std::string& line);
  std::uint64_t number() const { return number_; }  // of the line that next() gave
  std::uint64_t bytes() const { return bytes_; }    // read so far
  std::uint64_t size() const { return size_; }      // of the file
  // "FILE:LINE: what", empty: none.
  const std::string& error() const { return error_; }

 private:
  LineReader(std::string path, std::ifstream file, std::uint64_t size);
  bool read_line(std::string& line);

  std::string path_;
  std::ifstream file_;
  std::uint64_t size_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
  std::string error_;
};

struct CheckedFile {
  Digest sha256;
  std::uint64_t lines;  // commands
};

// Reads the whole file before anything is sent: every line a command with its `at`, none before the
// one above. The first that is wrong is the error, "FILE:LINE: what".
tl::expected<CheckedFile, std::string> check_import_file(const std::string& path);

}  // namespace holdfast::cli
