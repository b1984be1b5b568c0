#include "projections/rows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace holdfast::projections {
namespace {

template <class T>
std::optional<T> maybe(const rc::Gen<T>& gen) {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>(*gen) : std::nullopt;
}

template <class T>
rc::Gen<T> name() {
  return rc::gen::map(rc::gen::arbitrary<std::string>(),
                      [](std::string text) { return T::trusted(std::move(text)); });
}

rc::Gen<Quantity> quantity() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(0, kMaxUnits + 1),
                      [](std::int64_t units) { return Quantity{units}; });
}

Instant instant() { return {*rc::gen::inRange<std::int64_t>(0, kMaxInstant.ms + 1)}; }

Claim any_claim() {
  Claim c;
  c.key = *name<Key>();
  c.resource = *name<Path>();
  c.holder = *name<Holder>();
  c.quantity = *quantity();
  c.original_quantity = *rc::gen::arbitrary<bool>() ? c.quantity : *quantity();
  c.state = static_cast<ClaimState>(*rc::gen::inRange(0, 6));
  c.held_at = instant();
  c.expires_at = instant();
  c.version = {*rc::gen::inRange<std::uint64_t>(1, 1'000'000)};
  c.last_event = c.version + *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  if (*rc::gen::arbitrary<bool>()) c.span = Span{instant(), instant()};
  c.cart = maybe(name<Cart>());
  c.label = maybe(name<Note>());
  c.vouched_capacity = maybe(quantity());
  c.stolen_from = maybe(name<Key>());
  c.stolen_by = maybe(name<Key>());
  return c;
}

RC_GTEST_PROP(Rows, AClaimComesBackAsItWas, ()) {
  const Claim claim = any_claim();
  std::string row;
  append_row(row, claim);
  RC_ASSERT(read_claim(claim.key.view(), row) == claim);
}

RC_GTEST_PROP(Rows, ACutClaimIsNotRead, ()) {
  const Claim claim = any_claim();
  std::string row;
  append_row(row, claim);
  const auto size = *rc::gen::inRange<std::size_t>(0, row.size());
  RC_ASSERT(!read_claim(claim.key.view(), std::string_view(row).substr(0, size)));
  RC_ASSERT(!read_claim(claim.key.view(), row + "x"));
}

TEST(Rows, ADefinitionComesBackAsItWas) {
  const DefinitionRow full{Resource{.definition = {.capacity = {7},
                                                   .turnaround = {1'000},
                                                   .max_ttl = Duration{5},
                                                   .default_ttl = Duration{4}},
                                    .closed = true}};
  const DefinitionRow plain{Resource{}};
  const DefinitionRow retired{};
  for (const DefinitionRow& row : {full, plain, retired}) {
    std::string bytes;
    append_row(bytes, row);
    EXPECT_EQ(read_definition(bytes), row);
    EXPECT_FALSE(read_definition(bytes + "x"));
    EXPECT_FALSE(read_definition(std::string_view(bytes).substr(0, bytes.size() - 1)));
  }
}

TEST(Rows, ACheckpointComesBackAsItWas) {
  std::string bytes;
  append_row(bytes, Checkpoint{{300}, {1'000'000}});
  const auto read = read_checkpoint(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->position.value, 300u);
  EXPECT_EQ(read->at.ms, 1'000'000);
  EXPECT_FALSE(read_checkpoint(""));
}

TEST(Rows, RequestIdsOfDifferentActorsAreApart) {
  EXPECT_NE(request_key("ab", "c"), request_key("a", "bc"));
}

}  // namespace
}  // namespace holdfast::projections
