#include "ledger/proof/replay_statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/proof/signed_head.h"
#include "ledger/proof/text_bytes.h"
#include "ledger/store/sha256.h"

namespace holdfast::proof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReplayStatementTest : public ::testing::Test {
 protected:
  ReplayStatementTest() {
    statement_.ledger = *fixed<16>(from_hex("8976832936fcbcd5da90641b26fef354"));
    statement_.size = 12;
    statement_.root = store::sha256("root");
    statement_.program = "holdfast-replay 9.8.7";
    statement_.row_format = 5;
    statement_.projections = {{"live", 3, store::sha256("live")}, {"ended", 0, store::sha256("")}};
  }
  VerifierKey verifier() const { return {statement_.ledger, key_.public_key()}; }
  std::string note() const { return sign_statement(statement_, key_); }

  SigningKey key_ = SigningKey::generate();
  ReplayStatement statement_;
};

TEST_F(ReplayStatementTest, IsTextThatTheKeyHasSigned) {
  const std::string text =
      "holdfast statement 1\nledger 8976832936fcbcd5da90641b26fef354\nsize 12\nroot " +
      to_base64(statement_.root) + "\nprogram holdfast-replay 9.8.7\nrow-format 5\nlive 3 " +
      to_base64(store::sha256("live")) + "\nended 0 " + to_base64(store::sha256("")) + "\n";
  const auto parsed = parse_note(note());
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(is_signed(text, parsed->signature, key_.public_key()));
  EXPECT_EQ(note(), note()) << "the same bytes each time";
}

TEST_F(ReplayStatementTest, IsReadByWhoHasTheKey) {
  EXPECT_EQ(read_signed_statement(note(), verifier()), statement_);
  statement_.projections.clear();
  EXPECT_EQ(read_signed_statement(note(), verifier()), statement_);
}

TEST_F(ReplayStatementTest, OfAnotherKeyOrLedgerIsSaidSo) {
  const auto read = [&](const VerifierKey& key) {
    return read_signed_statement(note(), key).error();
  };
  EXPECT_EQ(read({statement_.ledger, SigningKey::generate().public_key()}), NoteFault::other_key);
  EXPECT_EQ(read({store::LedgerId{}, key_.public_key()}), NoteFault::other_ledger);
}

TEST_F(ReplayStatementTest, NoByteOfItCanBeChanged) {
  const std::string whole = note();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = changed[i] == '3' ? '4' : '3';
    EXPECT_FALSE(read_signed_statement(changed, verifier())) << changed;
    EXPECT_FALSE(read_signed_statement(whole.substr(0, i), verifier())) << i;
  }
}

TEST_F(ReplayStatementTest, WhatIsSignedForOneLedgerIsNotAnothers) {
  const std::string text(parse_note(note())->text);
  const store::LedgerId other{};
  EXPECT_EQ(read_signed_statement(sign_note(text, other, key_), {other, key_.public_key()}).error(),
            NoteFault::malformed);
}

TEST_F(ReplayStatementTest, NothingCanBeAddedToWhatIsSigned) {
  const std::string text(parse_note(note())->text);
  const auto read = [&](const std::string& said) {
    return read_signed_statement(sign_note(said, statement_.ledger, key_), verifier());
  };
  ASSERT_TRUE(read(text));
  for (const std::string more : {"\n", "more", "more\n", "more 1\n"}) {
    EXPECT_FALSE(read(text + more)) << more;
  }
  std::string padded = text;
  padded.insert(padded.find("size ") + 5, "0");
  EXPECT_FALSE(read(padded));
}

TEST_F(ReplayStatementTest, AHeadIsNoneAndItIsNoHead) {
  const std::string head =
      sign_head({statement_.ledger, statement_.size, statement_.root, {}}, key_);
  EXPECT_EQ(read_signed_statement(head, verifier()).error(), NoteFault::malformed);
  EXPECT_EQ(read_signed_head(note(), verifier()).error(), NoteFault::malformed);
}

TEST_F(ReplayStatementTest, OfTheSameRowsThereIsNoDifference) {
  ReplayStatement here = statement_;
  here.program = "holdfast-replay 10";
  EXPECT_THAT(differences(statement_, here), IsEmpty());
}

TEST_F(ReplayStatementTest, EveryProjectionThatDiffersIsNamed) {
  ReplayStatement here = statement_;
  here.projections[0].digest = store::sha256("other");
  here.projections[1].name = "new";
  const std::string nothing = to_base64(store::sha256(""));
  EXPECT_THAT(differences(statement_, here),
              ElementsAre("live: stated 3 rows, " + to_base64(store::sha256("live")) +
                              "; here 3 rows, " + to_base64(store::sha256("other")),
                          "ended: stated 0 rows, " + nothing + "; here no such projection",
                          "new: stated no such projection; here 0 rows, " + nothing));
  here = statement_;
  here.projections[0].rows = 4;
  EXPECT_EQ(differences(statement_, here).size(), 1u);
}

TEST_F(ReplayStatementTest, RowsOfAnotherFormatCannotBeCompared) {
  ReplayStatement here = statement_;
  here.row_format = 6;
  EXPECT_THAT(differences(statement_, here),
              ElementsAre("the projections of holdfast-replay 9.8.7 have row format 5, those of "
                          "this program 6: they cannot be compared"));
}

}  // namespace
}  // namespace holdfast::proof
