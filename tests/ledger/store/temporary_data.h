#pragma once

#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "ledger/store/log.h"
#include "tests/ledger/store/sample_events.h"

namespace holdfast::store {

// A folder of its own for one test on the real file system, and what can happen to it.
class TemporaryData {
 public:
  TemporaryData() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-store-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = name;
  }
  TemporaryData(const TemporaryData&) = delete;
  TemporaryData& operator=(const TemporaryData&) = delete;
  ~TemporaryData() { std::filesystem::remove_all(root_); }

  std::string data() const { return (root_ / "data").string(); }

  // What a kill at this moment would leave.
  std::string copy(const std::string& name = "copy") const {
    const auto to = root_ / name;
    std::filesystem::copy(data(), to, std::filesystem::copy_options::recursive);
    return to.string();
  }

 private:
  std::filesystem::path root_;
};

using Files = std::map<std::string, std::string>;

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_content(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// Every file below `dir` with its bytes.
inline Files files_of(const std::string& dir) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    files[entry.path().string()] = entry.is_regular_file() ? content_of(entry.path()) : "";
  }
  return files;
}

// The WAL that holds the events: the largest.
inline std::filesystem::path wal_of(const std::string& dir) {
  std::filesystem::path wal;
  for (const auto& entry : std::filesystem::directory_iterator(dir + "/ledger")) {
    if (entry.path().extension() != ".log") continue;
    if (wal.empty() || entry.file_size() > std::filesystem::file_size(wal)) wal = entry.path();
  }
  return wal;
}

// `groups` groups of 100 events each, from the head on.
inline void append_groups(Log& log, int groups) {
  for (int group = 0; group < groups; ++group) {
    const std::uint64_t head = log.head().value;
    const auto events = numbered_holds(head + 1, head + 100);
    const auto done = log.append(events, {.latest = events.back().recorded_at, .import = {}});
    ASSERT_TRUE(done) << done.error().what;
  }
}

// Opens, or fails the test with the error and returns null.
inline std::unique_ptr<Log> opened(const OpenOptions& options) {
  auto log = Log::open(options);
  if (log) return std::move(*log);
  ADD_FAILURE() << log.error().what;
  return nullptr;
}

// The error of an open that must fail.
inline std::string refusal(const OpenOptions& options) {
  const auto log = Log::open(options);
  EXPECT_FALSE(log) << "opened, with its head at " << (*log)->head().value;
  return log ? "" : log.error().what;
}

}  // namespace holdfast::store
