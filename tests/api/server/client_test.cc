#include "api/client.h"

#include <gtest/gtest.h>
#include <string>

#include "tests/api/server/fake_server.h"

namespace holdfast::api {
namespace {

using std::chrono::milliseconds;

const std::string kLedger = "0123456789abcdef";

ClientOptions options(const std::string& server) {
  ClientOptions options;
  options.server = server;
  options.backoff_first = milliseconds(1);
  options.backoff_max = milliseconds(5);
  options.give_up_after = milliseconds(5'000);
  return options;
}

Request hold(const std::string& key, const std::string& request_id = {}) {
  Request request;
  auto command = request.root().initBatch(1)[0];
  command.initHold().setKey(key);
  if (!request_id.empty()) command.setRequestId(request_id);
  return request;
}

Request show(const std::string& key) {
  Request request;
  request.root().initQuery().initClaim().setKey(key);
  return request;
}

std::uint64_t position(const Client::Answer& answer) {
  if (!answer || !answer->root().isOutcomes()) return 0;
  return answer->root().getOutcomes()[0].getAccepted().getFirstPosition();
}

TEST(Client, AnswersInAnyOrderFindTheirRequests) {
  FakeServer server([](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kLedger);
    const std::uint64_t first = connection.request()->getId();
    const std::uint64_t second = connection.request()->getId();
    connection.accept_batch(second, 2);
    connection.accept_batch(first, 1);
    EXPECT_FALSE(connection.request());
  });
  BlockingClient client(options(server.address()));
  std::vector<std::uint64_t> positions(2);
  client.send(hold("a"), [&](Client::Answer answer) { positions[0] = position(answer); });
  client.send(hold("b"), [&](Client::Answer answer) { positions[1] = position(answer); });
  client.wait();
  EXPECT_EQ(positions, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Client, WhatHasARequestIdIsAskedAgainOnANewConnection) {
  FakeServer server([](FakeServer& self) {
    {
      auto connection = self.accept();
      EXPECT_EQ(connection.greet(kLedger), "");
      EXPECT_TRUE(connection.request());
    }
    auto connection = self.accept();
    EXPECT_EQ(connection.greet(kLedger), kLedger) << "the ledger met first is named";
    const auto again = connection.request();
    ASSERT_TRUE(again);
    EXPECT_EQ(std::string(again->getBatch()[0].getRequestId().cStr()), "r1");
    connection.accept_batch(again->getId(), 7);
  });
  BlockingClient client(options(server.address()));
  EXPECT_EQ(position(client.call(hold("a", "r1"))), 7u);
}

TEST(Client, WithoutARequestIdTheOutcomeIsUnknown) {
  FakeServer server([](FakeServer& self) {
    {
      auto connection = self.accept();
      connection.greet(kLedger);
      EXPECT_TRUE(connection.request());
    }
    auto connection = self.accept();
    connection.greet(kLedger);
    const auto query = connection.request();
    ASSERT_TRUE(query && query->isQuery()) << "the hold is not sent again";
    connection.answer(query->getId(),
                      [](wire::Response::Builder response) { response.initClaim().setKey("a"); });
  });
  BlockingClient client(options(server.address()));
  const auto answer = client.call(hold("a"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ClientError::Kind::unknown);
  const auto claim = client.call(show("a"));
  ASSERT_TRUE(claim);
  EXPECT_TRUE(claim->root().isClaim());
}

TEST(Client, SentOnceAndNeverReachedAgainIsUnknown) {
  auto server = std::make_unique<FakeServer>([](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kLedger);
    EXPECT_TRUE(connection.request());
  });
  auto few = options(server->address());
  few.give_up_after = milliseconds(200);
  BlockingClient client(few);
  std::optional<Client::Answer> answer;
  client.send(hold("a", "r1"), [&](Client::Answer a) { answer = std::move(a); });
  std::thread stop([&] { server.reset(); });
  client.wait();
  stop.join();
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().kind, ClientError::Kind::unknown);
}

TEST(Client, OverloadedIsRetriedAsOftenAsStated) {
  int times = 0;
  FakeServer server([&](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kLedger);
    while (const auto request = connection.request()) {
      ++times;
      const bool give_way = times == 3 || request->getBatch()[0].getHold().getKey() == "b";
      if (give_way && times == 3) {
        connection.accept_batch(request->getId(), 1);
      } else {
        connection.refuse_batch(request->getId(), wire::Reason::OVERLOADED);
      }
    }
  });
  {
    auto twice = options(server.address());
    twice.overloaded_retries = 2;
    BlockingClient client(twice);
    EXPECT_EQ(position(client.call(hold("a"))), 1u);
    EXPECT_EQ(times, 3);
    const auto answer = client.call(hold("b"));
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->root().getOutcomes()[0].isRefused());
  }
}

TEST(Client, AnotherLedgerTurnsItAway) {
  FakeServer server([](FakeServer& self) {
    auto connection = self.accept();
    const auto hello = connection.request();
    ASSERT_TRUE(hello);
    connection.answer(hello->getId(), [](wire::Response::Builder response) {
      response.initError().setKind(wire::ErrorKind::WRONG_LEDGER);
    });
  });
  BlockingClient client(options(server.address()));
  const auto answer = client.call(hold("a", "r1"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ClientError::Kind::server);
  EXPECT_EQ(answer.error().server_error, wire::ErrorKind::WRONG_LEDGER);
}

TEST(Client, NoServerIsSaidAtOnceWhenNothingIsToBeWaitedFor) {
  auto impatient = options("127.0.0.1:1");
  impatient.give_up_after = milliseconds(0);
  BlockingClient client(impatient);
  const auto answer = client.call(hold("a"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ClientError::Kind::not_sent);
  EXPECT_NE(answer.error().text.find("127.0.0.1:1"), std::string::npos);
}

TEST(Client, WhatIsNoAddressIsSaid) {
  for (const char* address : {"", "nowhere:port", "[::1", "host:99999"}) {
    BlockingClient client(options(address));
    const auto answer = client.call(hold("a"));
    ASSERT_FALSE(answer) << address;
    EXPECT_EQ(answer.error().kind, ClientError::Kind::not_sent);
  }
}

TEST(Client, ARequestBeyondTheLimitIsNotSent) {
  Request request;
  request.root().initBatch(1)[0].initHold().setLabel(std::string(9u << 20, 'x'));
  BlockingClient client(options("127.0.0.1:1"));
  const auto answer = client.call(std::move(request));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ClientError::Kind::not_sent);
}

TEST(Client, ClosingFailsWhatIsUnanswered) {
  BlockingClient client(options("127.0.0.1:1"));
  int failed = 0;
  client.send(hold("a"), [&](Client::Answer answer) { failed += answer ? 0 : 1; });
  client.send(show("b"), [&](Client::Answer answer) { failed += answer ? 0 : 1; });
  client.client().close();
  client.wait();
  EXPECT_EQ(failed, 2);
}

}  // namespace
}  // namespace holdfast::api
