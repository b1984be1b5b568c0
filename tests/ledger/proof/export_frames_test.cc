#include "ledger/proof/export_frames.h"

#include <gtest/gtest.h>

namespace holdfast::proof {
namespace {

FramesHeader header() {
  FramesHeader header{{}, {1}, {0x0102030405060708}};
  for (std::size_t i = 0; i < header.ledger.size(); ++i) header.ledger[i] = std::byte(0x61 + i);
  return header;
}

TEST(ExportFrames, AreWrittenAsTheDocumentSays) {
  std::string out;
  append_header(header(), out);
  append_frame("an event", out);
  EXPECT_EQ(out, std::string("HLFEXPT1"
                             "abcdefghijklmnop"
                             "\x01\0\0\0\0\0\0\0"
                             "\x08\x07\x06\x05\x04\x03\x02\x01"
                             "\x08\0\0\0an event",
                             52));
}

TEST(ExportFrames, TheHeaderIsReadBack) {
  std::string out;
  append_header(header(), out);
  EXPECT_EQ(out.size(), kFramesHeaderBytes);
  EXPECT_EQ(read_header(out), header());
  EXPECT_EQ(read_header(out + "x"), std::nullopt);
  EXPECT_EQ(read_header(out.substr(1)), std::nullopt);
  out[7] = '2';
  EXPECT_EQ(read_header(out), std::nullopt);
}

TEST(ExportFrames, LengthsThatNoEventHasAreNone) {
  EXPECT_EQ(read_length(std::string("\x08\x01\0\0", 4)), 264u);
  EXPECT_EQ(read_length(std::string("\0\0\x10\0", 4)), kMaxFrameBytes);
  EXPECT_EQ(read_length(std::string("\x01\0\x10\0", 4)), std::nullopt);
  EXPECT_EQ(read_length(std::string("\0\0\0\0", 4)), std::nullopt);
  EXPECT_EQ(read_length("abc"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::proof
