#include "ledger/store/event_codec.h"

#include <capnp/message.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <cstring>
#include <random>

#include "ledger/event.capnp.h"
#include "tests/ledger/store/sample_events.h"

namespace holdfast::store {
namespace {

using ::testing::HasSubstr;

std::string encoded(const Event& event) {
  std::string bytes;
  encode(event, bytes);
  return bytes;
}

kj::Array<capnp::word> words_of(const std::string& bytes) {
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.begin(), bytes.data(), bytes.size());
  return words;
}

// What Cap'n Proto itself makes of the message.
std::string canonicalized(const std::string& bytes) {
  const auto words = words_of(bytes);
  const kj::ArrayPtr<const capnp::word> segment = words;
  capnp::SegmentArrayMessageReader message(kj::arrayPtr(&segment, 1));
  const auto canonical = capnp::canonicalize(message.getRoot<wire::Event>());
  const auto out = canonical.asBytes();
  return {reinterpret_cast<const char*>(out.begin()), out.size()};
}

// The message changed by hand, as a later version or a bad disk might have it.
template <class Change>
std::string changed(const Event& event, Change change) {
  const auto words = words_of(encoded(event));
  const kj::ArrayPtr<const capnp::word> segment = words;
  capnp::SegmentArrayMessageReader message(kj::arrayPtr(&segment, 1));
  capnp::MallocMessageBuilder builder;
  builder.setRoot(message.getRoot<wire::Event>());
  change(builder.getRoot<wire::Event>());
  const auto out = builder.getSegmentsForOutput()[0].asBytes();
  return {reinterpret_cast<const char*>(out.begin()), out.size()};
}

TEST(EventCodec, EverySampleComesBackAsItWas) {
  for (const auto& [name, event] : samples()) {
    const auto decoded = decode(encoded(event));
    ASSERT_TRUE(decoded) << name << ": " << decoded.error();
    EXPECT_TRUE(*decoded == event) << name;
  }
}

TEST(EventCodec, EverySampleIsCanonical) {
  for (const auto& [name, event] : samples()) {
    EXPECT_EQ(encoded(event), canonicalized(encoded(event))) << name;
  }
}

RC_GTEST_PROP(EventCodec, AnyEventComesBackAndIsCanonical, ()) {
  const Event event = *arbitrary_event();
  const std::string bytes = encoded(event);
  const auto decoded = decode(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == event);
  RC_ASSERT(bytes == canonicalized(bytes));
}

TEST(EventCodec, AnEventTooLargeForTheScratchComesBackToo) {
  Event event = numbered_hold(1);
  event.personal.source = std::string(100'000, 's');
  const auto decoded = decode(encoded(event));
  ASSERT_TRUE(decoded) << decoded.error();
  EXPECT_TRUE(*decoded == event);
  EXPECT_EQ(encoded(event), canonicalized(encoded(event)));
  EXPECT_TRUE(*decode(encoded(numbered_hold(2))) == numbered_hold(2));
}

TEST(EventCodec, AHoldTakesLittleRoom) {
  EXPECT_LE(encoded(numbered_hold(1)).size(), 480u);
  Event plain = samples()[10].event;
  ASSERT_EQ(samples()[10].name, "held-minimal");
  EXPECT_LE(encoded(plain).size(), 180u);
}

TEST(EventCodec, CutBytesAreAnError) {
  for (const auto& [name, event] : samples()) {
    const std::string bytes = encoded(event);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto decoded = decode(std::string_view(bytes).substr(0, size));
      // The last text can be cut only with its words; fewer bytes never give the same event.
      ASSERT_FALSE(decoded && *decoded == event) << name << " cut to " << size;
    }
  }
}

TEST(EventCodec, ChangedAndRandomBytesNeverStopTheProcess) {
  std::mt19937_64 random(20260101);
  std::uint64_t errors = 0;
  for (const auto& [name, event] : samples()) {
    for (int round = 0; round < 500; ++round) {
      std::string bytes = encoded(event);
      for (int change = 0; change < 1 + round % 4; ++change) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      errors += decode(bytes) ? 0 : 1;
      for (char& c : bytes) c = static_cast<char>(random());
      errors += decode(bytes) ? 0 : 1;
    }
  }
  EXPECT_GT(errors, samples().size() * 500);
}

TEST(EventCodec, AnErrorNamesPositionAndType) {
  const auto too_long = changed(numbered_hold(17), [](wire::Event::Builder event) {
    event.setKey(std::string(201, 'k').c_str());
  });
  const auto decoded = decode(too_long);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error(),
            "event 17 (held) cannot be read: key has 201 bytes instead of 1 to 200");
}

TEST(EventCodec, ATypeOfALaterVersionIsAnError) {
  // The type's number stands in bits [352, 368) of the data: byte 44 after the root pointer.
  std::string bytes = encoded(numbered_hold(17));
  bytes[8 + 44] = 99;
  const auto decoded = decode(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error(),
            "event 17 (type 99) cannot be read: this version does not know its type");
}

TEST(EventCodec, SealedPersonalFieldsAreAnError) {
  const auto sealed = changed(numbered_hold(17), [](wire::Event::Builder event) {
    event.getPersonal().setSealed(kj::arrayPtr(reinterpret_cast<const kj::byte*>("xyz"), 3));
  });
  const auto decoded = decode(sealed);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error(), HasSubstr("sealed"));
}

TEST(EventCodec, NumbersOutOfRangeAreErrors) {
  using Change = void (*)(wire::Event::Builder);
  const Change changes[] = {
      [](wire::Event::Builder e) { e.setRecordedAt(-1); },
      [](wire::Event::Builder e) { e.setRecordedAt(kMaxInstant.ms + 1); },
      [](wire::Event::Builder e) { e.setPosition(0); },
      [](wire::Event::Builder e) { e.setTransactionCount(0); },
      [](wire::Event::Builder e) { e.setTransactionIndex(17); },
      [](wire::Event::Builder e) { e.setPreviousOnResource(17); },
      [](wire::Event::Builder e) { e.setPreviousOfClaim(18); },
      [](wire::Event::Builder e) { e.getHappening().initMoved().setPreviousOnTo(17); },
      [](wire::Event::Builder e) { e.getHappening().getHeld().setQuantity(kMaxUnits + 1); },
      [](wire::Event::Builder e) { e.getHappening().getHeld().setUntil(0); },
      [](wire::Event::Builder e) { e.setResource(""); },
  };
  int number = 0;
  for (const Change change : changes) {
    EXPECT_FALSE(decode(changed(numbered_hold(17), change))) << "change " << number;
    ++number;
  }
}

}  // namespace
}  // namespace holdfast::store
