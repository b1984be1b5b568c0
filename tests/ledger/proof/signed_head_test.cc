#include "ledger/proof/signed_head.h"

#include <gtest/gtest.h>

#include "ledger/proof/text_bytes.h"
#include "ledger/store/sha256.h"

namespace holdfast::proof {
namespace {

class SignedHeadTest : public ::testing::Test {
 protected:
  SignedHeadTest() {
    head_.ledger = *fixed<16>(from_hex("8976832936fcbcd5da90641b26fef354"));
    head_.size = 500'000;
    head_.root = store::sha256("root");
    head_.at = {1'796'115'706'000};
  }
  VerifierKey verifier() const { return {head_.ledger, key_.public_key()}; }

  SigningKey key_ = SigningKey::generate();
  Head head_;
};

TEST_F(SignedHeadTest, ItsTextIsACheckpoint) {
  head_.paths = PathsRoot{1'042, store::sha256("paths")};
  const std::string note = sign_head(head_, key_);
  const std::string text = "holdfast/8976832936fcbcd5da90641b26fef354\n500000\n" +
                           to_base64(store::sha256("root")) + "\nat 1796115706000\npaths 1042 " +
                           to_base64(store::sha256("paths")) + "\n";
  ASSERT_TRUE(note.starts_with(text + "\n\xe2\x80\x94 holdfast/8976832936fcbcd5da90641b26fef354 "));
  // C2SP signed-note: four bytes of SHA-256(name || 0x0A || 0x01 || key), then the signature.
  const std::size_t at = note.rfind(' ') + 1;
  const auto bytes = from_base64(std::string_view(note).substr(at, note.size() - at - 1));
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), 68u);
  const Digest name = store::sha256("holdfast/8976832936fcbcd5da90641b26fef354\n\x01" +
                                    std::string(chars_of(key_.public_key())));
  EXPECT_EQ(bytes->substr(0, 4), chars_of(name).substr(0, 4));
  EXPECT_TRUE(is_signed(text, *fixed<64>(bytes->substr(4)), key_.public_key()));
}

TEST_F(SignedHeadTest, IsReadByWhoHasTheKey) {
  EXPECT_EQ(read_signed_head(sign_head(head_, key_), verifier()), head_);
  head_.paths = PathsRoot{7, store::sha256("paths")};
  EXPECT_EQ(read_signed_head(sign_head(head_, key_), verifier()), head_);
  EXPECT_EQ(read_unchecked_head(sign_head(head_, key_)), head_);
}

TEST_F(SignedHeadTest, OfAnotherKeyOrLedgerIsSaidSo) {
  const std::string note = sign_head(head_, key_);
  EXPECT_EQ(read_signed_head(note, {head_.ledger, SigningKey::generate().public_key()}).error(),
            NoteFault::other_key);
  EXPECT_EQ(read_signed_head(note, {store::LedgerId{}, key_.public_key()}).error(),
            NoteFault::other_ledger);
}

TEST_F(SignedHeadTest, WhatIsSignedForOneLedgerIsNotAnothers) {
  const std::string note = sign_head(head_, key_);
  const store::LedgerId other{};
  const std::string mixed = sign_note(parse_note(note)->text, other, key_);
  EXPECT_EQ(read_signed_head(mixed, {other, key_.public_key()}).error(), NoteFault::malformed);
  EXPECT_FALSE(read_unchecked_head(mixed));
}

TEST_F(SignedHeadTest, NothingCanBeAddedToWhatIsSigned) {
  const std::string text(parse_note(sign_head(head_, key_))->text);
  ASSERT_TRUE(read_signed_head(sign_note(text, head_.ledger, key_), verifier()));
  for (const std::string more : {"\n", "more", "more\n", "paths 1\n"}) {
    EXPECT_FALSE(read_signed_head(sign_note(text + more, head_.ledger, key_), verifier())) << more;
  }
  EXPECT_FALSE(read_signed_head(sign_note("0" + text, head_.ledger, key_), verifier()));
  std::string padded = text;
  padded.insert(padded.find("500000"), "0");
  EXPECT_FALSE(read_signed_head(sign_note(padded, head_.ledger, key_), verifier()));
}

TEST_F(SignedHeadTest, NoByteOfItCanBeChanged) {
  head_.paths = PathsRoot{7, store::sha256("paths")};
  const std::string note = sign_head(head_, key_);
  for (std::size_t i = 0; i < note.size(); ++i) {
    std::string changed = note;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(read_signed_head(changed, verifier())) << i;
  }
  for (std::size_t size = 0; size < note.size(); ++size) {
    EXPECT_FALSE(read_signed_head(std::string_view(note).substr(0, size), verifier())) << size;
  }
  EXPECT_FALSE(read_signed_head(note + "\n", verifier()));
}

TEST_F(SignedHeadTest, AVerifierKeyIsReadAsItIsWritten) {
  const std::string text = to_text(verifier());
  EXPECT_EQ(parse_verifier_key(text), verifier());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const auto read = parse_verifier_key(changed);
    EXPECT_FALSE(read && *read == verifier()) << i;
  }
  EXPECT_FALSE(parse_verifier_key(""));
  EXPECT_FALSE(parse_verifier_key(text + "A"));
}

TEST_F(SignedHeadTest, AFileOfNotesIsDividedIntoThem) {
  const std::string one = sign_head(head_, key_);
  head_.size = 500'001;
  const std::string two = sign_head(head_, key_);
  EXPECT_EQ(split_notes(one + "\n" + two), (std::vector<std::string_view>{one, two}));
  EXPECT_EQ(split_notes(one), std::vector<std::string_view>{one});
  EXPECT_TRUE(split_notes("").empty());
  const std::string torn = two.substr(0, two.size() - 10);
  EXPECT_EQ(split_notes(one + "\n" + torn), (std::vector<std::string_view>{one, torn}));
}

}  // namespace
}  // namespace holdfast::proof
