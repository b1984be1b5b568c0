#include "tools/cli/import_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace holdfast::cli {
namespace {

class ImportFile : public testing::Test {
 protected:
  ImportFile() : path_(testing::TempDir() + "import_" + std::to_string(getpid()) + ".jsonl") {}
  ~ImportFile() override { std::filesystem::remove(path_); }

  tl::expected<CheckedFile, std::string> check(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return check_import_file(path_);
  }
  // What is wrong, behind the name of the file.
  std::string wrong(const std::string& content) {
    const auto checked = check(content);
    if (checked) return "nothing";
    EXPECT_EQ(checked.error().substr(0, path_.size()), path_);
    return checked.error().substr(path_.size());
  }

  std::string path_;
};

constexpr const char* kOpen = R"({"at":1000,"open":{"resource":"r"}})";

TEST_F(ImportFile, CountsCommands) {
  EXPECT_EQ(check("")->lines, 0u);
  EXPECT_EQ(check(std::string(kOpen) + "\n\n \t\r\n" + kOpen + "\r\n" + kOpen)->lines, 3u);
}

TEST_F(ImportFile, HasItsDigest) {
  const std::string line = R"({"at":0,"open":{"resource":"r"}})";
  const auto checked = check(line);
  ASSERT_TRUE(checked);
  std::string hex;
  for (const std::byte b : checked->sha256) hex += fmt::format("{:02x}", std::to_integer<int>(b));
  EXPECT_EQ(hex, "19ae023db2e9c81170c79102f7258dc06c9053502b98deb355b285fbbc1fa2c5");
}

TEST_F(ImportFile, NamesTheLine) {
  const std::string open = std::string(kOpen) + "\n";
  EXPECT_EQ(wrong(open + "{\n").substr(0, 15), ":2: is not JSON");
  EXPECT_EQ(wrong("\n" + open + R"({"open":{"resource":"r"}})"),
            ":3: needs 'at', the command's instant");
  EXPECT_EQ(wrong(open + R"({"at":2000,"open":{"resource":7}})"),
            ":2: /open/resource: must be text, not a number");
  EXPECT_EQ(wrong(open + R"({"at":"2026-01-01","open":{"resource":"r"}})").substr(0, 8),
            ":2: /at:");
  EXPECT_EQ(wrong(R"({"at":-1,"open":{"resource":"r"}})"), ":1: /at: is outside of 1970 to 9999");
  EXPECT_EQ(wrong(open + R"({"at":999,"open":{"resource":"r"}})"),
            ":2: /at: 1970-01-01T00:00:00.999Z is before 1970-01-01T00:00:01Z, the instant of the "
            "line above");
  EXPECT_EQ(wrong(open + "\xFF\n").substr(0, 15), ":2: is not JSON");
  EXPECT_EQ(wrong(open + std::string("\0", 1)).substr(0, 15), ":2: is not JSON");
  EXPECT_EQ(wrong(open + "\xEF\xBB\xBF" + open).substr(0, 15), ":2: is not JSON");
}

TEST_F(ImportFile, RefusesEndlessLines) {
  EXPECT_EQ(wrong(std::string(kMaxLineBytes + 1, 'x')), ":1: is longer than 1 MiB");
  EXPECT_EQ(wrong("\n" + std::string(kMaxLineBytes, ' ') + "x"), ":2: is longer than 1 MiB");
}

TEST_F(ImportFile, RefusesWhatIsNoFile) {
  EXPECT_EQ(check_import_file("/nonexistent").error(), "/nonexistent: there is no such file");
  EXPECT_EQ(check_import_file("/").error().substr(0, 16), "/: is not a file");
}

}  // namespace
}  // namespace holdfast::cli
