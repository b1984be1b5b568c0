#include <gtest/gtest.h>
#include <string>

#include "ledger/store/event_codec.h"
#include "tests/ledger/store/golden_bytes.h"
#include "tests/ledger/store/sample_events.h"

namespace holdfast::store {
namespace {

TEST(Golden, EveryTypeIsWrittenAsEver) {
  for (const auto& [name, event] : samples()) {
    std::string bytes;
    encode(event, bytes);
    golden::expect_as_ever(name, bytes);
  }
}

TEST(Golden, EveryTypeIsReadAsEver) {
  for (const auto& [name, event] : samples()) {
    const auto decoded = decode(golden::bytes_of(name));
    ASSERT_TRUE(decoded) << name << ": " << decoded.error();
    EXPECT_TRUE(*decoded == event) << name;
  }
}

}  // namespace
}  // namespace holdfast::store
