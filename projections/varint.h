#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers of rows: LEB128, seven bits a byte, lowest first; signed ones zigzag before.
namespace holdfast::projections {

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

inline void put_signed(std::string& out, std::int64_t value) {
  put_varint(out,
             (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

inline void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out.append(text);
}

// Reads what the functions above wrote. After a row that is cut short or malformed every value is
// zero or empty and ok() says false.
class RowReader {
 public:
  explicit RowReader(std::string_view row) : rest_(row) {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }

  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }

  std::string_view text() {
    const std::uint64_t size = varint();
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }

  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace holdfast::projections
