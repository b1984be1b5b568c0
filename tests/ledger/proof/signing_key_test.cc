#include "ledger/proof/signing_key.h"

#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>

#include "ledger/proof/text_bytes.h"
#include "tests/ledger/store/temporary_data.h"

namespace holdfast::proof {
namespace {

namespace fs = std::filesystem;

// RFC 8032, section 7.1, TEST 3.
TEST(SigningKey, SignaturesAreThoseOfRfc8032) {
  const auto key =
      *fixed<32>(from_hex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"));
  const auto signature =
      *fixed<64>(from_hex("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                          "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"));
  EXPECT_TRUE(is_signed("\xaf\x82", signature, key));
  EXPECT_FALSE(is_signed("\xaf\x83", signature, key));
  auto other = signature;
  other.back() ^= std::byte{1};
  EXPECT_FALSE(is_signed("\xaf\x82", other, key));
}

TEST(SigningKey, IsMadeOnceAndReadableByItsOwnerAlone) {
  const store::TemporaryData temporary;
  fs::create_directories(temporary.data());
  const std::string path = temporary.data() + "/signing-key";
  const auto made = SigningKey::open(path);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(path + ".new"));
  const auto again = SigningKey::open(path);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->public_key(), made->public_key());
  EXPECT_TRUE(is_signed("text", again->sign("text"), made->public_key()));
  EXPECT_FALSE(is_signed("text", SigningKey::generate().sign("text"), made->public_key()));
}

TEST(SigningKey, AFileThatIsNoKeyIsLeftAlone) {
  const store::TemporaryData temporary;
  fs::create_directories(temporary.data());
  const std::string path = temporary.data() + "/signing-key";
  std::ofstream(path) << "-----BEGIN PRIVATE KEY-----\n";
  const auto opened = SigningKey::open(path);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().what.find("is not an Ed25519 key"), std::string::npos);
  EXPECT_EQ(fs::file_size(path), 28u);
}

}  // namespace
}  // namespace holdfast::proof
