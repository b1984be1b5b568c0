#include "ledger/store/sha256_stream.h"

#include <gtest/gtest.h>
#include <string>

#include "ledger/store/sha256.h"

namespace holdfast::store {
namespace {

TEST(Sha256Stream, IsThatOfThePiecesTogether) {
  const std::string text(10'000, 'x');
  Sha256Stream stream;
  EXPECT_EQ(stream.digest(), sha256(""));
  for (std::size_t at = 0; at < text.size(); at += 7) stream.add(text.substr(at, 7));
  EXPECT_EQ(stream.digest(), sha256(text));
  stream.add("y");
  EXPECT_EQ(stream.digest(), sha256(text + "y"));
}

// NIST's example of a message that is longer than a block.
TEST(Sha256Stream, HasTheDigestOfTheStandard) {
  Sha256Stream stream;
  stream.add("abcdbcdecdefdefgefghfghighijhijk");
  stream.add("ijkljklmklmnlmnomnopnopq");
  EXPECT_EQ(std::to_integer<int>(stream.digest().front()), 0x24);
  EXPECT_EQ(std::to_integer<int>(stream.digest().back()), 0xc1);
}

}  // namespace
}  // namespace holdfast::store
