#include "api/live/interests.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <algorithm>
#include <memory>
#include <set>

#include "tests/ledger/store/sample_events.h"

namespace holdfast::api {
namespace {

// A hold by ann, unless another holder is named.
Event event_on(const std::string& path, std::uint64_t position = 1,
               const std::string& holder = "ann") {
  Event event = store::numbered_hold(position);
  event.resource = Path::trusted(path);
  event.personal.holder = Holder::trusted(holder);
  return event;
}

bool passes(const EventFilter& filter, const Event& event) {
  Interest interest{filter};
  Interests interests;
  interests.add(interest);
  std::vector<Interest*> found;
  interests.find(event, found);
  EXPECT_EQ(found.size() == 1, filter.passes(event)) << "both ways of asking say the same";
  return found.size() == 1;
}

TEST(EventFilter, APathIsMeantWithAllBelowItInWholeSegments) {
  const EventFilter hall{.resource = "hall"};
  EXPECT_TRUE(passes(hall, event_on("hall")));
  EXPECT_TRUE(passes(hall, event_on("hall/a/12")));
  EXPECT_FALSE(passes(hall, event_on("hallway")));
  EXPECT_FALSE(passes(hall, event_on("hal")));
  EXPECT_FALSE(passes(hall, event_on("a/hall")));
  const EventFilter section{.resource = "hall/a"};
  EXPECT_TRUE(passes(section, event_on("hall/a")));
  EXPECT_FALSE(passes(section, event_on("hall")));
  EXPECT_FALSE(passes(section, event_on("hall/ab")));
}

TEST(EventFilter, EverythingThatIsGivenMustPass) {
  EXPECT_TRUE(passes({}, event_on("hall")));
  EXPECT_TRUE(passes({.holder = "ann"}, event_on("hall")));
  EXPECT_FALSE(passes({.holder = "bob"}, event_on("hall")));
  EXPECT_TRUE(passes({.type = "held"}, event_on("hall")));
  EXPECT_FALSE(passes({.type = "committed"}, event_on("hall")));
  EXPECT_FALSE(passes({.resource = "hall", .holder = "bob"}, event_on("hall/1")));
  EXPECT_FALSE(passes({.resource = "hall", .type = "closed"}, event_on("hall/1")));
  EXPECT_TRUE(passes({.resource = "hall", .holder = "ann", .type = "held"}, event_on("hall/1")));
}

TEST(EventFilter, AnEventOfAResourceHasNoHolder) {
  Event closed = event_on("hall");
  closed.key.reset();
  closed.personal.holder.reset();
  closed.happening = Closed{};
  EXPECT_FALSE(passes({.holder = "ann"}, closed));
  EXPECT_TRUE(passes({.resource = "hall", .type = "closed"}, closed));
}

Event move(const std::string& from, const std::string& to, std::uint64_t position = 1) {
  Event event = event_on(from, position);
  event.happening = Moved{.to = Path::trusted(to), .span = {}, .previous_on_to = {}};
  return event;
}

TEST(EventFilter, AMoveConcernsBothResources) {
  EXPECT_TRUE(passes({.resource = "hall/a"}, move("hall/a/1", "annexe/1")));
  EXPECT_TRUE(passes({.resource = "annexe/1"}, move("hall/a/1", "annexe/1")));
  EXPECT_TRUE(passes({.resource = "hall"}, move("hall/a/1", "hall/b/1"))) << "once, not twice";
  EXPECT_FALSE(passes({.resource = "hall/c"}, move("hall/a/1", "hall/b/1")));
}

TEST(Interests, WhoIsRemovedIsNotFound) {
  Interest first{{.resource = "hall"}};
  Interest second{{.resource = "hall"}};
  Interest third{{.holder = "ann"}};
  Interests interests;
  for (Interest* each : {&first, &second, &third}) interests.add(*each);
  interests.remove(first);
  interests.remove(third);
  std::vector<Interest*> found;
  interests.find(event_on("hall/1"), found);
  EXPECT_EQ(found, std::vector<Interest*>{&second});
  interests.remove(second);
  interests.find(event_on("hall/1", 2), found);
  EXPECT_TRUE(found.empty());
}

// Among any filters, those are found that pass the event when they are asked one by one.
TEST(Interests, FindThoseThatPassAmongMany) {
  rc::check([] {
    const auto path = rc::gen::element<std::string>("a", "b", "a/b", "a/b/c", "a/bc", "ab", "b/a");
    const auto holder = rc::gen::element<std::string>("ann", "bob");
    const auto filter = rc::gen::build<EventFilter>(
        rc::gen::set(&EventFilter::resource, rc::gen::oneOf(rc::gen::just(std::string()), path)),
        rc::gen::set(&EventFilter::holder, rc::gen::oneOf(rc::gen::just(std::string()), holder)),
        rc::gen::set(&EventFilter::type, rc::gen::element<std::string>("", "", "held", "closed")));
    std::vector<std::unique_ptr<Interest>> all;
    for (auto& each : *rc::gen::container<std::vector<EventFilter>>(filter)) {
      all.push_back(std::make_unique<Interest>(Interest{std::move(each)}));
    }
    Interests interests;
    for (const auto& each : all) interests.add(*each);
    for (std::uint64_t position = 1; position <= 20; ++position) {
      if (!all.empty() && *rc::gen::weightedElement<bool>({{1, true}, {4, false}})) {
        interests.remove(*all.back());
        all.pop_back();
      }
      Event event = event_on(*path, position, *holder);
      if (*rc::gen::arbitrary<bool>()) {
        event.happening = Moved{.to = Path::trusted(*path), .span = {}, .previous_on_to = {}};
      }
      std::set<const Interest*> expected;
      for (const auto& each : all) {
        if (each->filter.passes(event)) expected.insert(each.get());
      }
      std::vector<Interest*> found;
      interests.find(event, found);
      RC_ASSERT(std::set<const Interest*>(found.begin(), found.end()) == expected);
      RC_ASSERT(found.size() == expected.size());
    }
  });
}

}  // namespace
}  // namespace holdfast::api
