#include "api/text/json.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

namespace holdfast::api {
namespace {

std::string command_error(std::string_view text) {
  capnp::MallocMessageBuilder message;
  const auto done = from_json(text, message.initRoot<wire::Command>());
  return done ? "" : done.error().text();
}

TEST(Json, ReadsACommand) {
  capnp::MallocMessageBuilder message;
  auto command = message.initRoot<wire::Command>();
  const auto done = from_json(
      R"( {"hold": {"resource": "b\u00fcro/\ud83d\ude00", "from": "2026-01-01T01:00:00+01:00",
                   "until": 1767229200000, "ttl": "1m", "holder": ""}, "request_id": "r1"} )",
      command);
  ASSERT_TRUE(done) << done.error().text();
  const auto hold = command.getHold().asReader();
  EXPECT_EQ(std::string(hold.getResource().cStr()), "b\xC3\xBCro/\xF0\x9F\x98\x80");
  EXPECT_EQ(hold.getFrom(), 1'767'225'600'000);
  EXPECT_EQ(hold.getUntil(), 1'767'229'200'000);
  EXPECT_EQ(hold.getTtl(), 60'000);
  EXPECT_EQ(hold.getQuantity(), wire::NONE);
  EXPECT_TRUE(hold.hasHolder());
  EXPECT_FALSE(hold.hasKey());
  EXPECT_EQ(std::string(command.getRequestId().cStr()), "r1");
}

TEST(Json, WritesWhatIsGiven) {
  capnp::MallocMessageBuilder message;
  auto accepted = message.initRoot<wire::Outcome>().initAccepted();
  accepted.setFirstPosition(18'446'744'073'709'551'615u);
  auto claim = accepted.initClaim();
  claim.setKey("a\"\\\n");
  claim.setFrom(1'767'225'600'250);
  claim.setExpiresAt(-5);
  claim.setState(wire::ClaimState::COMMITTED);
  EXPECT_EQ(boost::json::serialize(to_json(message.getRoot<wire::Outcome>().asReader())),
            R"({"accepted":{"first_position":18446744073709551615,"positions":0,)"
            R"("claim":{"key":"a\"\\\n","from":"2026-01-01T00:00:00.250Z","state":"committed",)"
            R"("expires_at":-5,"version":0},"changed":true,"replayed":false,"clamped":false}})");
}

struct Bad {
  const char* json;
  const char* error;  // how it begins
};

const Bad kBad[] = {

    {"", "is not JSON: it ends too early"},
    {"{", "is not JSON: it ends too early"},
    {"{} {}", "is not JSON: there is more behind its end at byte 4"},
    {"{}", "needs one of define, change, close"},
    {"[]", "must be an object, not an array"},
    {"null", "must be an object, not null"},
    {"{'open': 1}", "is not JSON"},
    {R"({"open":{"resource":"r"},})", "is not JSON"},
    {R"({"open":{"resource":"r"}} // x)", "is not JSON: there is more"},
    {R"({"open":{"resource":"r"},"close":{"resource":"r"}})", "/close: cannot stand beside"},
    {R"({"open":{"resource":"r"},"open":{"resource":"r"}})", "/open: is there twice"},
    {R"({"open":{"resource":"r","resource":"r"}})", "/open/resource: is there twice"},
    {R"({"open":{"resource":"r","\u0072esource":"r"}})", "/open/resource: is there twice"},
    {R"({"open":{"Resource":"r"}})", "/open/Resource: is unknown"},
    {R"({"hold":{"fromHolder":"r"}})", "/hold/fromHolder: is unknown"},
    {R"({"hold":{"a/b~c":"r"}})", "/hold/a~1b~0c: is unknown"},
    {R"({"open":{"resource":1}})", "/open/resource: must be text, not a number"},
    {R"({"open":{"resource":null}})", "/open/resource: must be text, not null"},
    {R"({"open":"r"})", "/open: must be an object, not text"},
    {R"({"hold":{"quantity":1.0}})", "/hold/quantity: must be a whole number, not a number"},
    {R"({"hold":{"quantity":1e3}})", "/hold/quantity: must be a whole number"},
    {R"({"hold":{"quantity":"1"}})", "/hold/quantity: must be a whole number, not text"},
    {R"({"hold":{"quantity":true}})", "/hold/quantity: must be a whole number"},
    {R"({"hold":{"quantity":01}})", "is not JSON"},
    {R"({"hold":{"quantity":9223372036854775808}})", "/hold/quantity: is too large"},
    {R"({"hold":{"quantity":-9223372036854775808}})", "/hold/quantity: is too large"},
    {R"({"hold":{"quantity":99999999999999999999}})", "/hold/quantity: must be a whole"},
    {R"({"hold":{"from":"2026-01-01"}})", "/hold/from: '2026-01-01' has no time"},
    {R"({"hold":{"from":"2026-01-01T00:00:00"}})", "/hold/from: '2026-01-01T00:00:00' has no"},
    {R"({"hold":{"from":"10h"}})", "/hold/from: '10h' is not an instant"},
    {R"({"hold":{"from":1.5}})", "/hold/from: must be RFC 3339 text or whole"},
    {R"({"hold":{"ttl":"soon"}})", "/hold/ttl: 'soon' is not a duration"},
    {R"({"extend":{"shorten":1}})", "/extend/shorten: must be true or false, not a number"},
    {"{\"open\":{\"resource\":\"\xFF\"}}", "is not JSON"},
    {"{\"open\":{\"resource\":\"\xC0\x80\"}}", "is not JSON"},
    {"{\"open\":{\"resource\":\"\xED\xA0\x80\"}}", "is not JSON"},
    {"{\"open\":{\"resource\":\"a\nb\"}}", "is not JSON"},
    {R"({"open":{"resource":"\ud800"}})", "is not JSON"},
    {R"({"open":{"resource":"\udc00x"}})", "is not JSON"},
    {"\xEF\xBB\xBF{}", "is not JSON"}};

