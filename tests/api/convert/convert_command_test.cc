#include "api/convert_command.h"

#include <gtest/gtest.h>

#include "ledger/domain/refusal.h"
#include "tests/api/convert/wire_of.h"

namespace holdfast::api {
namespace {

Submission submit(std::string_view json, bool is_operator = false) {
  return to_submission(WireOf<wire::Command>(json).reader(), caller(is_operator));
}

// "ok", or the reason with the fields that refusals of form have.
std::string judged(std::string_view json, bool is_operator = false) {
  const auto submission = submit(json, is_operator);
  if (submission) return "ok";
  const Refusal& refusal = submission.error();
  std::string text(reason_name(refusal.reason));
  if (!refusal.field.empty()) text += " " + refusal.field;
  if (!refusal.name.empty()) text += " " + refusal.name + " " + std::to_string(*refusal.max);
  return text;
}

TEST(ConvertCommand, HoldWithEverything) {
  const auto submission = submit(
      R"({"hold":{"resource":"hall/1","key":"k","from":1000,"until":2000,"quantity":2,
          "holder":"ann","cart":"c","label":"l","ttl":60000,"capacity":0},
          "request_id":"r","correlation_id":"x","reason":"why","on_behalf_of":"bob"})");
  ASSERT_TRUE(submission);
  const Asker& asker = submission->asker;
  EXPECT_EQ(asker.actor.view(), "desk");
  EXPECT_EQ(asker.source, "127.0.0.1:50000");
  EXPECT_EQ(asker.request_id->view(), "r");
  EXPECT_EQ(asker.correlation_id->view(), "x");
  EXPECT_EQ(asker.reason->view(), "why");
  EXPECT_EQ(asker.on_behalf_of->view(), "bob");
  EXPECT_TRUE(submission->content);
  const auto& hold = std::get<Hold>(submission->action);
  EXPECT_EQ(hold.resource.view(), "hall/1");
  EXPECT_EQ(hold.key->view(), "k");
  EXPECT_EQ(hold.span, (Span{{1000}, {2000}}));
  EXPECT_EQ(hold.quantity, Quantity{2});
  EXPECT_EQ(hold.holder->view(), "ann");
  EXPECT_EQ(hold.cart->view(), "c");
  EXPECT_EQ(hold.label->view(), "l");
  EXPECT_EQ(hold.expiry.ttl, kMinute);
  EXPECT_EQ(hold.expiry.expires_at, std::nullopt);
  EXPECT_EQ(hold.capacity, Quantity{0});
}

TEST(ConvertCommand, HoldWithNothing) {
  const auto submission = submit(R"({"hold":{"resource":"r"}})");
  ASSERT_TRUE(submission);
  const auto& hold = std::get<Hold>(submission->action);
  EXPECT_EQ(hold.quantity, Quantity{1});
  EXPECT_FALSE(hold.key || hold.span || hold.holder || hold.cart || hold.label || hold.capacity);
  EXPECT_FALSE(hold.expiry.ttl || hold.expiry.expires_at);
  EXPECT_FALSE(submission->asker.request_id || submission->asker.reason);
}

