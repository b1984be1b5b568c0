#include "ledger/proof/text_bytes.h"

#include <gtest/gtest.h>

namespace holdfast::proof {
namespace {

TEST(TextBytes, Base64IsThatOfRfc4648) {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes_of(bytes)), text);
    EXPECT_EQ(from_base64(text), std::string(bytes));
  }
  EXPECT_EQ(from_hex("00ff10"), std::string("\x00\xff\x10", 3));
  EXPECT_EQ(to_hex(bytes_of("\xff\x10")), "ff10");
}

TEST(TextBytes, OnlyWhatWritingGivesIsRead) {
  for (const auto text : {"Zg", "Zg=", "Zh==", "Zm9v\n", " Zm9v", "Zm9vZg==Zm9v", "Zm-v", "===="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
  for (const auto text : {"0", "0g", "FF", " 0"}) EXPECT_FALSE(from_hex(text)) << text;
  EXPECT_FALSE(fixed<3>(from_hex("0011")));
}

}  // namespace
}  // namespace holdfast::proof
