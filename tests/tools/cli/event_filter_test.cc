#include "tools/cli/event_filter.h"

#include <gtest/gtest.h>

#include "tests/ledger/store/sample_events.h"

namespace holdfast::cli {
namespace {

Event sample(const std::string& name) {
  for (auto& [its, event] : store::samples()) {
    if (its == name) return event;
  }
  ADD_FAILURE() << "there is no " << name;
  return store::numbered_hold(1);
}

TEST(EventFilter, LetsEverythingThroughWhereItIsEmpty) {
  EXPECT_TRUE(EventFilter{}.given().empty());
  for (const auto& [name, event] : store::samples()) EXPECT_TRUE(EventFilter{}.passes(event));
}

TEST(EventFilter, EachHasToLetAnEventThrough) {
  const Event event = sample("held-full");
  for (const EventFilter& passing :
       {EventFilter{.resource = "hall"}, EventFilter{.resource = "hall/section-a/seat-12"},
        EventFilter{.key = "h1"}, EventFilter{.holder = "ann"}, EventFilter{.actor = "desk"},
        EventFilter{.type = "held"}, EventFilter{.correlation = "trace 7"},
        EventFilter{.resource = "hall", .holder = "ann", .type = "held"}}) {
    EXPECT_TRUE(passing.passes(event));
  }
  for (const EventFilter& other :
       {EventFilter{.resource = "hal"}, EventFilter{.resource = "hall/section-a/seat-1"},
        EventFilter{.key = "h"}, EventFilter{.holder = "bob"}, EventFilter{.actor = "des"},
        EventFilter{.type = "extended"}, EventFilter{.correlation = "trace"},
        EventFilter{.resource = "hall", .holder = "bob"}}) {
    EXPECT_FALSE(other.passes(event));
  }
  // What an event does not have is no match.
  EXPECT_FALSE(EventFilter{.holder = "ann"}.passes(sample("held-minimal")));
  EXPECT_FALSE(EventFilter{.key = "h1"}.passes(sample("closed-minimal")));
}

TEST(EventFilter, AMoveIsOfBothResources) {
  const Event moved = sample("moved-full");
  const std::string to = std::get<Moved>(moved.happening).to->str();
  ASSERT_NE(to, moved.resource.str());
  EXPECT_TRUE(EventFilter{.resource = to}.passes(moved));
  EXPECT_TRUE(EventFilter{.resource = moved.resource.str()}.passes(moved));
}

TEST(EventFilter, SaysWhatWasGiven) {
  const EventFilter filter{.resource = "hall", .type = "held"};
  EXPECT_EQ(filter.given(), (std::vector<std::pair<std::string, std::string>>{{"resource", "hall"},
                                                                              {"type", "held"}}));
}

}  // namespace
}  // namespace holdfast::cli