TEST(ConvertCommand, EveryOther) {
  const auto define = submit(
      R"({"define":{"resource":"r","capacity":3,"turnaround":5,"max_ttl":6,"default_ttl":7}})");
  const Definition definition{
      .capacity = {3}, .turnaround = {5}, .max_ttl = Duration{6}, .default_ttl = Duration{7}};
  EXPECT_EQ(std::get<Define>(define->action).definition, definition);
  const auto plain = submit(R"({"define":{"resource":"r"}})");
  EXPECT_EQ(std::get<Define>(plain->action).definition, Definition{});
  const auto change = submit(R"({"change":{"resource":"r","turnaround":0}})");
  EXPECT_EQ(std::get<Change>(change->action).change.turnaround, Duration{0});
  EXPECT_FALSE(std::get<Change>(change->action).change.capacity);
  EXPECT_EQ(std::get<Close>(submit(R"({"close":{"resource":"r"}})")->action).resource.view(), "r");
  EXPECT_EQ(std::get<Open>(submit(R"({"open":{"resource":"r"}})")->action).resource.view(), "r");
  EXPECT_FALSE(std::get<Retire>(submit(R"({"retire":{"resource":"r"}})")->action).force);

  const auto extend = submit(R"({"extend":{"key":"k","holder":"a","version":0,"expires_at":9,
                                 "shorten":true}})");
  EXPECT_EQ(std::get<Extend>(extend->action).version, Position{0});
  EXPECT_EQ(std::get<Extend>(extend->action).expiry.expires_at, Instant{9});
  EXPECT_TRUE(std::get<Extend>(extend->action).shorten);
  const auto release = submit(R"({"release":{"key":"k","holder":"a","version":-7}})");
  EXPECT_EQ(std::get<Release>(release->action).version, Position{0});
  EXPECT_FALSE(std::get<Release>(release->action).quantity);
  const auto commit = submit(R"({"commit":{"key":"k","holder":"a","quantity":4,"label":""}})");
  EXPECT_EQ(std::get<Commit>(commit->action).quantity, Quantity{4});
  EXPECT_EQ(std::get<Commit>(commit->action).label->view(), "");
  const auto cancel = submit(R"({"cancel":{"key":"k"}})", true);
  EXPECT_FALSE(std::get<Cancel>(cancel->action).holder);
  const auto steal = submit(R"({"steal":{"key":"k","from_holder":"a","new_key":"n"}})");
  EXPECT_EQ(std::get<Steal>(steal->action).from_holder.view(), "a");
  EXPECT_EQ(std::get<Steal>(steal->action).new_key->view(), "n");
}

TEST(ConvertCommand, EndlessTtlIsForTheLedgerToClamp) {
  const auto hold = submit(R"({"hold":{"resource":"r","ttl":9223372036854775807}})");
  EXPECT_EQ(std::get<Hold>(hold->action).expiry.ttl, Duration{kMaxInstant.ms});
}

// Every objection alone, each command.
TEST(ConvertCommand, ObjectionsOneByOne) {
  const std::string long_path(201, 'p');
  const std::string long_note(4097, 'n');
  const auto hold = [](const std::string& fields) {
    return judged(R"({"hold":{"resource":"r")" + fields + "}}");
  };
  EXPECT_EQ(judged(R"({"hold":{}})"), "bad_path");
  EXPECT_EQ(judged(R"({"hold":{"resource":""}})"), "bad_path");
  EXPECT_EQ(judged(R"({"hold":{"resource":"a//b"}})"), "bad_path");
  EXPECT_EQ(judged(R"({"hold":{"resource":")" + long_path + "\"}}"), "bad_path");
  EXPECT_EQ(judged(R"({"hold":{"resource":"a\u0000b"}})"), "bad_path");
  EXPECT_EQ(hold(R"(,"key":"")"), "bad_key");
  EXPECT_EQ(hold(R"(,"holder":"")"), "bad_text holder");
  EXPECT_EQ(hold(R"(,"cart":"a\n")"), "bad_text cart");
  EXPECT_EQ(hold(R"(,"label":")" + long_note + "\""), "bad_text label");
  EXPECT_EQ(hold(R"(,"label":"a\nb")"), "ok");
  EXPECT_EQ(hold(R"(,"from":5)"), "bad_span");
  EXPECT_EQ(hold(R"(,"until":5)"), "bad_span");
  EXPECT_EQ(hold(R"(,"from":5,"until":5)"), "bad_span");
  EXPECT_EQ(hold(R"(,"from":6,"until":5)"), "bad_span");
  EXPECT_EQ(hold(R"(,"from":-1,"until":5)"), "bad_span");
  EXPECT_EQ(hold(R"(,"from":0,"until":253402300799999)"), "ok");
  EXPECT_EQ(hold(R"(,"from":0,"until":253402300800000)"), "bad_span");
  for (const char* bad : {"0", "-1", "1000000001", "9223372036854775807"}) {
    EXPECT_EQ(hold(std::string(R"(,"quantity":)") + bad), "bad_quantity") << bad;
  }
  EXPECT_EQ(hold(R"(,"quantity":1000000000)"), "ok");
  EXPECT_EQ(hold(R"(,"capacity":-1)"), "bad_quantity");
  EXPECT_EQ(hold(R"(,"capacity":1000000001)"), "bad_quantity");
  EXPECT_EQ(hold(R"(,"ttl":0)"), "bad_ttl");
  EXPECT_EQ(hold(R"(,"ttl":-5000)"), "bad_ttl");
  EXPECT_EQ(hold(R"(,"ttl":5,"expires_at":5)"), "bad_ttl");
  EXPECT_EQ(hold(R"(,"expires_at":-1)"), "bad_ttl");
  EXPECT_EQ(hold(R"(,"expires_at":253402300800000)"), "bad_ttl");
}

