#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/store/sha256_stream.h"

namespace holdfast::cli {

// A file that appears under its name when it is whole: it is written beside it, as PATH.part, and
// renamed. What was not published is removed. The path `-` is standard output.
class AsideFile {
 public:
  // Errors are sentences that name the path.
  static tl::expected<AsideFile, std::string> create(const std::string& path);
  AsideFile(AsideFile&& other) noexcept;
  AsideFile& operator=(AsideFile&&) = delete;
  ~AsideFile();

  bool is_stdout() const { return path_ == "-"; }
  tl::expected<void, std::string> write(std::string_view bytes);
  // Durable, still aside. Nothing is written after it.
  tl::expected<void, std::string> finish();
  // Under its name, in place of what stood there. Requires finish().
  tl::expected<void, std::string> publish();

  std::uint64_t size() const { return size_; }
  Digest sha256() const { return sha256_.digest(); }

 private:
  AsideFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string part() const { return path_ + ".part"; }
  std::string why_not(const std::string& what) const;

  std::string path_;
  int file_;  // -1: closed, or moved from
  bool aside_ = true;
  std::uint64_t size_ = 0;
  store::Sha256Stream sha256_;
};

}  // namespace holdfast::cli
