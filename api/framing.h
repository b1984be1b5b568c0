#pragma once

#include <capnp/message.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

// Cap'n Proto's standard stream framing, read piece by piece within limits: a table of segment
// sizes (all little-endian 32-bit: number of segments - 1, then the size of each in words, padded
// to a whole word), then the segments.
namespace holdfast::api {

inline constexpr std::size_t kMaxMessageBytes = 8u << 20;  // of one frame, its table included
inline constexpr std::uint32_t kMaxSegments = 64;
inline constexpr int kMaxNesting = 64;

// How much a reader of a received frame may traverse: pointers that share what they point to must
// not make work out of all proportion to the bytes sent.
constexpr std::uint64_t traversal_limit_words(std::size_t frame_words) {
  return 4 * frame_words + 1'024;
}

// Why a stream cannot be read any further.
enum class FrameError : std::uint8_t { too_many_segments, too_large };
std::string_view describe(FrameError error);

// One frame, table included, ready for capnp::FlatArrayMessageReader.
using Frame = std::span<const capnp::word>;

// Cuts a stream of bytes into frames, without copying them out of the receive buffer. The buffer
// grows with the bytes that have come, never by what a frame claims.
//
//     auto space = reader.space();        // 1. read into it
//     reader.filled(bytes_read);          // 2.
//     while (auto frame = reader.next())  // 3. until an error or an empty optional
//
// One thread at a time.
class FrameReader {
 public:
  explicit FrameReader(std::size_t first_buffer_bytes = 16u << 10);

  // Where to put the next bytes; never empty. Invalidates frames handed out before.
  std::span<std::byte> space();
  void filled(std::size_t bytes);

  // The next whole frame, valid until space() is called; nothing when more bytes are needed. After
  // an error the stream is of no more use.
  tl::expected<std::optional<Frame>, FrameError> next();

  std::size_t capacity_bytes() const { return capacity_words_ * sizeof(capnp::word); }
  // Bytes that belong to a frame not yet whole.
  std::size_t pending_bytes() const { return end_ - begin_; }

 private:
  std::byte* data() { return reinterpret_cast<std::byte*>(buffer_.get()); }
  void resize(std::size_t words);

  std::size_t first_words_;
  std::size_t capacity_words_ = 0;
  std::unique_ptr<capnp::word[]> buffer_;
  // Of unread bytes. begin_ is always at a word: frames are whole words.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Appends the message as one frame.
void append_framed(capnp::MessageBuilder& message, std::vector<std::byte>& out);

}  // namespace holdfast::api
