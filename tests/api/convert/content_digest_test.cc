#include <gtest/gtest.h>

#include <map>

#include "api/convert_command.h"
#include "api/text/fields.h"
#include "api/text/words.h"
#include "tests/api/convert/wire_of.h"

namespace holdfast::api {
namespace {

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::byte byte : digest) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::string digest(std::string_view json) {
  return hex(content_digest(WireOf<wire::Command>(json).reader()));
}

constexpr const char* kHold =
    R"({"hold":{"resource":"room-1","key":"h1","from":0,"until":3600000,"holder":"ann",
        "ttl":60000},"request_id":"r1"})";

// Digests are in logs: these never change.
TEST(ContentDigest, Golden) {
  EXPECT_EQ(digest(kHold), "db7d8730a2c699ea3e59d5242315fa0b93c6090a0bf11e42dbb6f6aa00515f83");
  EXPECT_EQ(digest(R"({"close":{"resource":"room-1"}})"),
            "80baea8a6fe9893a79b2ce77a4092f20a853202ce9f56cfe5d28d1a7be4afba7");
}

TEST(ContentDigest, LeavesCorrelationOut) {
  WireOf<wire::Command> command(kHold);
  const Digest without = content_digest(command.reader());
  command.builder().setCorrelationId("trace-1");
  EXPECT_EQ(content_digest(command.reader()), without);
  command.builder().setReason("x");
  EXPECT_NE(content_digest(command.reader()), without);
}

TEST(ContentDigest, DoesNotSeeHowTheMessageLies) {
  const WireOf<wire::Command> command(kHold);
  const Digest expected = content_digest(command.reader());

  // In another order, with garbage between, in many segments.
  capnp::MallocMessageBuilder message(1, capnp::AllocationStrategy::FIXED_SIZE);
  auto other = message.initRoot<wire::Command>();
  other.setRequestId("r0");
  other.setRequestId("r1");
  auto hold = other.initHold();
  hold.setTtl(60'000);
  hold.setHolder("bob");
  hold.setHolder("ann");
  hold.setUntil(3'600'000);
  hold.setFrom(0);
  hold.setKey("h1");
  hold.setResource("room-1");
  EXPECT_EQ(content_digest(other), expected);

  // Canonical, with what is zero cut off.
  const auto words = capnp::AnyStruct::Reader(command.reader()).canonicalize();
  const kj::ArrayPtr<const capnp::word> segments[1] = {words.asPtr()};
  capnp::SegmentArrayMessageReader reader(segments);
  EXPECT_EQ(content_digest(reader.getRoot<wire::Command>()), expected);
}

// As a client sends it whose schema has more fields, none of which it gives.
TEST(ContentDigest, DoesNotSeeFieldsThatAreNotGiven) {
  const WireOf<wire::Command> command(kHold);
  capnp::MallocMessageBuilder message;
  const auto proto = capnp::Schema::from<wire::Command>().getProto().getStruct();
  auto larger = message.initRoot<capnp::AnyPointer>().initAsAnyStruct(
      static_cast<std::uint16_t>(proto.getDataWordCount() + 2),
      static_cast<std::uint16_t>(proto.getPointerCount() + 3));
  const capnp::AnyStruct::Reader source(command.reader());
  std::copy(source.getDataSection().begin(), source.getDataSection().end(),
            larger.getDataSection().begin());
  for (unsigned i = 0; i < source.getPointerSection().size(); ++i) {
    larger.getPointerSection()[i].set(source.getPointerSection()[i]);
  }
  EXPECT_EQ(content_digest(larger.asReader().as<wire::Command>()),
            content_digest(command.reader()));
  larger.getPointerSection()[proto.getPointerCount() + 1].setAs<capnp::Text>("given");
  EXPECT_NE(content_digest(larger.asReader().as<wire::Command>()),
            content_digest(command.reader()));
}

// A value of every field in turn, in every command: no two digests are equal.
TEST(ContentDigest, SeesEveryField) {
  std::map<std::string, std::string> seen;
  const auto add = [&](wire::Command::Reader command, const std::string& what) {
    const auto [at, fresh] = seen.try_emplace(hex(content_digest(command)), what);
    EXPECT_TRUE(fresh) << what << " equals " << at->second;
  };
  const auto text_of = [](const FieldText& field) -> std::string {
    if (field.kind == FieldKind::duration) return "7s";
    if (field.kind == FieldKind::instant) return "2026-01-01T00:00:00Z";
    return field.field.getType().isBool() ? "true" : "7";
  };
  for (const auto& member : fields_of(capnp::Schema::from<wire::Command>())) {
    const auto fresh = [&](capnp::MessageBuilder& message) {
      auto command = message.initRoot<wire::Command>();
      capnp::DynamicStruct::Builder(command).init(member.field);
      return command;
    };
    if (!member.in_union) continue;
    capnp::MallocMessageBuilder plain;
    add(fresh(plain), member.name);
    for (const auto& field : fields_of(member.field.getType().asStruct())) {
      capnp::MallocMessageBuilder message;
      auto command = fresh(message);
      auto inner =
          capnp::DynamicStruct::Builder(command).get(member.field).as<capnp::DynamicStruct>();
      if (field.pairs) {
        const std::vector<Pair> pairs{{"station", "17"}};
        set_pairs(inner, field, pairs);
      } else if (field.field.getType().isList()) {
        inner.init(field.field, 1);
      } else {
        const bool is_flag = field.field.getType().isEnum();
        ASSERT_TRUE(set_field(inner, field, is_flag ? "true" : text_of(field), {}));
      }
      add(command, member.name + "." + field.name);
    }
    for (const auto& field : fields_of(capnp::Schema::from<wire::Command>())) {
      if (field.in_union || field.name == "correlation_id") continue;
      capnp::MallocMessageBuilder message;
      auto command = fresh(message);
      ASSERT_TRUE(set_field(command, field, text_of(field), {}));
      add(command, member.name + " " + field.name);
    }
  }
  EXPECT_GT(seen.size(), 90u);
}

TEST(ContentDigest, TellsEmptyTextFromNone) {
  EXPECT_NE(digest(R"({"hold":{"resource":"r","label":""}})"),
            digest(R"({"hold":{"resource":"r"}})"));
}

}  // namespace
}  // namespace holdfast::api
