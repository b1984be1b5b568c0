#include "api/session.h"

#include <gtest/gtest.h>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/server/peer.h"
#include "tests/api/server/running_server.h"

namespace holdfast::api {
namespace {

Request hold(const std::string& key, std::uint64_t id = 0) {
  Request request;
  request.root().setId(id);
  auto hold = request.root().initBatch(1)[0].initHold();
  hold.setResource("room/" + key);
  hold.setKey(key);
  return request;
}

wire::ErrorKind error_of(const std::optional<Response>& response) {
  EXPECT_TRUE(response && response->root().isError());
  if (!response || !response->root().isError()) return wire::ErrorKind::STORAGE;
  return response->root().getError().getKind();
}

TEST(Session, TheFirstMessageMustBeAHello) {
  RunningServer running;
  Peer peer(running.port());
  peer.send(hold("a", 5));
  const auto answer = peer.answer();
  EXPECT_EQ(error_of(answer), wire::ErrorKind::BAD_MESSAGE);
  EXPECT_EQ(answer->root().getId(), 5u);
  EXPECT_FALSE(peer.answer());
}

TEST(Session, WhoSaysNoHelloIsCutOffAndWhoSaidItIsNot) {
  ServerOptions options;
  options.times.hello = std::chrono::milliseconds(100);
  RunningServer running(options);
  Peer greeted(running.port());
  ASSERT_TRUE(greeted.hello());
  const auto began = std::chrono::steady_clock::now();
  Peer silent(running.port());
  Peer halting(running.port());
  halting.send(std::vector<std::byte>(6));
  EXPECT_FALSE(silent.answer());
  EXPECT_FALSE(halting.answer());
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(took, options.times.hello);
  EXPECT_LT(took, ServerOptions{}.times.hello);
  greeted.send(hold("a", 7));
  EXPECT_TRUE(greeted.answer());
}

// A peer that takes nothing of what is sent to it looks the same as one that vanished.
TEST(Session, APeerThatTakesNothingIsCutOff) {
  ServerOptions options;
  options.times.peer.untaken = std::chrono::milliseconds(300);
  RunningServer running(options);
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  Request request;
  auto holds = request.root().initBatch(4'000);
  for (auto command : holds) command.initHold().setResource("r");
  std::vector<std::byte> bytes;
  append_framed(request.message(), bytes);
  const auto began = std::chrono::steady_clock::now();
  while (peer.send(bytes)) {
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, ServerOptions{}.times.peer.untaken);
}

TEST(Session, OnlyTheFirstMessageMayBeAHello) {
  RunningServer running;
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  EXPECT_FALSE(peer.hello());
  EXPECT_FALSE(peer.answer());
}

TEST(Session, AHelloThatDoesNotFitIsTurnedAway) {
  RunningServer running;
  const auto turned_away = [&](auto change) {
    Peer peer(running.port());
    Request request;
    auto hello = request.root().initHello();
    hello.setProtocolVersion(wire::PROTOCOL_VERSION);
    change(hello);
    peer.send(std::move(request));
    auto answer = peer.answer();
    EXPECT_FALSE(peer.answer());
    return answer;
  };
  EXPECT_EQ(error_of(turned_away([](wire::Hello::Builder hello) { hello.setProtocolVersion(9); })),
            wire::ErrorKind::UNSUPPORTED_VERSION);
  EXPECT_EQ(error_of(turned_away([](wire::Hello::Builder hello) {
              const kj::byte id[16] = {1, 2, 3};
              hello.setLedgerId(kj::arrayPtr(id, sizeof id));
            })),
            wire::ErrorKind::WRONG_LEDGER);
  const auto refused =
      turned_away([](wire::Hello::Builder hello) { hello.setActor("bad\nactor"); });
  ASSERT_TRUE(refused && refused->root().isRefused());
  EXPECT_EQ(std::string(refused->root().getRefused().getField().cStr()), "actor");
}

TEST(Session, CommandsOfAConnectionAreDecidedInTheOrderOfTheirArrival) {
  RunningServer running;
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  std::vector<std::byte> bytes;
  for (std::uint64_t id = 1; id <= 300; ++id) {
    Request request;
    request.root().setId(id);
    auto command = request.root().initBatch(1)[0];
    const std::string key = "k" + std::to_string((id - 1) / 3);
    if (id % 3 == 1) {
      command.initHold().setResource("room/" + key);
      command.getHold().setKey(key);
    } else if (id % 3 == 2) {
      command.initCommit().setKey(key);
      command.getCommit().setHolder("peer");
    } else {
      command.initCancel().setKey(key);
      command.getCancel().setHolder("peer");
    }
    append_framed(request.message(), bytes);
  }
  peer.send(bytes);
  for (int i = 0; i < 300; ++i) {
    const auto answer = peer.answer();
    ASSERT_TRUE(answer && answer->root().isOutcomes());
    const auto outcome = answer->root().getOutcomes()[0];
    ASSERT_TRUE(outcome.isAccepted()) << answer->root().getId();
    EXPECT_EQ(outcome.getAccepted().getFirstPosition(), answer->root().getId());
  }
}

// A client that sends without ever reading is held back, and gets every answer once it reads.
TEST(Session, MoreThanMayBeUnderWayWaits) {
  ServerOptions options;
  options.limits.in_flight_requests = 4;
  options.limits.unsent_bytes = 4'096;
  RunningServer running(options);
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  constexpr std::uint64_t kRequests = 3'000;
  std::thread sender([&] {
    for (std::uint64_t id = 1; id <= kRequests; ++id) peer.send(hold(std::to_string(id), id));
  });
  sender.join();
  std::uint64_t accepted = 0;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    const auto answer = peer.answer();
    ASSERT_TRUE(answer && answer->root().isOutcomes());
    accepted += answer->root().getOutcomes()[0].isAccepted() ? 1 : 0;
  }
  EXPECT_EQ(accepted, kRequests);
}

TEST(Session, BeyondTheMemoryOfAllConnectionsIsOverloaded) {
  ServerOptions options;
  options.limits.all_bytes = 1;
  RunningServer running(options);
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  peer.send(hold("a", 1));
  const auto answer = peer.answer();
  ASSERT_TRUE(answer && answer->root().isRefused());
  EXPECT_EQ(answer->root().getRefused().getReason(), wire::Reason::OVERLOADED);
}

TEST(Session, TooManyConnectionsAreTurnedAwayAndTheOthersServed) {
  ServerOptions options;
  options.max_connections = 2;
  RunningServer running(options);
  Peer first(running.port());
  Peer second(running.port());
  ASSERT_TRUE(first.hello());
  ASSERT_TRUE(second.hello());
  Peer third(running.port());
  EXPECT_EQ(error_of(third.answer()), wire::ErrorKind::UNAVAILABLE);
  EXPECT_FALSE(third.answer());
  first.send(hold("a", 1));
  EXPECT_TRUE(first.answer());
}

TEST(Session, WhatWasSentBeforeThePeerFinishedIsAnswered) {
  RunningServer running;
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  for (std::uint64_t id = 1; id <= 50; ++id) peer.send(hold(std::to_string(id), id));
  peer.finish_sending();
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(peer.answer());
  EXPECT_FALSE(peer.answer());
}

TEST(Session, AStopAnswersWhatWasAcceptedAndCloses) {
  RunningServer running;
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  std::thread stopping;
  std::uint64_t sent = 0;
  for (std::uint64_t id = 1; id <= 2'000; ++id) {
    if (id == 1'000) stopping = std::thread([&] { running.server().stop(); });
    if (!peer.send(hold(std::to_string(id), id))) break;
    sent = id;
  }
  std::uint64_t answered = 0;
  while (peer.answer()) ++answered;
  stopping.join();
  EXPECT_GE(sent, answered);
  EXPECT_EQ(running.log().head().value, answered) << "nobody is left without an answer";
}

TEST(Session, ABatchOfNothingAndOneTooLargeAreErrors) {
  RunningServer running;
  for (const unsigned size : {0u, 8'193u}) {
    Peer peer(running.port());
    ASSERT_TRUE(peer.hello());
    Request request;
    request.root().setId(3);
    request.root().initBatch(size);
    peer.send(std::move(request));
    const auto answer = peer.answer();
    ASSERT_EQ(error_of(answer), wire::ErrorKind::BAD_MESSAGE);
    const std::string said = answer->root().getError().getText().cStr();
    EXPECT_NE(said.find(size == 0 ? "a batch of nothing" : "a batch of more than 8192"),
              std::string::npos)
        << said;
    EXPECT_EQ(answer->root().getId(), 3u);
    EXPECT_FALSE(peer.answer());
  }
}

TEST(Server, ListensOnThisMachineOnly) {
  RunningServer running;
  for (const char* host : {"0.0.0.0", "::", "8.8.8.8"}) {
    ServerOptions options;
    options.listen = {host, 0};
    const auto server = Server::listen(options, running.dispatch(), running.hub());
    ASSERT_FALSE(server) << host;
    EXPECT_NE(server.error().find("loopback"), std::string::npos) << server.error();
  }
}

TEST(Server, APortInUseIsSaid) {
  RunningServer running;
  ServerOptions options;
  options.listen = {"127.0.0.1", running.port()};
  const auto server = Server::listen(options, running.dispatch(), running.hub());
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().find("in use"), std::string::npos) << server.error();
}

TEST(Server, SeveralThreadsServe) {
  ServerOptions options;
  options.io_threads = 3;
  RunningServer running(options);
  std::vector<std::thread> clients;
  for (int c = 0; c < 6; ++c) {
    clients.emplace_back([&running, c] {
      BlockingClient client(running.client_options());
      for (int i = 0; i < 100; ++i) {
        const auto answer = client.call(hold(std::to_string(c) + "-" + std::to_string(i)));
        ASSERT_TRUE(answer) << answer.error().text;
        EXPECT_TRUE(answer->root().getOutcomes()[0].isAccepted());
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(running.log().head().value, 600u);
}

}  // namespace
}  // namespace holdfast::api
