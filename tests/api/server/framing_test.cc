#include "api/framing.h"

#include <capnp/serialize.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "api/holdfast.capnp.h"

namespace holdfast::api {
namespace {

using Bytes = std::vector<std::byte>;

void append_hello(std::uint64_t id, const std::string& actor, Bytes& out, unsigned first_words) {
  capnp::MallocMessageBuilder message(first_words, capnp::AllocationStrategy::FIXED_SIZE);
  auto request = message.initRoot<wire::Request>();
  request.setId(id);
  request.initHello().setActor(actor);
  append_framed(message, out);
}

Bytes words32(std::initializer_list<std::uint32_t> values) {
  Bytes bytes;
  for (const std::uint32_t value : values) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  return bytes;
}

void feed(FrameReader& reader, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto space = reader.space();
    ASSERT_FALSE(space.empty());
    const std::size_t count = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), count, space.begin());
    reader.filled(count);
    bytes = bytes.subspan(count);
    if (reader.pending_bytes() > kMaxMessageBytes) return;
  }
}

TEST(Framing, FramesComeWholeHoweverTheStreamIsCut) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Bytes stream;
  std::vector<std::string> actors;
  for (std::uint64_t id = 0; id < 300; ++id) {
    actors.emplace_back(random() % (id % 10 == 0 ? 60'000 : 60), 'a');
    append_hello(id, actors.back(), stream, id % 3 == 0 ? 8 : 4'096);
  }
  FrameReader reader(1'024);
  std::uint64_t next = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t piece = std::min<std::size_t>(random() % 5'000, stream.size() - at);
    feed(reader, std::span(stream).subspan(at, piece));
    at += piece;
    while (true) {
      const auto frame = reader.next();
      ASSERT_TRUE(frame.has_value());
      if (!*frame) break;
      capnp::FlatArrayMessageReader message(kj::arrayPtr((*frame)->data(), (*frame)->size()));
      const auto request = message.getRoot<wire::Request>();
      EXPECT_EQ(request.getId(), next);
      EXPECT_EQ(request.getHello().getActor().size(), actors[next].size());
      ++next;
    }
  }
  EXPECT_EQ(next, 300u);
  EXPECT_EQ(reader.pending_bytes(), 0u);
}

TEST(Framing, FourGigabytesAreRefusedBeforeAnythingIsAllocated) {
  FrameReader reader(4'096);
  feed(reader, words32({0, 0xffff'ffff}));
  const auto frame = reader.next();
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(frame.error(), FrameError::too_large);
  EXPECT_EQ(reader.capacity_bytes(), 4'096u);
}

TEST(Framing, SizesThatAddUpBeyondTheLimitAreRefused) {
  FrameReader reader;
  feed(reader, words32({2, 500'000, 500'000, 100'000}));
  const auto frame = reader.next();
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(frame.error(), FrameError::too_large);
}

TEST(Framing, TooManySegmentsAreRefusedAtTheirNumber) {
  for (const std::uint32_t less_one : {kMaxSegments, 0xffff'ffffu}) {
    FrameReader reader;
    feed(reader, words32({less_one, 1}));
    const auto frame = reader.next();
    ASSERT_FALSE(frame.has_value());
    EXPECT_EQ(frame.error(), FrameError::too_many_segments);
  }
}

TEST(Framing, AClaimedSizeIsNotAllocatedUntilItsBytesCome) {
  FrameReader reader(4'096);
  feed(reader, words32({0, (kMaxMessageBytes >> 3) - 1}));
  ASSERT_TRUE(reader.next().has_value());
  feed(reader, Bytes(1'000));
  EXPECT_LE(reader.capacity_bytes(), 8'192u);
}

TEST(Framing, TheLargestFrameIsTakenAndItsBufferGivenBack) {
  FrameReader reader(4'096);
  constexpr std::uint32_t kWords = (kMaxMessageBytes >> 3) - 1;
  feed(reader, words32({0, kWords}));
  feed(reader, Bytes(std::size_t{kWords} * 8));
  const auto frame = reader.next();
  ASSERT_TRUE(frame.has_value() && frame->has_value());
  EXPECT_EQ((*frame)->size(), kWords + 1);
  (void)reader.space();
  EXPECT_EQ(reader.capacity_bytes(), 4'096u);
}

TEST(Framing, AFrameOfNothingIsAFrame) {
  FrameReader reader;
  feed(reader, words32({0, 0}));
  const auto frame = reader.next();
  ASSERT_TRUE(frame.has_value() && frame->has_value());
  EXPECT_EQ((*frame)->size(), 1u);
}

}  // namespace
}  // namespace holdfast::api
