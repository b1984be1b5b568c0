#include <capnp/message.h>
#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include <random>

#include "api/text/fields.h"
#include "api/text/json.h"
#include "api/text/line_writer.h"

// Every struct of the schema with random values, to JSON and back.
namespace holdfast::api {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t n) {
    return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(engine_);
  }
  std::uint64_t bits(unsigned count) { return engine_() >> (64 - count) >> below(count); }
  // One of a few lengths, of all kinds of characters.
  std::string text() {
    static const std::vector<std::string> kPieces = {"a",
                                                     "/",
                                                     "\"",
                                                     "\\",
                                                     "\n",
                                                     std::string("\0", 1),
                                                     "\x7F",
                                                     "\xC3\xA9",
                                                     "\xE2\x82\xAC",
                                                     "\xF0\x9F\x98\x80",
                                                     " ",
                                                     "@4",
                                                     "none"};
    std::string text;
    for (auto left = below(6); left > 0; --left) text += kPieces[below(kPieces.size())];
    return text;
  }

  capnp::DynamicEnum any_of(capnp::EnumSchema schema) {
    const auto all = schema.getEnumerants();
    return {all[static_cast<unsigned>(below(all.size()))]};
  }

  void fill(capnp::DynamicStruct::Builder into, int depth);

 private:
  void set(capnp::DynamicStruct::Builder into, const FieldText& field, int depth);
  void set_list(capnp::DynamicStruct::Builder into, const FieldText& field, int depth);
  std::mt19937_64 engine_;
};

void Random::fill(capnp::DynamicStruct::Builder into, int depth) {
  std::vector<const FieldText*> choices;
  for (const auto& field : fields_of(into.getSchema())) {
    if (field.in_union) {
      choices.push_back(&field);
    } else if (below(3) != 0) {
      set(into, field, depth);
    }
  }
  if (!choices.empty()) set(into, *choices[below(choices.size())], depth);
}

void Random::set_list(capnp::DynamicStruct::Builder into, const FieldText& field, int depth) {
  const auto count = static_cast<unsigned>(below(depth < 6 ? 3 : 1));
  auto list = into.init(field.field, count).as<capnp::DynamicList>();
  for (unsigned i = 0; i < count; ++i) {
    const capnp::Type type = list.getSchema().getElementType();
    const std::string value = text();
    if (type.isStruct()) {
      fill(list[i].as<capnp::DynamicStruct>(), depth + 1);
    } else if (type.isUInt64()) {
      list.set(i, bits(64));
    } else if (type.isData()) {
      list.set(i,
               capnp::Data::Reader(reinterpret_cast<const kj::byte*>(value.data()), value.size()));
    } else {
      list.set(i, capnp::Text::Reader(value.c_str(), value.size()));
    }
  }
}

void Random::set(capnp::DynamicStruct::Builder into, const FieldText& field, int depth) {
  const auto type = field.field.getType();
  switch (type.which()) {
    case capnp::schema::Type::VOID:
      into.set(field.field, capnp::VOID);
      return;
    case capnp::schema::Type::BOOL:
      into.set(field.field, below(2) == 1);
      return;
    case capnp::schema::Type::UINT16:
      into.set(field.field, bits(16));
      return;
    case capnp::schema::Type::UINT32:
      into.set(field.field, bits(32));
      return;
    case capnp::schema::Type::UINT64:
      into.set(field.field, bits(64));
      return;
    case capnp::schema::Type::INT64: {
      const auto magnitude = static_cast<std::int64_t>(bits(63));
      into.set(field.field, below(4) == 0 ? -magnitude : magnitude);
      return;
    }
    case capnp::schema::Type::ENUM:
      into.set(field.field, any_of(type.asEnum()));
      return;
    case capnp::schema::Type::TEXT: {
      const std::string value = text();
      into.set(field.field, capnp::Text::Reader(value.c_str(), value.size()));
      return;
    }
    case capnp::schema::Type::DATA: {
      const std::string value = text();
      into.set(field.field,
               capnp::Data::Reader(reinterpret_cast<const kj::byte*>(value.data()), value.size()));
      return;
    }
    case capnp::schema::Type::LIST:
      set_list(into, field, depth);
      return;
    case capnp::schema::Type::STRUCT:
      fill(into.init(field.field).as<capnp::DynamicStruct>(), depth + 1);
      return;
    default:
      FAIL() << field.name << " has a type that text does not know";
  }
}

template <class Struct>
class RoundTrip : public testing::Test {};

// Together they reach every struct of the schema.
using Roots = testing::Types<wire::Request, wire::Response, wire::Command, wire::Query, wire::Admin,
                             wire::Outcome, wire::Event, wire::Claim, wire::ImportLine>;
TYPED_TEST_SUITE(RoundTrip, Roots);

TYPED_TEST(RoundTrip, GivesTheSameStruct) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const auto words = [](capnp::DynamicStruct::Reader from) {
    return capnp::AnyStruct::Reader(from).canonicalize();
  };
  for (int i = 0; i < 200; ++i) {
    capnp::MallocMessageBuilder message;
    auto written = message.initRoot<TypeParam>();
    random.fill(written, 0);
    const std::string json = boost::json::serialize(to_json(written.asReader()));

    capnp::MallocMessageBuilder copy;
    auto read = copy.initRoot<TypeParam>();
    const auto done = from_json(json, read);
    ASSERT_TRUE(done) << done.error().text() << "\n" << json;
    ASSERT_TRUE(words(written.asReader()).asBytes() == words(read.asReader()).asBytes())
        << json << "\n"
        << boost::json::serialize(to_json(read.asReader()));
  }
}

TEST(LineWriter, WritesTheSameJson) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const LineWriter writer(capnp::Schema::from<wire::Event>());
  for (int i = 0; i < 1'000; ++i) {
    capnp::MallocMessageBuilder message;
    auto event = message.initRoot<wire::Event>();
    random.fill(event, 0);
    std::string line;
    writer.append_json(event.asReader(), line);
    ASSERT_EQ(line, boost::json::serialize(to_json(event.asReader())));
  }
}

}  // namespace
}  // namespace holdfast::api