TEST(Json, RefusesBadCommandsWithTheirPlace) {
  for (const auto& [json, expected] : kBad) {
    const std::string error = command_error(json);
    EXPECT_EQ(error.substr(0, std::string(expected).size()), expected) << json;
  }
}

TEST(Json, NestingHasALimit) {
  EXPECT_EQ(command_error(std::string(100'000, '[')), "is nested deeper than 64 levels");
  EXPECT_EQ(command_error(std::string(64, '[') + std::string(64, ']')),
            "must be an object, not an array");
  EXPECT_EQ(command_error(std::string(65, '[') + std::string(65, ']')),
            "is nested deeper than 64 levels");
}

TEST(Json, DuplicatesDeepInsideNameTheirPlace) {
  EXPECT_EQ(command_error(R"({"x":[0,{"a":1,"b":{"c":1,"c":2}}]})"), "/x/1/b/c: is there twice");
}

TEST(Json, AsOfIsTextOrObject) {
  const auto read = [](std::string_view as_of) {
    capnp::MallocMessageBuilder message;
    auto query = message.initRoot<wire::Query>();
    const auto done =
        from_json(R"({"claim":{"key":"h1","as_of":)" + std::string(as_of) + "}}", query);
    if (!done) return done.error().text();
    return boost::json::serialize(to_json(query.getClaim().asReader()));
  };
  EXPECT_EQ(read(R"("@4")"), R"({"key":"h1","as_of":"@4"})");
  EXPECT_EQ(read(R"("2026-01-01T01:00:00+01:00")"),
            R"({"key":"h1","as_of":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(read(R"({"position":4})"), R"({"key":"h1","as_of":"@4"})");
  EXPECT_EQ(read(R"({"position":4,"instant":5})"),
            R"({"key":"h1","as_of":{"position":4,"instant":"1970-01-01T00:00:00.005Z"}})");
  EXPECT_EQ(read(R"("@x")"), "/claim/as_of: 'x' is not a whole number behind '@'");
  EXPECT_EQ(read(R"("10h")").substr(0, 23), "/claim/as_of: '10h' is ");
  EXPECT_EQ(read("4"), "/claim/as_of: must be an object, not a number");
}

TEST(Json, ImportLinesAreFlat) {
  const auto read = [](std::string_view text) {
    capnp::MallocMessageBuilder message;
    auto line = message.initRoot<wire::ImportLine>();
    const auto done = import_line_from_json(text, line);
    return done ? boost::json::serialize(to_json(line.asReader())) : done.error().text();
  };
  EXPECT_EQ(read(R"({"open":{"resource":"r"},"at":0,"reason":"x"})"),
            R"({"line":0,"at":"1970-01-01T00:00:00Z",)"
            R"("command":{"open":{"resource":"r"},"reason":"x"}})");
  EXPECT_EQ(read(R"({"open":{"resource":"r"}})"), "needs 'at', the command's instant");
  EXPECT_EQ(read(R"({"at":0})").substr(0, 13), "needs one of ");
  EXPECT_EQ(read(R"({"at":"x","open":{"resource":"r"}})").substr(0, 8), "/at: 'x'");
  EXPECT_EQ(read(R"({"at":0,"line":1,"open":{"resource":"r"}})"), "/line: is unknown");
  EXPECT_EQ(read("3"), "must be an object, not a number");
}

}  // namespace
}  // namespace holdfast::api
