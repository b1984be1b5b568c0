#include "api/text/words.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include "api/text/json.h"

namespace holdfast::api {
namespace {

const TimeBase kScenario{Instant{1'767'225'600'000}};

std::vector<Word> split(std::string_view line) {
  auto words = split_words(line);
  EXPECT_TRUE(words) << words.error().what;
  return words.value_or(std::vector<Word>{});
}

// The struct a line makes, as JSON; or what is wrong with it.
template <class Root>
std::string read(std::string_view line, const TimeBase& base = kScenario) {
  auto words = split(line);
  const std::string verb = words.front().value;
  words.erase(words.begin());
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<Root>();
  const auto done = fill_from_words(verb, words, root, base);
  if (!done) return (done.error().bad_time ? "bad_time: " : "error: ") + done.error().what;
  return boost::json::serialize(to_json(root.asReader()));
}

std::string command(std::string_view line, const TimeBase& base = kScenario) {
  return read<wire::Command>(line, base);
}
std::string query(std::string_view line) { return read<wire::Query>(line); }

TEST(SplitWords, TakesQuotesAndCommentsOff) {
  EXPECT_EQ(split(""), std::vector<Word>{});
  EXPECT_EQ(split("  # all of it"), std::vector<Word>{});
  EXPECT_EQ(split("a  b=c\t# d"), (std::vector<Word>{{{}, "a"}, {"b", "c"}}));
  EXPECT_EQ(split(R"(label="order 17 \u00e9 # = \"" x)"),
            (std::vector<Word>{{"label", "order 17 \xC3\xA9 # = \""}, {{}, "x"}}));
  EXPECT_EQ(split(R"("a=b c" d=)"), (std::vector<Word>{{{}, "a=b c"}, {"d", ""}}));
  EXPECT_EQ(split("=> ok"), (std::vector<Word>{{{}, "=>"}, {{}, "ok"}}));
  EXPECT_EQ(split("a=b=c a#b\r"), (std::vector<Word>{{"a", "b=c"}, {{}, "a#b"}}));
}

TEST(SplitWords, RefusesBadQuotes) {
  for (const char* line : {"\"", "a=\"b", "\"a\"b", R"("\q")", "\"\\", "a=\"\x01\"", "\"\xFF\""}) {
    EXPECT_FALSE(split_words(line)) << line;
  }
}

TEST(Words, MakeCommands) {
  EXPECT_EQ(command("hold room-1 key=h1 holder=ann from=10h until=11h ttl=60s"),
            R"({"hold":{"resource":"room-1","key":"h1","from":"2026-01-01T10:00:00Z",)"
            R"("until":"2026-01-01T11:00:00Z","holder":"ann","ttl":60000}})");
  EXPECT_EQ(command("extend h1 holder=ann expires=2m version=2 shorten=true"),
            R"({"extend":{"key":"h1","holder":"ann","version":2,)"
            R"("expires_at":"2026-01-01T00:02:00Z","shorten":true}})");
  EXPECT_EQ(command("retire room-1 force=true reason=gone request=r1 on-behalf-of=bob"),
            R"({"retire":{"resource":"room-1","force":true},"request_id":"r1",)"
            R"("reason":"gone","on_behalf_of":"bob"})");
  EXPECT_EQ(command("define room-1 capacity=1 turnaround=30m max_ttl=7d"),
            R"({"define":{"resource":"room-1","capacity":1,"turnaround":1800000,)"
            R"("max_ttl":604800000}})");
}

TEST(Words, OfASteal) {
  const std::string expected =
      R"({"steal":{"key":"h1","from_holder":"ann","new_key":"h3","holder":"bob",)"
      R"("force":false}})";
  EXPECT_EQ(command("steal h1 from-holder=ann holder=bob key=h3"), expected);
  EXPECT_EQ(command("steal h1 from_holder=ann holder=bob new-key=h3"), expected);
  EXPECT_EQ(command("steal key=h3 holder=bob from-holder=ann h1"), expected);
}

TEST(Words, TakeTheSchemasNamesToo) {
  EXPECT_EQ(command("hold r expires_at=1h"), command("hold r expires=1h"));
  EXPECT_EQ(command("open resource=r request-id=x"), command("open r request=x"));
}

TEST(Words, MakeQueries) {
  EXPECT_EQ(query("show h1 as-of=@4"), R"({"claim":{"key":"h1","as_of":"@4"}})");
  EXPECT_EQ(query("show h1 as-of=60s"), R"({"claim":{"key":"h1","as_of":"2026-01-01T00:01:00Z"}})");
  EXPECT_EQ(query("claims resource=room-1 state=released"),
            R"({"claims":{"resource":"room-1","state":"released","limit":0}})");
  EXPECT_EQ(query("history key=h1"), R"({"history":{"key":"h1","newest_first":false,"limit":0}})");
  EXPECT_EQ(query("availability room-1 from=9h until=12h quantity=1 duration=30m"),
            R"({"availability":{"resource":"room-1","from":"2026-01-01T09:00:00Z",)"
            R"("until":"2026-01-01T12:00:00Z","quantity":1,"duration":1800000,"limit":0}})");
  EXPECT_EQ(query("head"), R"({"head":{}})");
}

TEST(Words, LetTheLedgerRefuseNumbers) {
  EXPECT_EQ(command("hold r quantity=-1 ttl=-5s from=-1h capacity=0"),
            R"({"hold":{"resource":"r","from":"2025-12-31T23:00:00Z","quantity":-1,)"
            R"("ttl":-5000,"capacity":0}})");
}

TEST(Words, ThatCannotBe) {
  EXPECT_EQ(command("juggle r"), "error: 'juggle' is unknown");
  EXPECT_EQ(command("request r"), "error: 'request' is unknown");
  EXPECT_EQ(command("open r s"),
            "error: 's' has no place in open: write NAME=VALUE, with resource, request, "
            "correlation, reason, on-behalf-of");
  EXPECT_EQ(command("open r resource=s"), "error: resource is given twice");
  EXPECT_EQ(command("open r reason=a reason=b"), "error: reason is given twice");
  EXPECT_EQ(command("open r colour=red").substr(0, 24), "error: open has no 'colo");
  EXPECT_EQ(command("open r hold=red").substr(0, 24), "error: open has no 'hold");
  EXPECT_EQ(command("hold r quantity=2.5"), "error: quantity: '2.5' is not a whole number");
  EXPECT_EQ(command("hold r quantity="), "error: quantity: '' is not a whole number");
  EXPECT_EQ(command("hold r quantity=+1"), "error: quantity: '+1' is not a whole number");
  EXPECT_EQ(command("hold r quantity=9223372036854775808"),
            "error: quantity: is too large a number");
  EXPECT_EQ(command("hold r quantity=99999999999999999999").substr(0, 18), "error: quantity: '");
  EXPECT_EQ(command("hold r ttl=soon").substr(0, 18), "error: ttl: 'soon'");
  EXPECT_EQ(command("extend h shorten=yes"), "error: shorten: 'yes' is neither true nor false");
  EXPECT_EQ(query("claims state=lively"),
            "error: state: 'lively' is none of live, held, committed, released, expired, "
            "cancelled, stolen, all");
  EXPECT_EQ(query("claims limit=-1"), "error: limit: cannot be negative");
  EXPECT_EQ(query("show h1 as-of=@"), "error: as-of: '' is not a whole number behind '@'");
}

TEST(Words, BadTimeIsToldApart) {
  EXPECT_EQ(command("hold r from=2026-01-01T00:00:00 until=11h").substr(0, 15), "bad_time: from:");
  EXPECT_EQ(command("hold r expires=tomorrow").substr(0, 18), "bad_time: expires:");
  EXPECT_EQ(query("show h1 as-of=yesterday").substr(0, 16), "bad_time: as-of:");
  EXPECT_EQ(command("hold r from=10h until=11h", {}),
            "bad_time: from: '10h' is a duration, not an instant: an instant reads like "
            "2026-01-01T00:00:00Z");
}

}  // namespace
}  // namespace holdfast::api
