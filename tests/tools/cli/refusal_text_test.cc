#include "tools/cli/refusal_text.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include "api/text/fields.h"
#include "api/text/json.h"

namespace holdfast::cli {
namespace {

std::string text(std::string_view json) {
  capnp::MallocMessageBuilder message;
  auto refusal = message.initRoot<wire::Refusal>();
  const auto done = api::from_json(json, refusal);
  EXPECT_TRUE(done) << done.error().text();
  return refusal_text(refusal.asReader());
}

TEST(RefusalText, SaysSomethingForEveryReason) {
  for (const auto reason : capnp::Schema::from<wire::Reason>().getEnumerants()) {
    const std::string name = api::snake_case(reason.getProto().getName().cStr());
    const std::string said = text(R"({"reason":")" + name + "\"}");
    EXPECT_EQ(said.substr(0, name.size()), name);
    EXPECT_GT(said.size(), name.size() + 10) << said;
    EXPECT_EQ(said.find(std::to_string(wire::NONE)), std::string::npos) << said;
  }
}

TEST(RefusalText, OfAConflict) {
  EXPECT_EQ(text(R"({"reason":"conflict","available":0,"capacity":1,
                     "blockers":[{"key":"h1","holder":"ann","state":"held","expires_at":60000}],
                     "retry_at":60000})"),
            "conflict: 0 of 1 units free; h1 (held by ann until 1970-01-01T00:01:00Z) stands in "
            "the way; enough units lapse at 1970-01-01T00:01:00Z: try again then");
  EXPECT_EQ(text(R"({"reason":"conflict","available":1,"capacity":3,
                     "blockers":[{"key":"a","state":"committed","holder":"x","until":1000},
                                 {"key":"b","state":"committed"}]})"),
            "conflict: 1 of 3 units free; a (booked by x, until 1970-01-01T00:00:01Z), b (booked) "
            "stand in the way; no expiry will free enough: choose another span or resource");
}

TEST(RefusalText, NamesItsFields) {
  EXPECT_EQ(text(R"({"reason":"stale_version","current":9})").substr(0, 50),
            "stale_version: the claim's version is 9 by now: `h");
  EXPECT_EQ(text(R"({"reason":"terminal","state":"stolen"})"),
            "terminal: the claim is over (stolen), for good: use a new key");
  EXPECT_EQ(text(R"({"reason":"closed","path":"hall"})"),
            "closed: hall is closed: choose another resource, or `holdfast open` it");
  EXPECT_EQ(text(R"({"reason":"blocked","path":"hall"})"),
            "blocked: the span meets a blocked one of hall: choose another span, or `holdfast "
            "unblock` it");
  EXPECT_EQ(text(R"({"reason":"holder_limit","path":"bikes","limit":2})"),
            "holder_limit: the holder would have more than 2 units at bikes and below: end another "
            "claim of theirs first (`holdfast claims bikes --holder ...`)");
  EXPECT_EQ(text(R"({"reason":"extension_limit","limit":1})"),
            "extension_limit: the hold has been extended once, as often as it may be: commit it in "
            "time, or hold anew when it is over");
  EXPECT_EQ(text(R"({"reason":"extension_limit","limit":3})").substr(0, 52),
            "extension_limit: the hold has been extended 3 times,");
  EXPECT_EQ(text(R"({"reason":"expired","expires_at":0,"now":1000})"),
            "expired: the hold ended at 1970-01-01T00:00:00Z, now it is 1970-01-01T00:00:01Z: "
            "hold anew");
}

TEST(RefusalText, OfLimits) {
  const auto beyond = [](const std::string& name, const std::string& max) {
    return text(R"({"reason":"limit","name":")" + name + R"(","max":)" + max + "}");
  };
  // Of a transaction of nothing too.
  EXPECT_EQ(beyond("positions", "1000"),
            "limit: a transaction has 1 to 1000 commands, a hold-any of n counting as n");
  EXPECT_EQ(beyond("depth", "1"),
            "limit: a transaction cannot have another in it: write its commands out, or send them "
            "apart");
  EXPECT_EQ(beyond("n", "1000"), "limit: a hold-any holds at most 1000 resources");
  EXPECT_EQ(beyond("limit", "1000"), "limit: --limit must be 1 to 1000");
  EXPECT_EQ(beyond("hours", "10000"),
            "limit: a resource can have at most 10000 open spans: `holdfast unhours` some of them "
            "first");
  EXPECT_EQ(beyond("blocked", "10000"),
            "limit: a resource can have at most 10000 blocked spans: `holdfast unblock` some of "
            "them first");
  EXPECT_EQ(beyond("attributes", "32"), "limit: a resource can have at most 32 attributes");
  EXPECT_EQ(beyond("max_ttl", "604800000"), "limit: max_ttl can be at most 7d");
  EXPECT_EQ(beyond("pieces", "9"), "limit: pieces can be at most 9");
}

TEST(RefusalText, OfChecks) {
  const auto failed = [](const std::string& what, const std::string& actual) {
    const std::string said =
        text(R"({"reason":"check_failed","what":")" + what + R"(","actual":")" + actual + "\"}");
    return said.substr(std::string("check_failed: ").size());
  };
  EXPECT_EQ(failed("open", "closed"), "the resource is not open: it is closed");
  EXPECT_EQ(failed("free", "1"), "fewer units are free than asked for: 1");
  EXPECT_EQ(failed("live", "expired"), "the claim is not live: it is expired");
  EXPECT_EQ(failed("version", "7"), "the claim has another version: 7");
  EXPECT_EQ(failed("attr.station", "18"), "attr.station is 18, not what was said");
  EXPECT_EQ(failed("attr.station", "none"), "the resource has no attr.station");
  EXPECT_EQ(failed("attr.station", "unknown"),
            "attr.station is not there: nobody defined the resource");
}

}  // namespace
}  // namespace holdfast::cli
