#include "api/convert_query.h"

#include <gtest/gtest.h>

#include "tests/api/convert/wire_of.h"

namespace holdfast::api {
namespace {

using projections::StateFilter;

template <class Answer>
std::string judged(const tl::expected<Answer, Refusal>& answer) {
  if (answer) return "ok";
  std::string text(reason_name(answer.error().reason));
  return answer.error().field.empty() ? text : text + " " + answer.error().field;
}

auto claims(std::string_view json) {
  return to_query(WireOf<wire::ClaimsQuery>(json).reader(), caller(true));
}
auto availability(std::string_view json) {
  return to_query(WireOf<wire::AvailabilityQuery>(json).reader(), caller(true));
}
auto history(std::string_view json) {
  return to_query(WireOf<wire::HistoryQuery>(json).reader(), caller(true));
}

TEST(ConvertQuery, Claim) {
  EXPECT_EQ(to_query(WireOf<wire::ClaimQuery>(R"({"key":"h1"})").reader())->view(), "h1");
  EXPECT_EQ(judged(to_query(WireOf<wire::ClaimQuery>("{}").reader())), "bad_key");
}

TEST(ConvertQuery, Claims) {
  const auto all = claims("{}");
  EXPECT_EQ(all->state, StateFilter::live);
  EXPECT_EQ(all->limit, kMaxPage);
  EXPECT_EQ(all->resource + all->holder + all->cart + all->after_key, "");
  const auto some = claims(
      R"({"resource":"hall","holder":"ann","cart":"c","state":"stolen","limit":7,"cursor":"k"})");
  EXPECT_EQ(some->resource, "hall");
  EXPECT_EQ(some->holder, "ann");
  EXPECT_EQ(some->cart, "c");
  EXPECT_EQ(some->state, StateFilter::stolen);
  EXPECT_EQ(some->after_key, "k");
  EXPECT_EQ(some->limit, 7u);
  EXPECT_EQ(claims(R"({"limit":4294967295})")->limit, kMaxPage);
  EXPECT_EQ(judged(claims(R"({"resource":"/"})")), "bad_path");
  EXPECT_EQ(judged(claims(R"({"holder":""})")), "bad_text holder");
  EXPECT_EQ(judged(claims(R"({"cart":""})")), "bad_text cart");
  EXPECT_EQ(judged(claims(R"({"cursor":""})")), "bad_text cursor");
}

TEST(ConvertQuery, Availability) {
  EXPECT_FALSE(availability(R"({"resource":"r"})")->window);
  const auto window =
      availability(R"({"resource":"r","from":1,"until":5,"quantity":2,"duration":3})")->window;
  EXPECT_EQ(window->resource.view(), "r");
  EXPECT_EQ(window->window, (Span{{1}, {5}}));
  EXPECT_EQ(window->quantity, Quantity{2});
  EXPECT_EQ(window->duration, Duration{3});
  EXPECT_EQ(judged(availability("{}")), "bad_path");
  for (const char* bad :
       {R"("from":1)", R"("until":1)", R"("from":1,"until":1)", R"("from":2,"until":1)",
        R"("from":-1,"until":1)", R"("from":1,"until":253402300800000)", R"("quantity":1)",
        R"("duration":1)", R"("from":2,"until":1,"quantity":0)"}) {
    EXPECT_EQ(judged(availability(std::string(R"({"resource":"r",)") + bad + "}")), "bad_span")
        << bad;
  }
  EXPECT_EQ(
      judged(availability(R"({"resource":"r","from":1,"until":2,"quantity":0,"duration":0})")),
      "bad_quantity");
  EXPECT_EQ(judged(availability(R"({"resource":"r","from":1,"until":2,"duration":0})")), "bad_ttl");

  EXPECT_EQ(availability(R"({"resource":"r","from":1,"until":5})")->limit, kMaxPieces);
  EXPECT_EQ(availability(R"({"resource":"r","from":1,"until":5,"limit":3})")->limit, 3u);
  const auto rest = availability(
      (R"({"resource":"r","from":1,"until":5,"cursor":")" + cursor_at({{4}, {2}}) + "\"}").c_str());
  EXPECT_EQ(rest->window->window, (Span{{4}, {5}}));
  EXPECT_EQ(rest->window->run_from, Instant{2});
  for (const char* bad : {"", "3", "3/", "/3", "x/1", "3/1x", "5/1", "3/0", "2/3", "0/0"}) {
    EXPECT_EQ(judged(availability(
                  (std::string(R"({"resource":"r","from":1,"until":5,"cursor":")") + bad + "\"}")
                      .c_str())),
              "bad_text cursor")
        << bad;
  }
}

TEST(ConvertQuery, NextFree) {
  const auto next_free = [](std::string_view json) {
    return to_query(WireOf<wire::NextFreeQuery>(json).reader(), caller(true));
  };
  const auto from_now = next_free(R"({"resource":"r","duration":"1h","quantity":2})");
  EXPECT_EQ(from_now->at(Instant{5}).within, (Span{{5}, kMaxInstant}));
  EXPECT_EQ(from_now->duration, kHour);
  EXPECT_EQ(from_now->quantity, Quantity{2});
  EXPECT_EQ(next_free(R"({"resource":"r","duration":1,"from":7,"until":9})")->at(Instant{5}).within,
            (Span{{7}, {9}}));
  EXPECT_EQ(judged(next_free(R"({"resource":"","duration":1})")), "bad_path");
  EXPECT_EQ(judged(next_free(R"({"resource":"r","duration":1,"from":9,"until":9})")), "bad_span");
  EXPECT_EQ(judged(next_free(R"({"resource":"r","duration":1,"from":-1})")), "bad_span");
  EXPECT_EQ(judged(next_free(R"({"resource":"r","duration":1,"until":253402300800000})")),
            "bad_span");
  EXPECT_EQ(judged(next_free(R"({"resource":"r","duration":1,"quantity":0})")), "bad_quantity");
  EXPECT_EQ(judged(next_free(R"({"resource":"r","duration":0})")), "bad_ttl");
  EXPECT_EQ(judged(next_free(R"({"resource":"r"})")), "bad_ttl");
  EXPECT_TRUE(next_free(R"({"resource":"r","duration":9223372036854775807})"))
      << "longer than all of time: there is none";
}

TEST(ConvertQuery, Resources) {
  const auto resources = [](std::string_view json) {
    return to_query(WireOf<wire::ResourcesQuery>(json).reader(), caller(true));
  };
  EXPECT_EQ(resources("{}")->limit, kMaxPage);
  EXPECT_EQ(resources(R"({"limit":9999})")->limit, kMaxPage);
  const auto all = resources(R"({"resource":"r","from":1,"until":2,"quantity":3,"limit":4,
                                 "cursor":"r/1"})");
  EXPECT_EQ(all->resource + " " + all->after, "r r/1");
  EXPECT_EQ(all->span, (Span{{1}, {2}}));
  EXPECT_EQ(all->at_least, 3);
  EXPECT_EQ(all->limit, 4u);
  EXPECT_EQ(judged(resources(R"({"resource":"a//b"})")), "bad_path");
  EXPECT_EQ(judged(resources(R"({"cursor":"a//b"})")), "bad_text cursor");
  EXPECT_EQ(judged(resources(R"({"from":1})")), "bad_span");
  EXPECT_EQ(judged(resources(R"({"quantity":0})")), "bad_quantity");
}

TEST(ConvertQuery, HistoryTakesFiltersTogether) {
  EXPECT_EQ(history(R"({"resource":"r"})")->resource, "r");
  EXPECT_EQ(history(R"({"key":"k"})")->key, "k");
  EXPECT_EQ(history(R"({"holder":"h"})")->holder, "h");
  EXPECT_EQ(history(R"({"actor":"a"})")->actor, "a");
  const auto request = history(R"({"request_id":"q"})");
  EXPECT_EQ(request->actor + " " + request->request_id, "desk q");
  EXPECT_EQ(history(R"({"request_id":"q","actor":"a"})")->actor, "a");
  const auto several = history(
      R"({"resource":"r","holder":"h","type":"held","correlation_id":"c","from":5,"until":9,)"
      R"("effective_from":7})");
  ASSERT_TRUE(several);
  EXPECT_EQ(several->holder, "h");
  EXPECT_EQ(several->type, "held");
  EXPECT_EQ(several->correlation_id, "c");
  EXPECT_EQ(several->recorded, (Span{{5}, {9}}));
  EXPECT_EQ(several->effective, (Span{{7}, kMaxInstant}));
  EXPECT_EQ(judged(history(R"({"type":"holds"})")), "bad_text type");
  EXPECT_EQ(judged(history(R"({"correlation_id":""})")), "bad_text correlation_id");
  EXPECT_EQ(judged(history(R"({"from":9,"until":9})")), "bad_span");
  EXPECT_EQ(judged(history(R"({"effective_from":9,"effective_until":5})")), "bad_span");
  EXPECT_EQ(judged(history(R"({"resource":""})")), "bad_path");
  EXPECT_EQ(judged(history(R"({"key":""})")), "bad_key");
  EXPECT_EQ(judged(history(R"({"holder":""})")), "bad_text holder");
  EXPECT_EQ(judged(history(R"({"actor":""})")), "bad_text actor");
  EXPECT_EQ(judged(history(R"({"request_id":""})")), "bad_text request_id");
}

TEST(ConvertQuery, HistoryGoesOnBehindItsCursor) {
  const auto range = [](std::string_view json) {
    const auto query = history(json);
    return query ? std::to_string(query->from.value) + "-" + std::to_string(query->until.value)
                 : judged(query);
  };
  EXPECT_EQ(range("{}"), "1-0");
  EXPECT_EQ(range(R"({"from_position":3,"until_position":9})"), "3-9");
  EXPECT_EQ(range(R"({"cursor":"5"})"), "6-0");
  EXPECT_EQ(range(R"({"from_position":3,"until_position":9,"cursor":"5"})"), "6-9");
  EXPECT_EQ(range(R"({"newest_first":true,"cursor":"5"})"), "1-4");
  EXPECT_EQ(range(R"({"newest_first":true,"cursor":"5","until_position":3})"), "1-3");
  EXPECT_EQ(range(R"({"newest_first":true,"cursor":"1"})"), "bad_text cursor");
  EXPECT_EQ(range(R"({"until_position":9,"cursor":"9"})"), "bad_text cursor");
  EXPECT_EQ(range(R"({"cursor":"0"})"), "bad_text cursor");
  EXPECT_EQ(range(R"({"cursor":"x"})"), "bad_text cursor");
  EXPECT_EQ(range(R"({"cursor":"18446744073709551616"})"), "bad_text cursor");
  EXPECT_EQ(range(R"({"from_position":0})"), "bad_span");
  EXPECT_EQ(range(R"({"until_position":-1})"), "bad_span");
  EXPECT_EQ(range(R"({"from_position":4,"until_position":3})"), "bad_span");
}

TEST(ConvertQuery, Points) {
  const auto point = [](std::string_view json) {
    return to_point(true, WireOf<wire::AsOf>(json).reader());
  };
  EXPECT_FALSE(to_point(false, {})->has_value());
  EXPECT_EQ((*point(R"({"position":4})"))->position, Position{4});
  EXPECT_EQ((*point(R"({"instant":0})"))->instant, Instant{0});
  for (const char* bad : {"{}", R"({"position":0})", R"({"position":-1})", R"({"instant":-1})",
                          R"({"instant":253402300800000})", R"({"position":1,"instant":1})"}) {
    EXPECT_EQ(judged(point(bad)), "bad_time") << bad;
  }
}

}  // namespace
}  // namespace holdfast::api
