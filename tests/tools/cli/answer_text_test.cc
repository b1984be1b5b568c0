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
