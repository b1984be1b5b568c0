#include "api/text/line_writer.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include "api/holdfast.capnp.h"

// Its JSON is held against to_json() in json_round_trip_test.
namespace holdfast::api {
namespace {

// An attribute has two texts, and nothing else.
std::string csv_of(const std::string& name, const std::string& value) {
  capnp::MallocMessageBuilder message;
  auto attribute = message.initRoot<wire::Attribute>();
  attribute.setName(name.c_str());
  attribute.setValue(value.c_str());
  std::string line;
  LineWriter(capnp::Schema::from<wire::Attribute>()).append_csv(attribute.asReader(), line);
  return line;
}

TEST(LineWriter, CellsAreQuotedWhereTheyNeedIt) {
  EXPECT_EQ(csv_of("a b", "c;d"), "a b,c;d\r\n");
  EXPECT_EQ(csv_of("a,b", "say \"yes\""), "\"a,b\",\"say \"\"yes\"\"\"\r\n");
  EXPECT_EQ(csv_of("two\nlines", "x\ry"), "\"two\nlines\",\"x\ry\"\r\n");
  EXPECT_EQ(csv_of("Zo\xC3\xAB", ""), "Zo\xC3\xAB,\"\"\r\n");
}

TEST(LineWriter, TextThatCouldBeAFormulaIsNone) {
  EXPECT_EQ(csv_of("=1+1", "+49 30 1"), "'=1+1,'+49 30 1\r\n");
  EXPECT_EQ(csv_of("-1", "@SUM(A1)"), "'-1,'@SUM(A1)\r\n");
  EXPECT_EQ(csv_of("\tx", "\rx"), "'\tx,\"'\rx\"\r\n");
  EXPECT_EQ(csv_of("'", "a=1"), "'',a=1\r\n");
  EXPECT_EQ(csv_of("=HYPERLINK(\"http://x\",\"y\")", "x"),
            "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",x\r\n");
}

TEST(LineWriter, OfAnEvent) {
  capnp::MallocMessageBuilder message;
  auto event = message.initRoot<wire::Event>();
  event.setPosition(UINT64_MAX);
  event.setRecordedAt(1'767'225'600'007);
  event.setType("held");
  event.setResource("-room");
  event.setAvailable(-3);
  event.setTurnaround(90'000);
  event.setClamped(true);
  event.setContent(kj::arrayPtr(reinterpret_cast<const kj::byte*>("\x00\xAB"), 2));
  auto attribute = event.initAttributes(1)[0];
  attribute.setName("floor");
  attribute.setValue("3");
  const LineWriter writer(capnp::Schema::from<wire::Event>());
  std::string csv;
  writer.append_csv_header(csv);
  EXPECT_EQ(csv,
            "position,transaction,transaction_count,recorded_at,type,resource,key,"
            "previous_on_resource,previous_of_claim,actor,request_id,correlation_id,content,holder,"
            "cart,label,on_behalf_of,reason,source,from,until,quantity,remaining,let_go,expires_at,"
            "due,capacity,turnaround,max_ttl,default_ttl,stolen_from,stolen_by,clamped,forced,"
            "available,step,to,previous_on_to,bound,parts,holder_limit,extension_limit,"
            "max_hold_time,attributes,window,window_added\r\n");
  csv.clear();
  writer.append_csv(event.asReader(), csv);
  // Numbers stay numbers, below zero too.
  EXPECT_EQ(csv,
            "18446744073709551615,0,0,2026-01-01T00:00:00.007Z,held,'-room,,0,0,,,,00ab,,,,,,,,,,,,"
            ",,,90000,,,,,true,false,-3,,,,,,,,,\"[{\"\"name\"\":\"\"floor\"\","
            "\"\"value\"\":\"\"3\"\"}]\",,\r\n");
}

TEST(LineWriter, AStructThatHasNoLineIsRefused) {
  EXPECT_THROW(LineWriter(capnp::Schema::from<wire::Request>()), kj::Exception);
}

}  // namespace
}  // namespace holdfast::api
