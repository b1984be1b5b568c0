#include "ledger/access/record.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/ledger/store/golden_bytes.h"

namespace holdfast::access {
namespace {

store::LedgerId id_of(unsigned char byte) {
  store::LedgerId id{};
  id.fill(std::byte{byte});
  return id;
}

Record record_of(What what) {
  return {{7},
          {1'767'225'600'000},
          {.actor = "desk", .source = "10.0.0.7:4711", .ledger_position = {42}, .what = what}};
}

// Every type with as few and with as many fields as it can have.
std::vector<std::pair<std::string, Record>> samples() {
  const auto bare = [](What what) { return Record{{1}, {0}, {.what = std::move(what)}}; };
  return {
      {"asked-minimal", bare(Asked{})},
      {"asked-full", record_of(Asked{.kind = "query.history",
                                     .outcome = Outcome::refused,
                                     .reason = "bad_path",
                                     .items = 0,
                                     .request_bytes = 8,
                                     .request = "abcdefgh"})},
      {"refused-minimal", bare(Refused{})},
      {"refused-full", record_of(Refused{.command = "hold",
                                         .resource = "hall/a/1",
                                         .key = "k2",
                                         .request_id = "r1",
                                         .reason = "conflict",
                                         .path = "hall",
                                         .blocker = "k1",
                                         .in_the_way = {41},
                                         .step = 3})},
      {"dropped-minimal", bare(Dropped{})},
      {"dropped-full", record_of(Dropped{"query", {1'767'225'540'000}, 5'000'000'000})},
      {"started-minimal", bare(Started{})},
      {"started-full", record_of(Started{"0.1.0", id_of(0xab), "listen=127.0.0.1:7420"})},
      {"stopped-minimal", bare(Stopped{})},
      {"stopped-full", record_of(Stopped{})},
      {"configuration-changed-minimal", bare(ConfigurationChanged{})},
      {"configuration-changed-full", record_of(ConfigurationChanged{"tokens", "3 of 4 are new"})},
  };
}

TEST(AccessRecord, EveryTypeIsWrittenAsEver) {
  for (const auto& [name, record] : samples()) {
    golden::expect_as_ever("access/" + name, encode(record));
  }
}

TEST(AccessRecord, EveryTypeIsReadAsEver) {
  for (const auto& [name, record] : samples()) {
    const auto decoded = decode(golden::bytes_of("access/" + name));
    ASSERT_TRUE(decoded) << name << ": " << decoded.error();
    EXPECT_TRUE(*decoded == record) << name;
  }
}

TEST(AccessRecord, NoAnswerIsNoEmptyAnswer) {
  const auto none = decode(encode(record_of(Asked{.items = {}})));
  ASSERT_TRUE(none);
  EXPECT_EQ(std::get<Asked>(none->entry.what).items, std::nullopt);
}

TEST(AccessRecord, WhatIsNoRecordIsAnError) {
  EXPECT_FALSE(decode(""));
  EXPECT_FALSE(decode("1234567"));
  std::string bytes = encode(record_of(Stopped{}));
  EXPECT_FALSE(decode(bytes.substr(0, 16)));
  // A position of none.
  EXPECT_FALSE(decode(encode(Record{{0}, {0}, {.what = Stopped{}}})));
  EXPECT_FALSE(decode(encode(Record{{1}, {-1}, {.what = Stopped{}}})));
  // Any byte changed: an error or another record, never a crash.
  const std::string whole = encode(record_of(Refused{.command = "hold", .key = "k"}));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    (void)decode(changed);
  }
}

TEST(AccessRecord, TypesFormATree) {
  EXPECT_EQ(type_of(Asked{.kind = "query.claim"}), "query.claim");
  EXPECT_EQ(type_of(ConfigurationChanged{}), "configuration_changed");
  EXPECT_TRUE(is_of_type("query.claims", "query"));
  EXPECT_TRUE(is_of_type("query.claims", "query.claims"));
  EXPECT_TRUE(is_of_type("query.claims", ""));
  EXPECT_FALSE(is_of_type("query.claims", "query.claim"));
  EXPECT_FALSE(is_of_type("query", "query.claim"));
}

}  // namespace
}  // namespace holdfast::access