TEST(ConvertCommand, ObjectionsToSettings) {
  for (const char* verb : {"define", "change"}) {
    const auto with = [&](const std::string& field) {
      return judged(std::string("{\"") + verb + R"(":{"resource":"r",)" + field + "}}");
    };
    EXPECT_EQ(with(R"("capacity":0)"), "bad_quantity");
    EXPECT_EQ(with(R"("capacity":1000000001)"), "bad_quantity");
    EXPECT_EQ(with(R"("turnaround":-1)"), "bad_ttl");
    EXPECT_EQ(with(R"("turnaround":31622400000)"), "ok");
    EXPECT_EQ(with(R"("turnaround":31622400001)"), "limit turnaround 31622400000");
    EXPECT_EQ(with(R"("max_ttl":0)"), "bad_ttl");
    EXPECT_EQ(with(R"("max_ttl":604800000)"), "ok");
    EXPECT_EQ(with(R"("max_ttl":604800001)"), "limit max_ttl 604800000");
    EXPECT_EQ(with(R"("default_ttl":0)"), "bad_ttl");
    EXPECT_EQ(with(R"("default_ttl":9223372036854775807)"), "limit default_ttl 31622400000");
    EXPECT_EQ(judged(std::string("{\"") + verb + "\":{}}"), "bad_path");
  }
}

TEST(ConvertCommand, ObjectionsToTheOthers) {
  EXPECT_EQ(judged(R"({"close":{}})"), "bad_path");
  EXPECT_EQ(judged(R"({"open":{"resource":"/"}})"), "bad_path");
  EXPECT_EQ(judged(R"({"retire":{"resource":"r","force":true}})"), "bad_text reason");
  EXPECT_EQ(judged(R"({"retire":{"resource":"r","force":true},"reason":""})"), "bad_text reason");
  EXPECT_EQ(judged(R"({"retire":{"resource":"r","force":true},"reason":"x"})"), "forbidden");
  EXPECT_EQ(judged(R"({"retire":{"resource":"r","force":true},"reason":"x"})", true), "ok");
  EXPECT_EQ(judged(R"({"retire":{"force":true}})"), "bad_path");
  for (const char* verb : {"extend", "release", "commit", "cancel"}) {
    const auto with = [&](const std::string& fields, bool is_operator = false) {
      return judged(std::string("{\"") + verb + "\":{" + fields + "}}", is_operator);
    };
    EXPECT_EQ(with(""), "bad_key");
    EXPECT_EQ(with(R"("key":"k")"), "bad_text holder");
    EXPECT_EQ(with(R"("key":"k")", true), "ok");
    EXPECT_EQ(with(R"("key":"k","holder":"")", true), "bad_text holder");
    EXPECT_EQ(with(R"("key":"k","holder":"a")"), "ok");
    if (std::string(verb) == "extend") continue;
    EXPECT_EQ(with(R"("key":"k","holder":"a","quantity":0)"), "bad_quantity");
    EXPECT_EQ(with(R"("key":"k","quantity":0)"), "bad_text holder");
  }
  EXPECT_EQ(judged(R"({"extend":{"key":"k","holder":"a","ttl":0}})"), "bad_ttl");
  EXPECT_EQ(judged(R"({"steal":{"key":"k"}})"), "bad_text from_holder");
  EXPECT_EQ(judged(R"({"steal":{"key":"k","from_holder":"a","new_key":""}})"), "bad_key");
  EXPECT_EQ(judged(R"({"steal":{"key":"k","from_holder":"a","holder":""}})"), "bad_text holder");
}

