#include "tools/cli/answer_text.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include "api/text/json.h"

namespace holdfast::cli {
namespace {

template <class Root, class Use>
auto with(std::string_view json, Use use) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<Root>();
  const auto done = api::from_json(json, root);
  EXPECT_TRUE(done) << done.error().text();
  return use(root.asReader());
}

template <class Root>
std::string row(Table table, std::string_view json) {
  testing::internal::CaptureStdout();
  with<Root>(json, [&](auto reader) { add_row(table, reader); });
  table.flush();
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

TEST(AnswerText, Accepted) {
  const auto text = [](std::string_view json) {
    return with<wire::Accepted>(json, [](auto reader) { return accepted_text(reader); });
  };
  EXPECT_EQ(text(R"({"first_position":2,"positions":1,"available":0,"clamped":true,
                     "claim":{"key":"h1","state":"held","expires_at":60000,"version":2}})"),
            "accepted: position 2\n"
            "key:       h1\n"
            "state:     held\n"
            "expires:   1970-01-01T00:01:00Z (earlier than asked for: the limit)\n"
            "version:   2\n"
            "available: 0 units left\n");
  EXPECT_EQ(text(R"({"changed":false})"), "accepted: nothing to change\n");
  EXPECT_EQ(text(R"({"replayed":true})"), "accepted: replayed, nothing written\n");
  EXPECT_EQ(text(R"({"first_position":2,"positions":2,"replayed":true})"),
            "accepted: positions 2 to 3 (replayed: it was accepted before)\n");
}

TEST(AnswerText, ClaimRows) {
  EXPECT_EQ(row<wire::Claim>(claims_table(),
                             R"({"key":"h1","resource":"r","quantity":2,"holder":"ann",
                                 "state":"held","expires_at":60000,"version":7})"),
            "KEY  RESOURCE  FROM  UNTIL  UNITS  HOLDER  STATE  EXPIRES               VERSION\n"
            "h1   r                          2  ann     held   1970-01-01T00:01:00Z        7\n");
  const std::string booked =
      row<wire::Claim>(claims_table(), R"({"key":"h1","state":"committed","expires_at":60000})");
  EXPECT_EQ(booked.find("00:01:00Z"), std::string::npos) << booked;
}

TEST(AnswerText, HistoryRows) {
  EXPECT_EQ(row<wire::Event>(history_table(),
                             R"({"position":2,"recorded_at":0,"type":"held","resource":"r",
                                 "key":"h1","actor":"desk","holder":"ann","quantity":1,
                                 "expires_at":60000,"clamped":true,"label":"a\nb",
                                 "content":"00ff","available":0})"),
            "POSITION  RECORDED              TYPE  RESOURCE  KEY  ACTOR  DETAIL\n"
            "       2  1970-01-01T00:00:00Z  held  r         h1   desk   holder=ann label=a\\nb "
            "quantity=1 expires=1970-01-01T00:01:00Z clamped=true available=0\n");
}

std::string history_detail(std::string_view json) {
  const std::string line = row<wire::Event>(history_table(), json);
  const auto begin = line.rfind("ACTOR  DETAIL\n");
  const std::string cells = line.substr(line.find('\n') + 1);
  EXPECT_NE(begin, std::string::npos);
  return cells.substr(cells.find("desk") + 4);
}

TEST(AnswerText, DetailsOfChangesAndMoves) {
  EXPECT_EQ(history_detail(R"({"type":"changed","resource":"r","actor":"desk","capacity":2,
                               "turnaround":0,"window":"hours","window_added":true,"from":0,
                               "until":1000})"),
            "   hours added from=1970-01-01T00:00:00Z until=1970-01-01T00:00:01Z\n");
  EXPECT_EQ(history_detail(R"({"type":"changed","resource":"r","actor":"desk","capacity":2,
                               "turnaround":0,"window":"blocked","from":0,"until":1000})"),
            "   blocked removed from=1970-01-01T00:00:00Z until=1970-01-01T00:00:01Z\n");
  EXPECT_EQ(history_detail(R"({"type":"changed","resource":"r","actor":"desk","capacity":2,
                               "turnaround":0,"parts":true,"step":3,
                               "attributes":[{"name":"station","value":"17"},
                                             {"name":"door","value":"a b"}]})"),
            "   capacity=2 turnaround=0s parts=true attr.station=17 attr.door=a b\n");
  EXPECT_EQ(history_detail(R"({"type":"moved","resource":"r","actor":"desk","to":"s",
                               "previous_on_to":7,"holder":"ann"})"),
            "   holder=ann to=s\n");
}

TEST(AnswerText, OfManyClaimsATable) {
  testing::internal::CaptureStdout();
  with<wire::Accepted>(R"({"first_position":3,"positions":2,"parts":[
                           {"claim":{"key":"g/1","resource":"a","state":"held"}},
                           {"parts":[{"claim":{"key":"g/2","resource":"b","state":"held"}}]},
                           {"changed":false}]})",
                       [](auto reader) { print_accepted(reader); });
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "accepted: positions 3 to 4\n"
            "KEY  RESOURCE  FROM  UNTIL  UNITS  HOLDER  STATE  EXPIRES  VERSION\n"
            "g/1  a                                     held                  0\n"
            "g/2  b                                     held                  0\n");
}

TEST(AnswerText, Resources) {
  EXPECT_EQ(row<wire::ResourceState>(
                resources_table(),
                R"({"resource":"hall/a","free":0,"capacity":2,"claims":1,"closed":true,
                    "turnaround":1800000,"holder_limit":3,"blocked":2,
                    "attributes":[{"name":"station","value":"17"}]})"),
            "RESOURCE  FREE  CAPACITY  CLAIMS  DETAIL\n"
            "hall/a       0         2       1  closed=true holder-limit=3 attr.station=17 "
            "turnaround=30m blocked=2\n");
  EXPECT_EQ(row<wire::ResourceState>(resources_table(),
                                     R"({"resource":"r","free":1,"capacity":1,"claims":0})"),
            "RESOURCE  FREE  CAPACITY  CLAIMS  DETAIL\n"
            "r            1         1       0\n");
}

TEST(AnswerText, Pieces) {
  EXPECT_EQ(row<wire::FreePiece>(pieces_table(), R"({"from":0,"until":1000,"free":12})"),
            "FROM                  UNTIL                 FREE\n"
            "1970-01-01T00:00:00Z  1970-01-01T00:00:01Z    12\n");
}

TEST(AnswerText, LinesOfAHead) {
  const auto lines =
      with<wire::HeadAnswer>(R"({"ledger_id":"00ff","size":3,"now":0,"importing":true})",
                             [](auto reader) { return lines_of(reader); });
  EXPECT_EQ(lines.at(0), (std::pair<std::string, std::string>("ledger-id", "00ff")));
  EXPECT_EQ(lines.at(1), (std::pair<std::string, std::string>("size", "3")));
}

}  // namespace
}  // namespace holdfast::cli
