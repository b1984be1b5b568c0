#include <gtest/gtest.h>
#include <algorithm>
#include <random>

#include "ledger/domain/availability.h"
#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

class AsOfPosition : public testing::Test {
 protected:
  void SetUp() override { books_.busy(1'500); }

  // Some positions, each with an instant between its event and the next one.
  std::vector<AsOf> moments() const {
    std::mt19937 random(5);
    std::vector<AsOf> found;
    for (int i = 0; i < 12; ++i) {
      const std::size_t at = random() % (books_.events().size() - 1);
      found.push_back({books_.events()[at].position, books_.events()[at].recorded_at});
      found.push_back({books_.events()[at].position, books_.events()[at + 1].recorded_at});
    }
    return found;
  }

  State then(AsOf as_of) const {
    State state = state_at(books_.events(), as_of.position);
    state.advance(as_of.now);
    return state;
  }

  Bookkeeper books_{55};
};

TEST_F(AsOfPosition, AClaimIsAsItWas) {
  Running running(books_);
  std::size_t there = 0;
  for (const AsOf as_of : moments()) {
    const State state = then(as_of);
    for (const std::string& key : books_.keys()) {
      const auto claim = value_of(running->claim_as_of(key, as_of));
      EXPECT_TRUE(claim == state.claim(key)) << key << " at " << as_of.position.value;
      if (claim) ++there;
    }
  }
  EXPECT_GT(there, 500u);
  EXPECT_EQ(value_of(running->claim_as_of("unheard-of", moments().front())), std::nullopt);
}

TEST_F(AsOfPosition, ClaimsAreAsTheyWere) {
  Running running(books_);
  for (const AsOf as_of : moments()) {
    const State state = then(as_of);
    for (const StateFilter filter : {StateFilter::live, StateFilter::expired, StateFilter::all}) {
      for (const char* resource : {"", "hall", "room-1"}) {
        for (const char* holder : {"", "bob"}) {
          ClaimsQuery query{resource, holder, "", filter, "", 10};
          std::vector<Claim> paged;
          for (bool more = true; more;) {
            const Page<Claim> page = value_of(running->claims_as_of(query, as_of));
            paged.insert(paged.end(), page.items.begin(), page.items.end());
            more = page.more;
            if (more) query.after_key = page.items.back().key.str();
          }
          std::vector<std::string> keys = books_.keys();
          std::sort(keys.begin(), keys.end());
          std::vector<Claim> expected;
          for (const std::string& key : keys) {
            const auto claim = state.claim(key);
            if (!claim || !at_or_below(claim->resource.view(), resource)) continue;
            if (*holder != 0 && claim->holder.view() != holder) continue;
            if (filter == StateFilter::live && is_ended(claim->state)) continue;
            if (filter == StateFilter::expired && claim->state != ClaimState::expired) continue;
            expected.push_back(*claim);
          }
          EXPECT_TRUE(paged == expected)
              << resource << " " << holder << " " << static_cast<int>(filter) << " at "
              << as_of.position.value;
        }
      }
    }
  }
}

TEST_F(AsOfPosition, AResourceIsAsItWas) {
  Running running(books_);
  const Span window{kMinInstant, kMinInstant + Duration{1'100'000}};
  const Policy policy;
  for (const AsOf as_of : moments()) {
    const State state = then(as_of);
    for (const std::string& path : Bookkeeper::paths()) {
      const Path resource = *Path::make(path);
      auto folded = running->resource_as_of(resource, as_of);
      ASSERT_TRUE(folded) << folded.error().what;
      EXPECT_EQ(folded->head(), as_of.position);
      const AvailabilityQuery query{resource, window, {1}, {}};
      EXPECT_TRUE(availability(*folded, query, policy) == availability(state, query, policy))
          << path << " at " << as_of.position.value;
      EXPECT_EQ(free_at(*folded, resource, as_of.now, policy),
                free_at(state, resource, as_of.now, policy));
      EXPECT_EQ(folded->definition(path) == nullptr, state.definition(path) == nullptr);
    }
  }
}

TEST_F(AsOfPosition, AnInstantIsAPosition) {
  Running running(books_);
  const auto& events = books_.events();
  const auto naive = [&](Instant instant) {
    Position last;
    for (const Event& event : events) {
      if (event.recorded_at <= instant) last = event.position;
    }
    return last;
  };
  EXPECT_EQ(value_of(running->position_at(events.front().recorded_at - Duration{1})), Position{});
  for (std::size_t i = 0; i < events.size(); i += 97) {
    for (const std::int64_t off : {-1, 0, 1}) {
      const Instant instant = events[i].recorded_at + Duration{off};
      EXPECT_EQ(value_of(running->position_at(instant)), naive(instant));
    }
  }
  EXPECT_EQ(value_of(running->position_at(kMaxInstant)), books_.log().head());
}

// More claims than are folded at a time: pages go over several passes.
TEST(AsOfMany, NoClaimIsLeftOut) {
  Bookkeeper books;
  constexpr std::size_t kMany = 12'500;
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::string name = "crowd/" + std::to_string(i);
    books.run(Hold{.resource = *Path::make(name),
                   .key = Key::make(name),
                   .span = {},
                   .quantity = {1},
                   .holder = Holder::make("ann"),
                   .cart = {},
                   .label = {},
                   .expiry = {.ttl = kMinute, .expires_at = {}},
                   .capacity = {}});
  }
  ASSERT_EQ(books.events().size(), kMany);
  Running running(books);
  const AsOf as_of{{kMany}, books.now()};
  const ClaimsQuery whole{"crowd", "", "", StateFilter::live, "", 20'000};
  EXPECT_EQ(value_of(running->claims_as_of(whole, as_of)).items.size(), kMany);
  // Those with the greatest keys alone match: found in the second pass.
  const ClaimsQuery last{"crowd", "", "", StateFilter::live, "crowd/99", 20'000};
  const auto page = value_of(running->claims_as_of(last, as_of));
  EXPECT_EQ(page.items.size(), 110u);
}

TEST_F(AsOfPosition, ResourcesAreAsTheyWere) {
  Running running(books_);
  const auto text = [](const ListedResource& r) {
    return r.path.str() + ":" + std::to_string(r.free) + " of " +
           std::to_string(r.definition.capacity.units) + " with " + std::to_string(r.claims) +
           (r.closed ? " closed" : "");
  };
  std::size_t listed = 0;
  for (const AsOf as_of : moments()) {
    const State state = then(as_of);
    for (const char* resource : {"", "hall", "room-1"}) {
      for (const std::int64_t at_least : {0, 2}) {
        ResourcesQuery query{.resource = resource, .at_least = at_least, .most_visited = 1'000};
        std::vector<std::string> expected;
        for (const auto& one : list_resources(state, query, {}, as_of.now).resources) {
          expected.push_back(text(one));
        }
        query.limit = 2;
        std::vector<std::string> paged;
        do {
          const ResourceList page = value_of(running->resources_as_of(query, {}, as_of));
          for (const auto& one : page.resources) paged.push_back(text(one));
          query.after = page.more;
        } while (!query.after.empty());
        EXPECT_EQ(paged, expected) << resource << " at " << as_of.position.value;
        listed += paged.size();
      }
    }
  }
  EXPECT_GT(listed, 50u);
}

}  // namespace
}  // namespace holdfast::projections
