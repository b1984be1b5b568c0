#include "api/convert_answer.h"

#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include "tests/api/convert/wire_of.h"

namespace holdfast::api {
namespace {

template <class Root, class Value>
std::string json(const Value& value) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<Root>();
  put(value, root);
  return boost::json::serialize(to_json(root.asReader()));
}

Claim claim() {
  Claim claim;
  claim.key = Key::trusted("h1");
  claim.resource = Path::trusted("room-1");
  claim.span = Span{{0}, {3'600'000}};
  claim.quantity = {2};
  claim.holder = Holder::trusted("ann");
  claim.cart = Cart::trusted("c");
  claim.label = Note::trusted("order 17");
  claim.state = ClaimState::committed;
  claim.held_at = {1'000};
  claim.expires_at = {61'000};
  claim.version = {7};
  claim.last_event = {8};
  claim.stolen_from = Key::trusted("h0");
  claim.stolen_by = Key::trusted("h2");
  return claim;
}

const std::string kBlocker =
    R"({"key":"h1","resource":"room-1","from":"1970-01-01T00:00:00Z",)"
    R"("until":"1970-01-01T01:00:00Z","quantity":2,"holder":"ann","state":"committed",)"
    R"("held_at":"1970-01-01T00:00:01Z","version":7})";
const std::string kClaim =
    R"({"key":"h1","resource":"room-1","from":"1970-01-01T00:00:00Z",)"
    R"("until":"1970-01-01T01:00:00Z","quantity":2,"holder":"ann","cart":"c","label":"order 17",)"
    R"("state":"committed","held_at":"1970-01-01T00:00:01Z",)"
    R"("version":7,"stolen_from":"h0","stolen_by":"h2"})";

TEST(ConvertAnswer, Claims) { EXPECT_EQ(json<wire::Claim>(claim()), kClaim); }

TEST(ConvertAnswer, AHoldHasAnExpiryABookingHasNone) {
  Claim hold = claim();
  hold.state = ClaimState::held;
  EXPECT_NE(json<wire::Claim>(hold).find(R"("expires_at":"1970-01-01T00:01:01Z")"),
            std::string::npos);
  hold.state = ClaimState::cancelled;
  EXPECT_EQ(json<wire::Claim>(hold).find("expires_at"), std::string::npos);
}

TEST(ConvertAnswer, Outcomes) {
  Accepted accepted{.first = {5}, .count = 2, .clamped = true, .claim = claim(), .available = 0};
  EXPECT_EQ(json<wire::Outcome>(Outcome(accepted)),
            R"({"accepted":{"first_position":5,"positions":2,"claim":)" + kClaim +
                R"(,"available":0,"changed":true,"replayed":false,"clamped":true}})");
  EXPECT_EQ(json<wire::Outcome>(Outcome(Accepted{})),
            R"({"accepted":{"first_position":0,"positions":0,"changed":false,"replayed":false,)"
            R"("clamped":false}})");
  Refusal refusal{.reason = Reason::conflict, .capacity = 1, .available = 0};
  refusal.blockers = {claim()};
  refusal.retry_at = Instant{61'000};
  EXPECT_EQ(json<wire::Outcome>(Outcome(tl::unexpected(refusal))),
            R"({"refused":{"reason":"conflict","capacity":1,"available":0,"blockers":[)" +
                kBlocker + R"(],"retry_at":"1970-01-01T00:01:01Z"}})");
}

TEST(ConvertAnswer, RefusalsKeepTheirFields) {
  const auto text = [](const Refusal& refusal) { return json<wire::Refusal>(refusal); };
  EXPECT_EQ(text({.reason = Reason::bad_text, .field = "cart"}),
            R"({"reason":"bad_text","field":"cart"})");
  EXPECT_EQ(text({.reason = Reason::limit, .name = "max_ttl", .max = 5}),
            R"({"reason":"limit","name":"max_ttl","max":5})");
  EXPECT_EQ(text({.reason = Reason::terminal, .state = ClaimState::stolen}),
            R"({"reason":"terminal","state":"stolen"})");
  EXPECT_EQ(text({.reason = Reason::expired, .expires_at = Instant{0}, .now = Instant{1}}),
            R"({"reason":"expired","expires_at":"1970-01-01T00:00:00Z",)"
            R"("now":"1970-01-01T00:00:00.001Z"})");
  EXPECT_EQ(text({.reason = Reason::stale_version, .current = Position{9}}),
            R"({"reason":"stale_version","current":9})");
  EXPECT_EQ(text({.reason = Reason::closed, .path = "hall"}),
            R"({"reason":"closed","path":"hall"})");
  EXPECT_EQ(text({.reason = Reason::already_committed, .claim = claim()}),
            R"({"reason":"already_committed","claim":)" + kClaim + "}");
}

TEST(ConvertAnswer, ReasonsAndStatesHaveTheNumbersOfTheWire) {
  for (unsigned i = 0; i <= static_cast<unsigned>(Reason::check_failed); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(json<wire::Refusal>(Refusal{.reason = reason}),
              R"({"reason":")" + std::string(reason_name(reason)) + "\"}");
  }
  for (unsigned i = 0; i <= static_cast<unsigned>(ClaimState::stolen); ++i) {
    const Refusal refusal{.reason = Reason::terminal, .state = static_cast<ClaimState>(i)};
    Claim of_state = claim();
    of_state.state = *refusal.state;
    const std::string state = "\"state\":\"" + std::string(state_name(*refusal.state)) + "\"";
    EXPECT_NE(json<wire::Refusal>(refusal).find(state), std::string::npos);
    EXPECT_NE(json<wire::Claim>(of_state).find(state), std::string::npos);
  }
}

TEST(ConvertAnswer, Pieces) {
  EXPECT_EQ(json<wire::FreePiece>(FreePiece{{{0}, {1'000}}, 3}),
            R"({"from":"1970-01-01T00:00:00Z","until":"1970-01-01T00:00:01Z","free":3})");
}

TEST(ConvertAnswer, EventsOfEveryType) {
  const auto fields = [](Happening happening) {
    Event event{.position = {9},
                .transaction = {8},
                .transaction_count = 2,
                .recorded_at = {1'000},
                .resource = Path::trusted("r"),
                .key = Key::trusted("k"),
                .previous_on_resource = {3},
                .previous_of_claim = {4},
                .actor = Actor::trusted("a"),
                .request_id = RequestId::trusted("q"),
                .correlation_id = CorrelationId::trusted("x"),
                .content = Digest{std::byte{0xAB}},
                .available = 6,
                .personal = {.holder = Holder::trusted("h"),
                             .cart = Cart::trusted("c"),
                             .label = Note::trusted("l"),
                             .on_behalf_of = Holder::trusted("b"),
                             .reason = Note::trusted("w"),
                             .source = "s"},
                .happening = std::move(happening)};
    const std::string text = json<wire::Event>(event);
    const std::string before = R"("source":"s",)";
    EXPECT_EQ(text.substr(0, text.find("\"type\"")),
              R"({"position":9,"transaction":8,"transaction_count":2,)"
              R"("recorded_at":"1970-01-01T00:00:01Z",)");
    const auto type = text.find("\"type\":\"") + 8;
    return text.substr(type, text.find('"', type) - type) + " " +
           text.substr(text.find(before) + before.size());
  };
  const std::string plain = R"("clamped":false,"forced":false,"available":6})";
  EXPECT_EQ(fields(Defined{{.capacity = {5},
                            .turnaround = {6},
                            .max_ttl = Duration{7},
                            .default_ttl = Duration{8}}}),
            R"(defined "capacity":5,"turnaround":6,"max_ttl":7,"default_ttl":8,)" + plain);
  EXPECT_EQ(fields(Changed{}), R"(changed "capacity":1,"turnaround":0,)" + plain);
  EXPECT_EQ(fields(Closed{}), "closed " + plain);
  EXPECT_EQ(fields(Opened{}), "opened " + plain);
  EXPECT_EQ(fields(Retired{true}), R"(retired "clamped":false,"forced":true,"available":6})");
  EXPECT_EQ(fields(Held{Span{{0}, {1}}, {2}, {3}, true, Quantity{4}, Key::trusted("o")}),
            R"(held "from":"1970-01-01T00:00:00Z","until":"1970-01-01T00:00:00.001Z",)"
            R"("quantity":2,"expires_at":"1970-01-01T00:00:00.003Z","capacity":4,)"
            R"("stolen_from":"o","clamped":true,"forced":false,"available":6})");
  EXPECT_EQ(fields(Extended{{3}, false}),
            R"(extended "expires_at":"1970-01-01T00:00:00.003Z",)" + plain);
  EXPECT_EQ(fields(Released{{1}, {2}}), R"(released "quantity":1,"remaining":2,)" + plain);
  EXPECT_EQ(fields(Committed{{1}, {2}}), R"(committed "quantity":1,"let_go":2,)" + plain);
  EXPECT_EQ(fields(Cancelled{{1}, {0}}), R"(cancelled "quantity":1,"remaining":0,)" + plain);
  EXPECT_EQ(fields(Stolen{Key::trusted("n")}), R"(stolen "stolen_by":"n",)" + plain);
  EXPECT_EQ(fields(Expired{{3}}), R"(expired "due":"1970-01-01T00:00:00.003Z",)" + plain);
}

}  // namespace
}  // namespace holdfast::api
