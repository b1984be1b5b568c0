#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// Fixed-width fields one after the other, numbers little-endian: the records beside the events.
namespace holdfast::store {

class BytesOut {
 public:
  explicit BytesOut(std::string& out) : out_(out) {}
  void number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) out_.push_back(static_cast<char>(value >> shift));
  }
  template <std::size_t kSize>
  void bytes(const std::array<std::byte, kSize>& value) {
    out_.append(reinterpret_cast<const char*>(value.data()), kSize);
  }

 private:
  std::string& out_;
};

// Reads what BytesOut wrote. Past the end everything is zero and ok() is false.
class BytesIn {
 public:
  explicit BytesIn(std::string_view in) : in_(in) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto raw = bytes<8>();
    for (std::size_t i = 8; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(raw[i]);
    return value;
  }
  template <std::size_t kSize>
  std::array<std::byte, kSize> bytes() {
    std::array<std::byte, kSize> value{};
    if (in_.size() < kSize) {
      in_ = {};
      ok_ = false;
      return value;
    }
    std::memcpy(value.data(), in_.data(), kSize);
    in_.remove_prefix(kSize);
    return value;
  }
  bool ok() const { return ok_; }
  // Everything was there, and nothing more.
  bool done() const { return ok_ && in_.empty(); }
  std::size_t left() const { return in_.size(); }

 private:
  std::string_view in_;
  bool ok_ = true;
};

}  // namespace holdfast::store
