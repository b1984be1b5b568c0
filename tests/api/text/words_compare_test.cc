#include <capnp/message.h>
#include <gtest/gtest.h>

#include <memory>

#include "api/holdfast.capnp.h"
#include "api/text/words.h"

namespace holdfast::api {
namespace {

const TimeBase kScenario{Instant{1'767'225'600'000}};

class Answer : public testing::Test {
 protected:
  Answer() {
    accepted_.setAvailable(3);
    accepted_.setClamped(true);
    auto claim = accepted_.initClaim();
    claim.setKey("h1");
    claim.setVersion(2);
    claim.setExpiresAt(kScenario.t0->ms + 60'000);
    claim.setState(wire::ClaimState::HELD);
    refused_.setReason(wire::Reason::CONFLICT);
    refused_.initBlockers(2);
    refused_.getBlockers()[0].setKey("h1");
    refused_.getBlockers()[1].setKey("h2");
  }

  static bool equals(capnp::DynamicStruct::Reader from, std::string_view word,
                     std::string_view expected) {
    const auto same = field_equals(from, word, expected, kScenario);
    EXPECT_TRUE(same) << same.error().what;
    return same.value_or(false);
  }

  // Behind pointers: a message's destructor may throw, a fixture's may not.
  std::unique_ptr<capnp::MallocMessageBuilder> accepted_message_ =
      std::make_unique<capnp::MallocMessageBuilder>();
  wire::Accepted::Builder accepted_ = accepted_message_->initRoot<wire::Accepted>();
  std::unique_ptr<capnp::MallocMessageBuilder> refused_message_ =
      std::make_unique<capnp::MallocMessageBuilder>();
  wire::Refusal::Builder refused_ = refused_message_->initRoot<wire::Refusal>();
};

TEST_F(Answer, IsReadByWord) {
  const auto text = [&](std::string_view word) {
    return field_text(accepted_.asReader(), word, kScenario);
  };
  EXPECT_EQ(text("available"), "3");
  EXPECT_EQ(text("clamped"), "true");
  EXPECT_EQ(text("version"), "2");
  EXPECT_EQ(text("expires"), "60s");
  EXPECT_EQ(text("expires_at"), "60s");
  EXPECT_EQ(text("state"), "held");
  EXPECT_EQ(text("from"), std::nullopt);
  EXPECT_EQ(text("colour"), std::nullopt);
  EXPECT_EQ(field_text(refused_.asReader(), "blockers", kScenario), "h1,h2");
  EXPECT_EQ(field_text(accepted_.asReader(), "expires", {}), "2026-01-01T00:01:00Z");
}

TEST_F(Answer, IsComparedByValue) {
  EXPECT_TRUE(equals(accepted_.asReader(), "expires", "60s"));
  EXPECT_TRUE(equals(accepted_.asReader(), "expires", "1m"));
  EXPECT_TRUE(equals(accepted_.asReader(), "expires", "2026-01-01T01:01:00+01:00"));
  EXPECT_FALSE(equals(accepted_.asReader(), "expires", "61s"));
  EXPECT_TRUE(equals(accepted_.asReader(), "available", "3"));
  EXPECT_FALSE(equals(accepted_.asReader(), "available", "4"));
  EXPECT_TRUE(equals(accepted_.asReader(), "replayed", "false"));
  EXPECT_TRUE(equals(accepted_.asReader(), "state", "held"));
  EXPECT_TRUE(equals(refused_.asReader(), "blockers", "h1,h2"));
  EXPECT_FALSE(equals(refused_.asReader(), "blockers", "h1"));
}

TEST_F(Answer, NoneIsWhatIsNotGiven) {
  EXPECT_TRUE(equals(accepted_.asReader(), "from", "none"));
  EXPECT_TRUE(equals(accepted_.asReader(), "cart", "none"));
  EXPECT_FALSE(equals(accepted_.asReader(), "available", "none"));
  EXPECT_FALSE(equals(accepted_.asReader(), "from", "1h"));
  EXPECT_TRUE(equals(refused_.asReader(), "retry-at", "none"));
  EXPECT_FALSE(equals(refused_.asReader(), "blockers", "none"));
  refused_.initBlockers(0);
  EXPECT_TRUE(equals(refused_.asReader(), "blockers", "none"));

  capnp::MallocMessageBuilder message;
  const auto without_claim = message.initRoot<wire::Accepted>();
  EXPECT_TRUE(equals(without_claim.asReader(), "version", "none"));
  EXPECT_FALSE(equals(without_claim.asReader(), "version", "0"));
}

TEST_F(Answer, RefusesWhatCannotBeCompared) {
  EXPECT_FALSE(field_equals(accepted_.asReader(), "colour", "red", kScenario));
  EXPECT_FALSE(field_equals(accepted_.asReader(), "available", "many", kScenario));
  EXPECT_FALSE(field_equals(accepted_.asReader(), "expires", "soon", kScenario));
}

}  // namespace
}  // namespace holdfast::api
