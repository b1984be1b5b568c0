#include <gtest/gtest.h>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/proof/signed_head.h"
#include "tests/api/server/running_server.h"

// The access log over the wire: what is asked is found there, by whoever asks next.
namespace holdfast::api {
namespace {

class Accesses : public testing::Test {
 protected:
  Accesses() : client_(running_.client_options()) {}

  Client::Answer call(const std::function<void(wire::Request::Builder)>& fill) {
    Request request;
    fill(request.root());
    return client_.call(std::move(request));
  }
  Response ask(const std::function<void(wire::Request::Builder)>& fill) {
    auto answer = call(fill);
    EXPECT_TRUE(answer) << answer.error().text;
    return std::move(*answer);
  }
  Response access(const std::function<void(wire::AccessQuery::Builder)>& fill) {
    return ask([&](wire::Request::Builder request) { fill(request.initQuery().initAccess()); });
  }
  Response of_type(const std::string& type) {
    return access([&](wire::AccessQuery::Builder query) { query.setType(type); });
  }
  Response hold(const std::string& resource, const std::string& key) {
    return ask([&](wire::Request::Builder request) {
      auto command = request.initBatch(1)[0];
      command.setRequestId("r-" + key);
      auto hold = command.initHold();
      hold.setResource(resource);
      hold.setKey(key);
      hold.setLabel("a secret");
    });
  }
  Response show(const std::string& key) {
    return ask(
        [&](wire::Request::Builder request) { request.initQuery().initClaim().setKey(key); });
  }

