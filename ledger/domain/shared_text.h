#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace holdfast {

// Text that does not change, in 16 bytes: up to 15 bytes of it inside, longer text once in memory,
// shared and counted by its copies. The names of a command go into its event, the state and its
// answer without being copied. A NUL follows the text. Copies may be used on any thread.
class SharedText {
 public:
  SharedText() { set_inside_size(0); }
  explicit SharedText(std::string_view text) {
    if (text.size() > kInside) {
      set_shared(Shared::make(text), text.size());
    } else {
      text.copy(bytes_.data(), text.size());
      set_inside_size(text.size());
    }
  }
  SharedText(const SharedText& other) noexcept : bytes_(other.bytes_) {
    if (is_shared()) shared()->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept
      : bytes_(std::exchange(other.bytes_, SharedText().bytes_)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedText() {
    if (is_shared()) Shared::let_go(shared());
  }

  std::string_view view() const {
    if (!is_shared()) return {bytes_.data(), kInside - static_cast<std::size_t>(bytes_.back())};
    std::uint32_t size = 0;
    std::memcpy(&size, bytes_.data() + sizeof(Shared*), sizeof size);
    return {shared()->text(), size};
  }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.bytes_ == b.bytes_ || (a.is_shared() && b.is_shared() && a.view() == b.view());
  }
  friend std::strong_ordering operator<=>(const SharedText& a, const SharedText& b) {
    return a.view() <=> b.view();
  }

 private:
  struct Shared {
    std::atomic<std::uint32_t> owners = 1;

    char* text() { return reinterpret_cast<char*>(this + 1); }
    static Shared* make(std::string_view text) {
      auto* made = new (::operator new(sizeof(Shared) + text.size() + 1)) Shared;
      text.copy(made->text(), text.size());
      made->text()[text.size()] = '\0';
      return made;
    }
    static void let_go(Shared* shared) {
      if (shared->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      shared->~Shared();
      ::operator delete(shared);
    }
  };

  static constexpr std::size_t kInside = 15;
  static constexpr char kShared = 127;

  bool is_shared() const { return bytes_.back() == kShared; }
  Shared* shared() const {
    Shared* shared = nullptr;
    std::memcpy(&shared, bytes_.data(), sizeof shared);
    return shared;
  }
  // The last byte: kShared, or how many of the 15 are free, which of none is the NUL.
  void set_inside_size(std::size_t size) { bytes_.back() = static_cast<char>(kInside - size); }
  void set_shared(Shared* shared, std::size_t size) {
    const auto length = static_cast<std::uint32_t>(size);
    std::memcpy(bytes_.data(), &shared, sizeof shared);
    std::memcpy(bytes_.data() + sizeof shared, &length, sizeof length);
    bytes_.back() = kShared;
  }

  alignas(void*) std::array<char, kInside + 1> bytes_ = {};
};

}  // namespace holdfast
