#include "ledger/domain/ids.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast {
namespace {

using std::string_literals::operator""s;

TEST(Utf8, WellFormed) {
  for (const std::string& text :
       {""s, "a"s, "\x7f"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xed\x9f\xbf"s,
        "\xee\x80\x80"s, "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s,
        "\xf0\x9f\x9b\xb6 x"s, "\0"s}) {
    EXPECT_TRUE(is_utf8(text)) << ::testing::PrintToString(text);
  }
}

TEST(Utf8, IllFormed) {
  for (const std::string& text : {
           "\x80"s,
           "\xbf"s,
           "a\x80"s,  // continuation alone
           "\xc0\x80"s,
           "\xc1\xbf"s,  // overlong, two bytes
           "\xe0\x80\x80"s,
           "\xe0\x9f\xbf"s,  // overlong, three
           "\xf0\x80\x80\x80"s,
           "\xf0\x8f\xbf\xbf"s,  // overlong, four
           "\xed\xa0\x80"s,
           "\xed\xbf\xbf"s,  // surrogates
           "\xf4\x90\x80\x80"s,
           "\xf5\x80\x80\x80"s,  // beyond U+10FFFF
           "\xf8\x88\x80\x80\x80"s,
           "\xfe"s,
           "\xff"s,  // never a first byte
           "\xc2"s,
           "\xe2\x82"s,
           "\xf0\x9f\x9b"s,  // cut off
           "\xc2\x41"s,
           "\xe2\x82\x41"s,
           "\xf0\x9f\x41\xb6"s,
           "\xe2\x41\x82"s,
           "\xc2\xc2\x80"s,
       }) {
    EXPECT_FALSE(is_utf8(text)) << ::testing::PrintToString(text);
    EXPECT_FALSE(is_name(text, 200)) << ::testing::PrintToString(text);
    EXPECT_FALSE(is_path(text)) << ::testing::PrintToString(text);
    EXPECT_FALSE(is_utf8("ok " + text)) << ::testing::PrintToString(text);
  }
}

// Every code point, encoded here by arithmetic, is accepted; every surrogate is not.
TEST(Utf8, EveryCodePoint) {
  for (std::uint32_t c = 0; c <= 0x10ffff; ++c) {
    std::string text;
    const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
    if (c < 0x80) {
      byte(c);
    } else if (c < 0x800) {
      byte(0xc0 | c >> 6);
      byte(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      byte(0xe0 | c >> 12);
      byte(0x80 | (c >> 6 & 0x3f));
      byte(0x80 | (c & 0x3f));
    } else {
      byte(0xf0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3f));
      byte(0x80 | (c >> 6 & 0x3f));
      byte(0x80 | (c & 0x3f));
    }
    ASSERT_EQ(is_utf8(text), c < 0xd800 || c > 0xdfff) << c;
  }
}

TEST(Name, Lengths) {
  EXPECT_FALSE(Key::make(""));
  EXPECT_TRUE(Key::make(std::string(200, 'k')));
  EXPECT_FALSE(Key::make(std::string(201, 'k')));
  EXPECT_FALSE(Holder::make(std::string(300, 'h')));
  EXPECT_TRUE(RequestId::make(std::string(64, 'r')));
  EXPECT_FALSE(RequestId::make(std::string(65, 'r')));
  EXPECT_FALSE(RequestId::make(""));
  EXPECT_FALSE(Holder::make(""));
  EXPECT_FALSE(Cart::make(""));
  EXPECT_FALSE(Actor::make(""));
}

TEST(Name, LengthsAreBytes) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\u00e9";
  EXPECT_TRUE(Key::make(text));
  EXPECT_FALSE(Key::make(text + "k"));
  EXPECT_FALSE(Key::make(text.substr(0, 199))) << "a character cut in two";
}

TEST(Name, ControlCharacters) {
  for (int c = 0; c < 0x20; ++c) {
    const std::string text = "a"s + static_cast<char>(c) + "b";
    EXPECT_FALSE(Key::make(text)) << c;
    EXPECT_FALSE(Path::make(text)) << c;
  }
  EXPECT_FALSE(Key::make("a\x7f"));
  EXPECT_FALSE(Path::make("a\x7f"));
  EXPECT_TRUE(Key::make(" "));
  EXPECT_TRUE(Key::make("a/b//c/"));
}

TEST(PathRules, Segments) {
  for (const char* path :
       {"a", "a/b", "hall/section-a/seat-12", "a b/c", "\u00e9/\u00e8", ".", ".."}) {
    EXPECT_TRUE(Path::make(path)) << path;
  }
  for (const char* path : {"", "/", "/a", "a/", "a//b", "//", "a/b/"}) {
    EXPECT_FALSE(Path::make(path)) << path;
  }
}

TEST(PathRules, Lengths) {
  EXPECT_TRUE(Path::make(std::string(200, 'p')));
  EXPECT_FALSE(Path::make(std::string(201, 'p')));
  EXPECT_FALSE(Path::make(std::string(300, 'p')));
  std::string deep = "a";
  while (deep.size() < 199) deep += "/a";
  EXPECT_EQ(deep.size(), 199u);
  EXPECT_TRUE(Path::make(deep));
  EXPECT_FALSE(Path::make(deep + "/a"));
}

TEST(PathRules, BytesAreCompared) {
  EXPECT_NE(Path::make("caf\u00e9"), Path::make("cafe\u0301"));
  EXPECT_NE(Path::make("A"), Path::make("a"));
  EXPECT_EQ(Path::make("a/b")->view(), "a/b");
}

TEST(PathRules, Tree) {
  EXPECT_EQ(parent_of("a/b/c"), "a/b");
  EXPECT_EQ(parent_of("a"), "");
  EXPECT_TRUE(at_or_below("a", "a"));
  EXPECT_TRUE(at_or_below("a/b", "a"));
  EXPECT_TRUE(at_or_below("a/b", ""));
  EXPECT_FALSE(at_or_below("ab", "a"));
  EXPECT_FALSE(at_or_below("a", "a/b"));
  EXPECT_FALSE(at_or_below("b/a", "a"));
}

TEST(NoteRules, Rows) {
  EXPECT_TRUE(Note::make(""));
  EXPECT_TRUE(Note::make("two\nlines\tand a \u00e9"));
  EXPECT_TRUE(Note::make(std::string(4096, 'n')));
  EXPECT_FALSE(Note::make(std::string(4097, 'n')));
  EXPECT_FALSE(Note::make("a\0b"s));
  EXPECT_FALSE(Note::make("\xff"));
}

}  // namespace
}  // namespace holdfast