  RunningServer running_;
  BlockingClient client_;
};

TEST_F(Accesses, AQueryIsThereWithWhatWasAsked) {
  hold("room", "k1");
  show("k1");
  const auto answer = of_type("query.claim");
  const auto records = answer.root().getAccess().getRecords();
  ASSERT_EQ(records.size(), 1u);
  const auto record = records[0];
  EXPECT_STREQ(record.getActor().cStr(), "tester");
  EXPECT_STREQ(record.getOutcome().cStr(), "answered");
  EXPECT_EQ(record.getLedgerPosition(), 1);
  EXPECT_EQ(record.getItems(), wire::NONE);
  EXPECT_TRUE(std::string(record.getSource().cStr()).starts_with("127.0.0.1:"));
  ASSERT_TRUE(record.hasRequest());
  EXPECT_STREQ(record.getRequest().getQuery().getClaim().getKey().cStr(), "k1");
}

TEST_F(Accesses, EveryKindOfRequestIsThereAndCommandsAreNot) {
  hold("room", "k1");
  show("k1");
  show("");
  ask([](wire::Request::Builder request) { request.initQuery().initHistory(); });
  ask([](wire::Request::Builder request) { request.initAdmin().initSweep(); });
  ask([](wire::Request::Builder request) { request.initProof().initPaths(); });
  const auto answer = access([](wire::AccessQuery::Builder query) { query.setOldestFirst(true); });
  std::vector<std::string> found;
  for (const auto record : answer.root().getAccess().getRecords()) {
    found.push_back(std::string(record.getType().cStr()) + " " + record.getOutcome().cStr() + " " +
                    record.getReason().cStr());
  }
  EXPECT_EQ(found, (std::vector<std::string>{"query.claim answered ", "query.claim refused bad_key",
                                             "query.history answered ", "admin.sweep answered ",
                                             "proof.paths answered "}));
  // And the query of the access log itself.
  EXPECT_EQ(of_type("query.access").root().getAccess().getRecords().size(), 1u);
}

TEST_F(Accesses, QueriesAskedTogetherAreThereOneByOne) {
  hold("room", "k1");
  ask([](wire::Request::Builder request) {
    auto queries = request.initQueries(3);
    queries[0].initClaim().setKey("k1");
    queries[1].initClaim().setKey("k2");
    queries[2].initAvailability().setResource("room");
  });
  const auto claims = of_type("query.claim");
  const auto records = claims.root().getAccess().getRecords();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_STREQ(records[0].getReason().cStr(), "unknown_claim") << "newest first";
  EXPECT_STREQ(records[1].getRequest().getQuery().getClaim().getKey().cStr(), "k1");
  EXPECT_STREQ(records[1].getOutcome().cStr(), "answered");
  EXPECT_EQ(of_type("query.availability").root().getAccess().getRecords().size(), 1u);
  // What is refused whole is there as well.
  ask([](wire::Request::Builder request) { request.initQueries(1'001); });
  const auto refused = of_type("queries");
  ASSERT_EQ(refused.root().getAccess().getRecords().size(), 1u);
  EXPECT_STREQ(refused.root().getAccess().getRecords()[0].getReason().cStr(), "limit");
}

TEST_F(Accesses, ARefusedCommandIsThereWithWhatStoodInTheWay) {
  hold("room", "k1");
  hold("room", "k2");
  const auto answer = of_type("refused");
  const auto records = answer.root().getAccess().getRecords();
  ASSERT_EQ(records.size(), 1u);
  const auto record = records[0];
  EXPECT_STREQ(record.getReason().cStr(), "conflict");
  EXPECT_STREQ(record.getCommand().cStr(), "hold");
  EXPECT_STREQ(record.getResource().cStr(), "room");
  EXPECT_STREQ(record.getKey().cStr(), "k2");
  EXPECT_STREQ(record.getRequestId().cStr(), "r-k2");
  EXPECT_STREQ(record.getBlocker().cStr(), "k1");
  EXPECT_EQ(record.getInTheWay(), 1);
  EXPECT_EQ(record.getLedgerPosition(), 1);
  EXPECT_FALSE(record.hasRequest());
}

TEST_F(Accesses, OfATransactionTheFirstRefusedCommandIsThere) {
  hold("room", "k1");
  ask([](wire::Request::Builder request) {
    auto steps = request.initBatch(1)[0].initTransact().initSteps(2);
    steps[0].initHold().setResource("other");
    steps[1].initHold().setResource("room");
  });
  const auto answer = of_type("refused");
  const auto records = answer.root().getAccess().getRecords();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].getStep(), 2);
  EXPECT_STREQ(records[0].getCommand().cStr(), "hold");
  EXPECT_STREQ(records[0].getResource().cStr(), "room");
}

TEST_F(Accesses, ASubscriptionIsThere) {
  std::optional<std::uint64_t> caught_up;
  Request request;
  request.root().initSubscription().initSubscribe().setResource("room");
  client_.client().subscribe(std::move(request),
                             {.caught_up = [&](std::uint64_t position) { caught_up = position; }});
  while (!caught_up) show("k1");
  const auto answer = of_type("subscription");
  const auto records = answer.root().getAccess().getRecords();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_STREQ(records[0].getType().cStr(), "subscription.subscribe");
  EXPECT_STREQ(records[0].getRequest().getSubscription().getSubscribe().getResource().cStr(),
               "room");
}

TEST_F(Accesses, ArePagedAndComeWithASignedHead) {
  for (int i = 0; i < 5; ++i) show("k1");
  std::string cursor;
  std::vector<std::uint64_t> positions;
  do {
    const auto answer = access([&](wire::AccessQuery::Builder query) {
      query.setType("query.claim");
      query.setLimit(2);
      if (!cursor.empty()) query.setCursor(cursor);
    });
    const auto page = answer.root().getAccess();
    for (const auto record : page.getRecords()) positions.push_back(record.getPosition());
    cursor = page.getCursor().cStr();
    const auto head = proof::read_unchecked_head(page.getNote().cStr());
    ASSERT_TRUE(head);
    EXPECT_EQ(head->ledger, running_.accesses().records().id());
    EXPECT_GE(head->size, positions.front());
  } while (!cursor.empty());
  EXPECT_EQ(positions, (std::vector<std::uint64_t>{5, 4, 3, 2, 1}));
}

TEST_F(Accesses, BadQueriesAreRefused) {
  const auto reason = [&](const std::function<void(wire::AccessQuery::Builder)>& fill) {
    const auto answer = access(fill);
    return answer.root().isRefused() ? std::optional(answer.root().getRefused().getReason())
                                     : std::nullopt;
  };
  EXPECT_EQ(reason([](auto query) { query.setCursor("x"); }), wire::Reason::BAD_TEXT);
  EXPECT_EQ(reason([](auto query) { query.setCursor("0"); }), wire::Reason::BAD_TEXT);
  EXPECT_EQ(reason([](auto query) { query.setActor("\n"); }), wire::Reason::BAD_TEXT);
  EXPECT_EQ(reason([](auto query) { query.setFrom(-1); }), wire::Reason::BAD_SPAN);
  EXPECT_EQ(reason([](auto query) {
              query.setFrom(5);
              query.setUntil(5);
            }),
            wire::Reason::BAD_SPAN);
}

TEST_F(Accesses, WhatIsNotWellFormedIsRecordedWithoutItsText) {
  show("\xff");
  const auto answer = of_type("query.claim");
  const auto records = answer.root().getAccess().getRecords();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_FALSE(records[0].hasRequest());
  EXPECT_STREQ(records[0].getReason().cStr(), "bad_key");
}

TEST_F(Accesses, WhatCannotBeRecordedIsNotAnsweredButCommandsAre) {
  running_.disk_of_accesses().fail_syncs_after(0);
  show("k1");  // the log does not know yet
  EXPECT_FALSE(running_.accesses().flush());
  const auto refused =
      call([](wire::Request::Builder request) { request.initQuery().initClaim().setKey("k1"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().server_error, wire::ErrorKind::UNAVAILABLE);
  const auto answer = hold("room", "k1");
  EXPECT_TRUE(answer.root().getOutcomes()[0].isAccepted());
}

}  // namespace
}  // namespace holdfast::api
