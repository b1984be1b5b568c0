#pragma once

#include <gtest/gtest.h>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

// Stored bytes are for ever: what tests/golden holds must be read, and written the same, by every
// version. A new type gets its files by HOLDFAST_WRITE_GOLDEN=1, which writes only files that are
// not there; a file that is there is never written by a test.
namespace holdfast::golden {

inline std::string path_of(const std::string& name) {
  return std::string(HOLDFAST_SOURCE_DIR) + "/tests/golden/" + name + ".hex";
}

// One word of eight bytes a line.
inline std::string to_hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
    text += i % 8 == 7 ? '\n' : ' ';
  }
  return text;
}

inline std::string from_hex(const std::string& text) {
  std::istringstream in(text);
  std::string bytes;
  for (std::string byte; in >> byte;) {
    bytes.push_back(static_cast<char>(std::stoi(byte, nullptr, 16)));
  }
  return bytes;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The bytes that a test has made, against the file of that name.
inline void expect_as_ever(const std::string& name, const std::string& bytes) {
  if (std::getenv("HOLDFAST_WRITE_GOLDEN") != nullptr && content_of(path_of(name)).empty()) {
    std::ofstream(path_of(name)) << to_hex(bytes);
  }
  EXPECT_EQ(to_hex(bytes), content_of(path_of(name))) << path_of(name);
}

inline std::string bytes_of(const std::string& name) { return from_hex(content_of(path_of(name))); }

}  // namespace holdfast::golden
