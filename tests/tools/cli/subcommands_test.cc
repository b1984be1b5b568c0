#include "tools/cli/subcommands.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>

#include "api/text/json.h"

namespace holdfast::cli {
namespace {

template <class Root>
std::string parse(std::vector<std::string> arguments) {
  CLI::App app;
  const Subcommands subcommands(app, capnp::Schema::from<Root>(), "");
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return std::string("usage: ") + error.what();
  }
  if (!subcommands.chosen()) return "none";
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<Root>();
  if (const auto done = subcommands.fill(root); !done) {
    return (done.error().bad_time ? "bad_time: " : "error: ") + done.error().what;
  }
  return boost::json::serialize(api::to_json(root.asReader()));
}

TEST(Subcommands, FillCommands) {
  EXPECT_EQ(parse<wire::Command>({"hold", "room-1", "--key", "h1", "--from=2026-01-01T10:00:00Z",
                                  "--until", "2026-01-01T11:00:00Z", "--ttl", "-5s", "--quantity",
                                  "-1", "--request", "r"}),
            R"({"hold":{"resource":"room-1","key":"h1","from":"2026-01-01T10:00:00Z",)"
            R"("until":"2026-01-01T11:00:00Z","quantity":-1,"ttl":-5000},)"
            R"("request_id":"r"})");
  EXPECT_EQ(parse<wire::Command>({"retire", "--force", "--reason=gone", "r"}),
            R"({"retire":{"resource":"r","force":true},"reason":"gone"})");
  EXPECT_EQ(parse<wire::Command>(
                {"extend", "h1", "--shorten=false", "--expires-at", "2026-01-01T10:00:00Z"}),
            R"({"extend":{"key":"h1","expires_at":"2026-01-01T10:00:00Z","shorten":false}})");
  EXPECT_EQ(parse<wire::Command>({"open", "--resource", "r"}), R"({"open":{"resource":"r"}})");
}

TEST(Subcommands, OfAStealTellTheKeysApart) {
  const std::string expected =
      R"({"steal":{"key":"h1","from_holder":"ann","new_key":"h3","force":false}})";
  EXPECT_EQ(parse<wire::Command>({"steal", "h1", "--from-holder", "ann", "--key", "h3"}), expected);
  EXPECT_EQ(parse<wire::Command>({"steal", "--new_key", "h3", "--from_holder", "ann", "h1"}),
            expected);
}

TEST(Subcommands, FillQueries) {
  EXPECT_EQ(parse<wire::Query>({"show", "h1", "--as-of", "@4"}),
            R"({"claim":{"key":"h1","as_of":"@4"}})");
  EXPECT_EQ(parse<wire::Query>({"claims", "--resource", "r", "--state", "released"}),
            R"({"claims":{"resource":"r","state":"released","limit":0}})");
  EXPECT_EQ(parse<wire::Query>({"head"}), R"({"head":{}})");
  EXPECT_EQ(parse<wire::Admin>({"confirm-clock"}), R"({"confirm_clock":{}})");
  EXPECT_EQ(parse<wire::Admin>({"sweep", "--limit", "5"}), R"({"sweep":{"limit":5}})");
}

TEST(Subcommands, SayWhatIsWrong) {
  EXPECT_EQ(parse<wire::Query>({}), "none");
  EXPECT_EQ(parse<wire::Command>({"open", "r", "s"}).substr(0, 6), "usage:");
  EXPECT_EQ(parse<wire::Command>({"open", "r", "--colour", "red"}).substr(0, 6), "usage:");
  EXPECT_EQ(parse<wire::Command>({"open", "r", "--reason", "a", "--reason", "b"}).substr(0, 6),
            "usage:");
  EXPECT_EQ(parse<wire::Command>({"hold", "r", "--quantity"}).substr(0, 6), "usage:");
  EXPECT_EQ(parse<wire::Command>({"hold", "r", "--quantity", "many"}),
            "error: quantity: 'many' is not a whole number");
  EXPECT_EQ(parse<wire::Command>({"hold", "r", "--from", "10h"}).substr(0, 14), "bad_time: from");
}

// Every field of every command and query has an option, and its help.
template <class Root>
void check_every_field() {
  CLI::App app;
  const Subcommands subcommands(app, capnp::Schema::from<Root>(), "");
  for (const auto& member : api::fields_of(capnp::Schema::from<Root>())) {
    if (!member.in_union) continue;
    EXPECT_FALSE(member.about.empty()) << member.name;
    for (const auto& field : api::fields_of(member.field.getType().asStruct())) {
      if (!field.in_words) continue;
      EXPECT_FALSE(field.about.empty()) << member.name << "." << field.name;
      const std::string type = field.pairs                              ? "name=7"
                               : field.name == "parts"                  ? "true"
                               : field.field.getType().isBool()         ? "true"
                               : field.kind == api::FieldKind::instant  ? "2026-01-01T10:00:00Z"
                               : field.kind == api::FieldKind::duration ? "7s"
                               : field.field.getType().isEnum()         ? "all"
                               : field.field.getType().isStruct()       ? "@7"
                                                                        : "7";
      const bool shadowed = api::find_word(member.field.getType().asStruct(), field.word) != &field;
      const std::string argument = shadowed ? type : "--" + field.word + "=" + type;
      const std::string filled = parse<Root>({member.word, argument});
      EXPECT_NE(filled.find("\"" + field.name + "\":"), std::string::npos) << filled;
    }
  }
}

TEST(Subcommands, HaveNoOptionThatNothingCanBeSaidWith) {
  EXPECT_EQ(parse<wire::Command>({"transact", "--request", "r"}),
            R"({"request_id":"r","transact":{}})");
  EXPECT_EQ(parse<wire::Command>({"transact", "--steps", "x"}).substr(0, 6), "usage:");
}

TEST(Subcommands, HaveEveryField) {
  check_every_field<wire::Command>();
  check_every_field<wire::Query>();
  check_every_field<wire::Admin>();
}

}  // namespace
}  // namespace holdfast::cli
