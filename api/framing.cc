#include "api/framing.h"

#include <algorithm>
#include <cstring>

namespace holdfast::api {

namespace {

constexpr std::size_t kWord = sizeof(capnp::word);

std::uint32_t little_endian(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | std::to_integer<std::uint32_t>(at[i]);
  return value;
}

constexpr std::size_t table_words(std::uint32_t segments) { return segments / 2 + 1; }

}  // namespace

std::string_view describe(FrameError error) {
  switch (error) {
    case FrameError::too_many_segments:
      return "a message of more than 64 segments";
    case FrameError::too_large:
      return "a message of more than 8 MiB";
  }
  return {};
}

FrameReader::FrameReader(std::size_t first_buffer_bytes)
    : first_words_(std::max<std::size_t>(first_buffer_bytes / kWord, 1)) {
  resize(first_words_);
}

void FrameReader::resize(std::size_t words) {
  auto larger = std::make_unique_for_overwrite<capnp::word[]>(words);
  if (end_ > begin_) std::memcpy(larger.get(), data() + begin_, end_ - begin_);
  buffer_ = std::move(larger);
  capacity_words_ = words;
  end_ -= begin_;
  begin_ = 0;
}

std::span<std::byte> FrameReader::space() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    // A buffer that grew for one large frame is not kept by a connection that falls silent.
    if (capacity_words_ > 16 * first_words_) resize(first_words_);
  } else if (begin_ > 0 && capacity_bytes() - end_ < capacity_bytes() / 2) {
    std::memmove(data(), data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (capacity_bytes() - end_ < capacity_bytes() / 4) resize(2 * capacity_words_);
  return {data() + end_, capacity_bytes() - end_};
}

void FrameReader::filled(std::size_t bytes) { end_ += bytes; }

tl::expected<std::optional<Frame>, FrameError> FrameReader::next() {
  const std::size_t available = end_ - begin_;
  if (available < kWord) return std::nullopt;
  const std::byte* table = data() + begin_;
  const std::uint32_t segments_less_one = little_endian(table);
  if (segments_less_one >= kMaxSegments) return tl::unexpected(FrameError::too_many_segments);
  const std::uint32_t segments = segments_less_one + 1;
  if (available < table_words(segments) * kWord) return std::nullopt;
  std::uint64_t words = table_words(segments);
  for (std::uint32_t i = 0; i < segments; ++i) words += little_endian(table + 4 + 4 * i);
  if (words > kMaxMessageBytes / kWord) return tl::unexpected(FrameError::too_large);
  if (available < words * kWord) return std::nullopt;
  const Frame frame{buffer_.get() + begin_ / kWord, static_cast<std::size_t>(words)};
  begin_ += words * kWord;
  return frame;
}

void append_framed(capnp::MessageBuilder& message, std::vector<std::byte>& out) {
  const auto segments = message.getSegmentsForOutput();
  const std::size_t table = (segments.size() / 2 + 1) * sizeof(capnp::word);
  std::size_t total = table;
  for (const auto& segment : segments) total += segment.asBytes().size();
  std::size_t at = out.size();
  out.resize(at + total);
  const auto put = [&](std::size_t place, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) out[place + i] = static_cast<std::byte>(value >> (8 * i));
  };
  put(at, static_cast<std::uint32_t>(segments.size() - 1));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    put(at + 4 + 4 * i, static_cast<std::uint32_t>(segments[i].size()));
  }
  at += table;
  for (const auto& segment : segments) {
    std::memcpy(out.data() + at, segment.begin(), segment.asBytes().size());
    at += segment.asBytes().size();
  }
}

}  // namespace holdfast::api
