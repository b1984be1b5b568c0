#include <gtest/gtest.h>
#include <algorithm>

#include "tests/projections/running.h"

namespace holdfast::projections {
namespace {

constexpr StateFilter kFilters[] = {
    StateFilter::live,    StateFilter::held,      StateFilter::committed, StateFilter::released,
    StateFilter::expired, StateFilter::cancelled, StateFilter::stolen,    StateFilter::all};

bool in_state(StateFilter filter, ClaimState state) {
  switch (filter) {
    case StateFilter::live:
      return state == ClaimState::held || state == ClaimState::committed;
    case StateFilter::held:
      return state == ClaimState::held;
    case StateFilter::committed:
      return state == ClaimState::committed;
    case StateFilter::released:
      return state == ClaimState::released;
    case StateFilter::expired:
      return state == ClaimState::expired;
    case StateFilter::cancelled:
      return state == ClaimState::cancelled;
    case StateFilter::stolen:
      return state == ClaimState::stolen;
    case StateFilter::all:
      return true;
  }
  return false;
}

std::vector<Claim> naive(const State& state, std::vector<std::string> keys,
                         const ClaimsQuery& query) {
  std::sort(keys.begin(), keys.end());
  std::vector<Claim> found;
  for (const std::string& key : keys) {
    const auto claim = state.claim(key);
    if (!claim || key <= query.after_key || !in_state(query.state, claim->state)) continue;
    if (!at_or_below(claim->resource.view(), query.resource)) continue;
    if (!query.holder.empty() && claim->holder.view() != query.holder) continue;
    if (!query.cart.empty() && (!claim->cart || claim->cart->view() != query.cart)) continue;
    found.push_back(*claim);
  }
  return found;
}

std::vector<ClaimsQuery> queries() {
  std::vector<ClaimsQuery> all;
  for (const StateFilter state : kFilters) {
    for (const char* resource : {"", "hall", "room-1", "nowhere"}) {
      for (const char* holder : {"", "an", "nobody"}) {
        for (const char* cart : {"", "cart-1"}) {
          all.push_back({resource, holder, cart, state, "", 10'000});
        }
      }
    }
  }
  return all;
}

class Claims : public testing::Test {
 protected:
  void SetUp() override {
    books_.busy(2'500);
    books_.pass(Duration{20'000});  // so that some holds have lapsed without a record
    lapsed_ = state_at(books_.events(), books_.log().head());
    lapsed_.advance(books_.now());
    ASSERT_GT(lapsed_.lapsed_claims(), 0u);
  }

  Bookkeeper books_{33};
  State lapsed_;
};

TEST_F(Claims, AreThoseOfTheStateForEveryFilter) {
  Running running(books_);
  std::size_t with_results = 0;
  for (ClaimsQuery query : queries()) {
    const Page<Claim> page = value_of(running->claims(query, books_.now()));
    const std::vector<Claim> expected = naive(lapsed_, books_.keys(), query);
    EXPECT_TRUE(page.items == expected)
        << "state " << static_cast<int>(query.state) << " resource " << query.resource << " holder "
        << query.holder << " cart " << query.cart << ": " << page.items.size() << " for "
        << expected.size();
    EXPECT_FALSE(page.more);
    EXPECT_EQ(page.at, books_.log().head());
    if (!expected.empty()) ++with_results;
  }
  EXPECT_GT(with_results, 60u);
}

TEST_F(Claims, PagesGoOnBehindTheLastKey) {
  Running running(books_);
  for (const StateFilter state : kFilters) {
    ClaimsQuery query{
        .resource = "hall", .holder = {}, .cart = {}, .state = state, .after_key = {}, .limit = 3};
    std::vector<Claim> paged;
    for (bool more = true; more;) {
      const Page<Claim> page = value_of(running->claims(query, books_.now()));
      ASSERT_TRUE(!page.more || page.items.size() == query.limit);
      paged.insert(paged.end(), page.items.begin(), page.items.end());
      more = page.more;
      if (more) query.after_key = page.items.back().key.str();
    }
    query.after_key.clear();
    EXPECT_TRUE(paged == naive(lapsed_, books_.keys(), query)) << static_cast<int>(state);
  }
}

// Few claims among many: found by the lists instead of passing over all rows.
TEST_F(Claims, OfAFewAmongManyAreTheSame) {
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = "crowd-" + std::to_string(i);
    books_.run(Hold{.resource = *Path::make(name),
                    .key = Key::make(name),
                    .span = {},
                    .quantity = {1},
                    .holder = Holder::make(name),
                    .cart = {},
                    .label = {},
                    .expiry = {.ttl = kMinute, .expires_at = {}},
                    .capacity = {}});
  }
  Running running(books_);
  State now = state_at(books_.events(), books_.log().head());
  now.advance(books_.now());
  for (const StateFilter state : {StateFilter::live, StateFilter::all}) {
    for (const char* resource : {"crowd-17", "hall/b"}) {
      const ClaimsQuery query{resource, "", "", state, "", 1'000};
      const Page<Claim> page = value_of(running->claims(query, books_.now()));
      EXPECT_TRUE(page.items == naive(now, books_.keys(), query)) << resource;
    }
    const ClaimsQuery query{"", "crowd-99", "", state, "", 1'000};
    EXPECT_EQ(value_of(running->claims(query, books_.now())).items.size(), 1u);
  }
}

}  // namespace
}  // namespace holdfast::projections
