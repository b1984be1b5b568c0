#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/api/server/fake_server.h"
#include "tests/api/server/watcher.h"

// What the client library makes of a subscription when its server does not do as hoped.
namespace holdfast::api {
namespace {

using std::chrono::milliseconds;
using Positions = std::vector<std::uint64_t>;

const std::string kNamedLedger = "0123456789abcdef";

ClientOptions options(const FakeServer& server) {
  ClientOptions options;
  options.server = server.address();
  options.backoff_first = milliseconds(1);
  options.backoff_max = milliseconds(5);
  options.give_up_after = milliseconds(10'000);
  return options;
}

void send_mark(FakeConnection& connection, std::uint64_t id, std::uint64_t position,
               const std::function<void(wire::Mark::Builder)>& fill) {
  connection.answer(id, [&](wire::Response::Builder response) {
    response.setPosition(position);
    fill(response.initMark());
  });
}

void send_begun(FakeConnection& connection, std::uint64_t id, std::uint64_t position,
                std::int64_t heartbeat_ms = 10'000) {
  send_mark(connection, id, position,
            [&](wire::Mark::Builder mark) { mark.initBegun().setHeartbeat(heartbeat_ms); });
}

void send_events(FakeConnection& connection, std::uint64_t id, std::uint64_t reached,
                 const Positions& positions) {
  connection.answer(id, [&](wire::Response::Builder response) {
    response.setPosition(reached);
    auto events = response.initEvents(static_cast<unsigned>(positions.size()));
    for (unsigned i = 0; i < events.size(); ++i) events[i].setPosition(positions[i]);
  });
}

struct Asked {
  std::uint64_t id = 0;
  std::int64_t from = 0;
  std::string resource = {};
};

// The next request, which must be one to subscribe.
Asked subscribed(FakeConnection& connection) {
  const auto request = connection.request();
  EXPECT_TRUE(request && request->isSubscription() && request->getSubscription().isSubscribe());
  if (!request || !request->isSubscription()) return {};
  const auto subscribe = request->getSubscription().getSubscribe();
  return {request->getId(), subscribe.getFromPosition(), subscribe.getResource().cStr()};
}

TEST(Subscriber, GoesOnBehindWhatItHasSeenWhenTheConnectionWasLost) {
  FakeServer server([](FakeServer& self) {
    {
      auto connection = self.accept();
      connection.greet(kNamedLedger);
      const auto asked = subscribed(connection);
      EXPECT_EQ(asked.from, wire::NONE);
      EXPECT_EQ(asked.resource, "hall");
      send_begun(connection, asked.id, 40);
      send_events(connection, asked.id, 47, {41, 44});
    }
    {
      auto connection = self.accept();
      connection.greet(kNamedLedger);
      const auto asked = subscribed(connection);
      EXPECT_EQ(asked.from, 48) << "what its filter does not let through is behind it too";
      EXPECT_EQ(asked.resource, "hall");
      send_begun(connection, asked.id, 47);
      send_mark(connection, asked.id, 52, [](wire::Mark::Builder mark) { mark.setHeartbeat(); });
      EXPECT_TRUE(connection.request());
    }
    auto connection = self.accept();
    EXPECT_EQ(connection.greet(kNamedLedger), kNamedLedger) << "never on with another ledger";
    const auto asked = subscribed(connection);
    EXPECT_EQ(asked.from, 53);
    send_events(connection, asked.id, 60, {60});
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {.resource = "hall"});
  ASSERT_TRUE(watcher.wait_for_position(60));
  EXPECT_EQ(watcher.positions(), (Positions{41, 44, 60}));
}

TEST(Subscriber, LostBeforeItBeganItAsksForTheSame) {
  FakeServer server([](FakeServer& self) {
    {
      auto connection = self.accept();
      connection.greet(kNamedLedger);
      EXPECT_EQ(subscribed(connection).from, 7);
    }
    auto connection = self.accept();
    connection.greet(kNamedLedger);
    const auto asked = subscribed(connection);
    EXPECT_EQ(asked.from, 7);
    send_begun(connection, asked.id, 6);
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {.from = 7});
  EXPECT_TRUE(watcher.wait_for_position(6));
}

TEST(Subscriber, CutOffAsTooSlowItSubscribesAgain) {
  FakeServer server([](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kNamedLedger);
    const auto first = subscribed(connection);
    send_begun(connection, first.id, 0);
    send_events(connection, first.id, 2, {1, 2});
    send_mark(connection, first.id, 2, [](wire::Mark::Builder mark) { mark.setCaughtUp(); });
    send_mark(connection, first.id, 2,
              [](wire::Mark::Builder mark) { mark.setEnded(wire::SubscriptionEnd::SLOW); });
    const auto again = subscribed(connection);
    EXPECT_EQ(again.from, 3);
    send_begun(connection, again.id, 2);
    send_events(connection, again.id, 4, {3, 4});
    send_mark(connection, again.id, 4, [](wire::Mark::Builder mark) { mark.setCaughtUp(); });
    send_events(connection, again.id, 5, {5});
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {.from = 1});
  ASSERT_TRUE(watcher.wait_until_interrupted());
  ASSERT_TRUE(watcher.wait_for_position(5));
  EXPECT_EQ(watcher.positions(), (Positions{1, 2, 3, 4, 5}));
  EXPECT_EQ(watcher.times_caught_up(), 1);
}

TEST(Subscriber, ARefusalEndsIt) {
  FakeServer server([](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kNamedLedger);
    connection.answer(subscribed(connection).id, [](wire::Response::Builder response) {
      response.initRefused().setReason(wire::Reason::BAD_TIME);
    });
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {.from = 1'000});
  const auto ended = watcher.wait_until_ended();
  ASSERT_TRUE(ended && ended->root().isRefused());
  EXPECT_EQ(ended->root().getRefused().getReason(), wire::Reason::BAD_TIME);
}

TEST(Subscriber, ALogThatCannotBeReadEndsIt) {
  FakeServer server([](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kNamedLedger);
    send_mark(connection, subscribed(connection).id, 0,
              [](wire::Mark::Builder mark) { mark.setEnded(wire::SubscriptionEnd::UNAVAILABLE); });
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {.from = 1});
  const auto ended = watcher.wait_until_ended();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().server_error, wire::ErrorKind::UNAVAILABLE);
}

TEST(Subscriber, HeartbeatsAreAnswered) {
  FakeServer server([](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kNamedLedger);
    const auto asked = subscribed(connection);
    send_begun(connection, asked.id, 0);
    for (int i = 0; i < 3; ++i) {
      send_mark(connection, asked.id, 0, [](wire::Mark::Builder mark) { mark.setHeartbeat(); });
      const auto heard = connection.request();
      ASSERT_TRUE(heard && heard->isSubscription() && heard->getSubscription().isHeard());
      EXPECT_EQ(heard->getSubscription().getHeard(), asked.id);
    }
    send_events(connection, asked.id, 1, {1});
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {});
  EXPECT_TRUE(watcher.wait_for_position(1));
}

TEST(Subscriber, ASilentServerIsLeft) {
  FakeServer server([](FakeServer& self) {
    auto silent = self.accept();
    silent.greet(kNamedLedger);
    const auto asked = subscribed(silent);
    send_begun(silent, asked.id, 3, 30);
    EXPECT_FALSE(silent.request()) << "the client has closed";
    auto connection = self.accept();
    connection.greet(kNamedLedger);
    const auto again = subscribed(connection);
    EXPECT_EQ(again.from, 4);
    send_events(connection, again.id, 4, {4});
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {});
  EXPECT_TRUE(watcher.wait_for_position(4));
}

TEST(Subscriber, IsToldNothingOnceItHasUnsubscribed) {
  FakeServer server([](FakeServer& self) {
    auto connection = self.accept();
    connection.greet(kNamedLedger);
    const auto asked = subscribed(connection);
    send_begun(connection, asked.id, 0);
    send_events(connection, asked.id, 1, {1});
    const auto request = connection.request();
    ASSERT_TRUE(request && request->isSubscription());
    EXPECT_EQ(request->getSubscription().getUnsubscribe(), asked.id);
    send_events(connection, asked.id, 2, {2});
    while (connection.request()) {
    }
  });
  Watcher watcher(options(server), {});
  ASSERT_TRUE(watcher.wait_for_position(1));
  watcher.unsubscribe();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(watcher.positions(), Positions{1});
}

}  // namespace
}  // namespace holdfast::api