TEST(ConvertCommand, ObjectionsToWhatEveryCommandHas) {
  const auto with = [](const std::string& field) {
    return judged(R"({"open":{"resource":"r"},)" + field + "}");
  };
  EXPECT_EQ(with(R"("request_id":"")"), "bad_text request_id");
  EXPECT_EQ(with(R"("request_id":")" + std::string(64, 'r') + "\""), "ok");
  EXPECT_EQ(with(R"("request_id":")" + std::string(65, 'r') + "\""), "bad_text request_id");
  EXPECT_EQ(with(R"("correlation_id":"")"), "bad_text correlation_id");
  EXPECT_EQ(with(R"("on_behalf_of":"")"), "bad_text on_behalf_of");
  EXPECT_EQ(with(R"("reason":"\u0000")"), "bad_text reason");
}

// All objections at once, then without the first, and so on: the contract's order.
TEST(ConvertCommand, Precedence) {
  const auto define = [](const char* path, const char* request, int capacity, int turnaround) {
    return judged(std::string(R"({"define":{"resource":")") + path +
                  R"(","max_ttl":604800001,"capacity":)" + std::to_string(capacity) +
                  R"(,"turnaround":)" + std::to_string(turnaround) + R"(},"request_id":")" +
                  request + "\"}");
  };
  EXPECT_EQ(define("", "", 0, -1), "bad_path");
  EXPECT_EQ(define("r", "", 0, -1), "bad_text request_id");
  EXPECT_EQ(define("r", "q", 0, -1), "bad_quantity");
  EXPECT_EQ(define("r", "q", 1, -1), "bad_ttl");
  EXPECT_EQ(define("r", "q", 1, 0), "limit max_ttl 604800000");

  const auto hold = [](const char* path, const char* key, const char* cart, int until,
                       int quantity) {
    return judged(std::string(R"({"hold":{"ttl":0,"resource":")") + path + R"(","key":")" + key +
                  R"(","cart":")" + cart + R"(","from":5,"until":)" + std::to_string(until) +
                  R"(,"quantity":)" + std::to_string(quantity) + R"(},"reason":"\u0000"})");
  };
  EXPECT_EQ(hold("", "", "", 5, 0), "bad_path");
  EXPECT_EQ(hold("r", "", "", 5, 0), "bad_key");
  EXPECT_EQ(hold("r", "k", "", 5, 0), "bad_text cart");
  EXPECT_EQ(hold("r", "k", "c", 5, 0), "bad_text reason");
  EXPECT_EQ(judged(R"({"hold":{"resource":"r","from":5,"until":5,"quantity":0,"ttl":0}})"),
            "bad_span");
  EXPECT_EQ(judged(R"({"hold":{"resource":"r","quantity":0,"ttl":0}})"), "bad_quantity");
  EXPECT_EQ(judged(R"({"steal":{"key":"","ttl":0,"capacity":-1}})"), "bad_key");
  EXPECT_EQ(judged(R"({"steal":{"key":"k","ttl":0,"capacity":-1}})"), "bad_text from_holder");
  EXPECT_EQ(judged(R"({"steal":{"key":"k","from_holder":"a","ttl":0,"capacity":-1}})"),
            "bad_quantity");
}

TEST(ConvertCommand, BytesThatAreNotUtf8) {
  WireOf<wire::Command> command(R"({"hold":{"resource":"r"}})");
  command.builder().getHold().setResource("\xC3\x28");
  EXPECT_EQ(to_submission(command.reader(), caller(false)).error().reason, Reason::bad_path);
  command.builder().getHold().setResource("r");
  command.builder().getHold().setLabel("\xFF");
  EXPECT_EQ(to_submission(command.reader(), caller(false)).error().field, "label");
}

}  // namespace
}  // namespace holdfast::api
