#include <gtest/gtest.h>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/api/server/peer.h"
#include "tests/api/server/running_server.h"
#include "tests/api/server/watcher.h"

// Subscriptions over a real connection.
namespace holdfast::api {
namespace {

std::vector<std::uint64_t> positions(std::uint64_t from, std::uint64_t until) {
  std::vector<std::uint64_t> all(until + 1 - from);
  std::iota(all.begin(), all.end(), from);
  return all;
}

struct HoldOf {
  std::string resource;
  std::string key;
  std::string holder = "ann";
  std::string label = {};
};

Request holds(const std::vector<HoldOf>& asked) {
  Request request(static_cast<unsigned>(asked.size()) * 64);
  auto batch = request.root().initBatch(static_cast<unsigned>(asked.size()));
  for (unsigned i = 0; i < batch.size(); ++i) {
    auto hold = batch[i].initHold();
    hold.setResource(asked[i].resource);
    hold.setKey(asked[i].key);
    hold.setHolder(asked[i].holder);
    if (!asked[i].label.empty()) hold.setLabel(asked[i].label);
  }
  return request;
}

// Holds `count` resources below `prefix`; everything must be accepted.
void hold_many(BlockingClient& client, const std::string& prefix, std::uint64_t count,
               const std::string& label = {}) {
  std::vector<HoldOf> batch;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = prefix + "/" + std::to_string(i);
    batch.push_back({name, name, "ann", label});
    if (batch.size() < 500 && i + 1 < count) continue;
    const auto answer = client.call(holds(batch));
    ASSERT_TRUE(answer) << answer.error().text;
    for (const auto outcome : answer->root().getOutcomes()) ASSERT_TRUE(outcome.isAccepted());
    batch.clear();
  }
}

wire::Mark::Which mark_of(const std::optional<Response>& response) {
  EXPECT_TRUE(response && response->root().isMark());
  return response && response->root().isMark() ? response->root().getMark().which()
                                               : wire::Mark::ENDED;
}

TEST(Subscription, ManyWritersOfWhomSomeAreRefusedEveryPositionOnceInOrder) {
  constexpr int kWriters = 64;
  constexpr int kCommands = 45;  // a third of them refused
  ServerOptions options;
  options.io_threads = 2;
  RunningServer running(options);
  Watcher from_begin(running.client_options(), {.from = 1});
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&running, w] {
      BlockingClient client(running.client_options());
      for (int i = 0; i < kCommands; ++i) {
        // Every third asks for what the one before it has taken.
        const int of = i % 3 == 2 ? i - 1 : i;
        const std::string resource = "w" + std::to_string(w) + "/" + std::to_string(of);
        const auto answer = client.call(
            holds({{resource, std::to_string(w) + "-" + std::to_string(i), "holder", {}}}));
        ASSERT_TRUE(answer) << answer.error().text;
        EXPECT_EQ(answer->root().getOutcomes()[0].isRefused(), i % 3 == 2);
      }
    });
  }
  Watcher midway(running.client_options(), {.from = 1});
  for (auto& writer : writers) writer.join();
  Watcher afterwards(running.client_options(), {.from = 1});
  constexpr std::uint64_t kEvents = kWriters * kCommands / 3 * 2;
  EXPECT_EQ(running.log().head().value, kEvents);
  for (Watcher* watcher : {&from_begin, &midway, &afterwards}) {
    ASSERT_TRUE(watcher->wait_for_position(kEvents));
    EXPECT_EQ(watcher->positions(), positions(1, kEvents));
    EXPECT_TRUE(watcher->wait_until_caught_up());
  }
}

TEST(Subscription, CatchesUpWhileWritersAreAtWork) {
  RunningServer running;
  BlockingClient client(running.client_options());
  hold_many(client, "before", 20'000);
  std::thread writer([&] {
    BlockingClient own(running.client_options());
    hold_many(own, "meanwhile", 10'000);
  });
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (const std::int64_t from : {1, 1, 777, 20'000}) {
    watchers.push_back(std::make_unique<Watcher>(running.client_options(), Sight{.from = from}));
  }
  writer.join();
  const std::uint64_t froms[] = {1, 1, 777, 20'000};
  for (std::size_t i = 0; i < watchers.size(); ++i) {
    ASSERT_TRUE(watchers[i]->wait_for_position(30'000));
    EXPECT_EQ(watchers[i]->positions(), positions(froms[i], 30'000));
  }
}

TEST(Subscription, AWatcherOfAHallSeesItsSeats) {
  RunningServer running;
  Watcher hall(running.client_options(), {.from = 1, .resource = "hall"});
  Watcher hall_live(running.client_options(), {.resource = "hall"});
  Watcher bob(running.client_options(), {.from = 1, .holder = "bob"});
  Watcher closed(running.client_options(), {.from = 1, .resource = "hall", .type = "closed"});
  for (Watcher* watcher : {&hall, &hall_live, &bob, &closed}) watcher->wait_until_caught_up();
  BlockingClient client(running.client_options());
  ASSERT_TRUE(client.call(holds({{"hall/a/12", "k1"},
                                 {"hallway", "k2"},
                                 {"hall", "k3", "bob"},
                                 {"hal", "k4", "bob"},
                                 {"annexe/hall", "k5"}})));
  Request close;
  close.root().initBatch(1)[0].initDefine().setResource("hall/a");
  ASSERT_TRUE(client.call(std::move(close)));
  Request now;
  now.root().initBatch(1)[0].initClose().setResource("hall/a");
  ASSERT_TRUE(client.call(std::move(now)));
  Watcher late(running.client_options(), {.from = 1, .resource = "hall"});
  using Paths = std::vector<std::string>;
  for (Watcher* watcher : {&hall, &hall_live, &late}) {
    ASSERT_TRUE(watcher->wait_for_position(7));
    EXPECT_EQ(watcher->resources(), (Paths{"hall/a/12", "hall", "hall/a", "hall/a"}));
    EXPECT_EQ(watcher->positions(), (std::vector<std::uint64_t>{1, 3, 6, 7}));
  }
  ASSERT_TRUE(bob.wait_for_position(4));
  EXPECT_EQ(bob.resources(), (Paths{"hall", "hal"}));
  ASSERT_TRUE(closed.wait_for_position(7));
  EXPECT_EQ(closed.positions(), std::vector<std::uint64_t>{7});
}

TEST(Subscription, AMoveIsSeenWhereItComesFromAndWhereItGoes) {
  RunningServer running;
  BlockingClient client(running.client_options());
  Watcher from(running.client_options(), {.resource = "hall/a"});
  Watcher to(running.client_options(), {.resource = "annexe"});
  Watcher both(running.client_options(), {});
  for (Watcher* watcher : {&from, &to, &both}) watcher->wait_until_caught_up();
  ASSERT_TRUE(client.call(holds({{"hall/a/1", "k1"}})));
  Request request;
  auto move = request.root().initBatch(1)[0].initMove();
  move.setKey("k1");
  move.setHolder("ann");
  move.setTo("annexe/7");
  const auto moved = client.call(std::move(request));
  ASSERT_TRUE(moved && moved->root().getOutcomes()[0].isAccepted());
  Watcher late(running.client_options(), {.from = 1, .resource = "annexe/7"});
  using Positions = std::vector<std::uint64_t>;
  for (Watcher* watcher : {&from, &to, &both, &late}) {
    ASSERT_TRUE(watcher->wait_for_position(2));
  }
  EXPECT_EQ(from.positions(), (Positions{1, 2}));
  EXPECT_EQ(to.positions(), Positions{2});
  EXPECT_EQ(both.positions(), (Positions{1, 2}));
  EXPECT_EQ(late.positions(), Positions{2});
}

TEST(Subscription, WhatMakesNoSenseIsRefused) {
  RunningServer running;
  BlockingClient client(running.client_options());
  hold_many(client, "room", 3);
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  const auto refusal = [&](const Sight& sight) {
    Request request = subscribe_request(sight);
    request.root().setId(9);
    peer.send(std::move(request));
    const auto answer = peer.answer();
    EXPECT_TRUE(answer && answer->root().isRefused());
    const auto refused = answer->root().getRefused();
    return std::pair(refused.getReason(), std::string(refused.getField().cStr()));
  };
  using wire::Reason;
  const std::string none;
  EXPECT_EQ(refusal({.from = 5}), std::pair(Reason::BAD_TIME, none));
  EXPECT_EQ(refusal({.from = std::numeric_limits<std::int64_t>::max()}),
            std::pair(Reason::BAD_TIME, none));
  EXPECT_EQ(refusal({.from = 0}), std::pair(Reason::BAD_TIME, none));
  EXPECT_EQ(refusal({.from = -1}), std::pair(Reason::BAD_TIME, none));
  EXPECT_EQ(refusal({.resource = "a//b"}), std::pair(Reason::BAD_PATH, none));
  EXPECT_EQ(refusal({.holder = std::string(201, 'x')}),
            std::pair(Reason::BAD_TEXT, std::string("holder")));
  EXPECT_EQ(refusal({.type = "happened"}), std::pair(Reason::BAD_TEXT, std::string("type")));
  Request next = subscribe_request({.from = 4});
  next.root().setId(9);
  peer.send(std::move(next));
  EXPECT_EQ(mark_of(peer.answer()), wire::Mark::BEGUN);
}

TEST(Subscription, OnlySoManyOfAConnection) {
  ServerOptions options;
  options.limits.subscriptions = 2;
  RunningServer running(options);
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  const auto subscribe = [&](std::uint64_t id) {
    Request request = subscribe_request({});
    request.root().setId(id);
    peer.send(std::move(request));
  };
  for (const std::uint64_t id : {1, 2}) {
    subscribe(id);
    EXPECT_EQ(mark_of(peer.answer()), wire::Mark::BEGUN);
    EXPECT_EQ(mark_of(peer.answer()), wire::Mark::CAUGHT_UP);
  }
  subscribe(3);
  const auto refused = peer.answer();
  ASSERT_TRUE(refused && refused->root().isRefused());
  EXPECT_EQ(refused->root().getRefused().getReason(), wire::Reason::LIMIT);
  EXPECT_EQ(refused->root().getRefused().getMax(), 2);
  subscribe(2);
  const auto again = peer.answer();
  ASSERT_TRUE(again && again->root().isError()) << "an id names one subscription";
}

TEST(Subscription, AfterUnsubscribingNothingMoreComes) {
  RunningServer running;
  BlockingClient client(running.client_options());
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  Request subscribe = subscribe_request({});
  subscribe.root().setId(5);
  peer.send(std::move(subscribe));
  EXPECT_EQ(mark_of(peer.answer()), wire::Mark::BEGUN);
  EXPECT_EQ(mark_of(peer.answer()), wire::Mark::CAUGHT_UP);
  Request unsubscribe;
  unsubscribe.root().setId(6);
  unsubscribe.root().initSubscription().setUnsubscribe(5);
  peer.send(std::move(unsubscribe));
  bool done = false;
  bool ended = false;
  while (!done || !ended) {
    const auto answer = peer.answer();
    ASSERT_TRUE(answer);
    done = done || (answer->root().isDone() && answer->root().getId() == 6);
    if (!answer->root().isMark()) continue;
    EXPECT_EQ(answer->root().getMark().getEnded(), wire::SubscriptionEnd::UNSUBSCRIBED);
    ended = true;
  }
  hold_many(client, "room", 100);
  Request head;
  head.root().setId(7);
  head.root().initQuery().initHead();
  peer.send(std::move(head));
  const auto answer = peer.answer();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->root().isHead()) << "no event came before it";
}

TEST(Subscription, WhoDoesNotReadIsCutOffAndGoesOnWhereItWas) {
  HubOptions hub;
  hub.max_unsent_bytes = 64u << 10;
  RunningServer running({}, {}, hub);
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  Request subscribe = subscribe_request({});
  subscribe.root().setId(5);
  peer.send(std::move(subscribe));
  EXPECT_EQ(mark_of(peer.answer()), wire::Mark::BEGUN);
  EXPECT_EQ(mark_of(peer.answer()), wire::Mark::CAUGHT_UP);

  BlockingClient client(running.client_options());
  hold_many(client, "room", 5'000, std::string(4'000, 'x'));  // more than the kernel takes

  std::vector<std::uint64_t> seen;
  std::uint64_t reached = 0;
  std::uint64_t subscription = 5;
  bool cut_off = false;
  while (reached < 5'000) {
    const auto answer = peer.answer();
    ASSERT_TRUE(answer);
    const auto root = answer->root();
    ASSERT_EQ(root.getId(), subscription);
    reached = root.getPosition();
    if (root.isEvents()) {
      for (const auto event : root.getEvents()) seen.push_back(event.getPosition());
    }
    if (!root.isMark() || !root.getMark().isEnded()) continue;
    EXPECT_EQ(root.getMark().getEnded(), wire::SubscriptionEnd::SLOW);
    EXPECT_FALSE(cut_off);
    cut_off = true;
    Request again = subscribe_request({.from = static_cast<std::int64_t>(reached + 1)});
    again.root().setId(++subscription);
    peer.send(std::move(again));
  }
  EXPECT_TRUE(cut_off);
  EXPECT_EQ(seen, positions(1, 5'000));
}

TEST(Subscription, ARebuildIsNoEvent) {
  RunningServer running;
  BlockingClient client(running.client_options());
  hold_many(client, "room", 10'000);
  Watcher watcher(running.client_options(), {});
  Watcher from_begin(running.client_options(), {.from = 1});
  watcher.wait_until_caught_up();
  from_begin.wait_until_caught_up();
  Request rebuild;
  rebuild.root().initAdmin().initRebuild();
  const auto rebuilt = client.call(std::move(rebuild));
  ASSERT_TRUE(rebuilt && rebuilt->root().isRebuild());
  EXPECT_EQ(rebuilt->root().getRebuild().getDifferences().size(), 0u);
  EXPECT_EQ(running.log().head().value, 10'000u);
  hold_many(client, "after", 1);
  ASSERT_TRUE(watcher.wait_for_position(10'001));
  EXPECT_EQ(watcher.positions(), positions(10'001, 10'001));
  ASSERT_TRUE(from_begin.wait_for_position(10'001));
  EXPECT_EQ(from_begin.positions(), positions(1, 10'001));
}

TEST(Subscription, APeerThatAnswersNoHeartbeatIsDroppedAndItsHoldsEndByThemselves) {
  HubOptions hub;
  hub.heartbeat = Duration{100};
  RunningServer running({}, {}, hub);
  Watcher answering(running.client_options(), {});
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello("vanishing"));
  Request hold = holds({{"room", "k1", "vanishing", {}}});
  hold.root().getBatch()[0].getHold().setTtl(5'000);
  hold.root().setId(4);
  peer.send(std::move(hold));
  ASSERT_TRUE(peer.answer());
  Request subscribe = subscribe_request({});
  subscribe.root().setId(5);
  peer.send(std::move(subscribe));
  while (peer.answer()) {  // takes everything and answers nothing
  }
  BlockingClient client(running.client_options());
  const auto state = [&] {
    Request show;
    show.root().initQuery().initClaim().setKey("k1");
    const auto answer = client.call(std::move(show));
    EXPECT_TRUE(answer && answer->root().isClaim());
    return answer->root().getClaim().getState();
  };
  EXPECT_EQ(state(), wire::ClaimState::HELD);
  for (int i = 0; i < 300 && state() == wire::ClaimState::HELD; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(state(), wire::ClaimState::EXPIRED);
  hold_many(client, "after", 1);
  ASSERT_TRUE(answering.wait_for_position(running.log().head().value));
  EXPECT_EQ(answering.times_caught_up(), 1) << "who answers is kept";
}

TEST(Subscription, AStopOfTheServerEndsItInOrder) {
  RunningServer running;
  Peer peer(running.port());
  ASSERT_TRUE(peer.hello());
  Request subscribe = subscribe_request({});
  subscribe.root().setId(5);
  peer.send(std::move(subscribe));
  EXPECT_EQ(mark_of(peer.answer()), wire::Mark::BEGUN);
  EXPECT_EQ(mark_of(peer.answer()), wire::Mark::CAUGHT_UP);
  BlockingClient client(running.client_options());
  hold_many(client, "room", 200);
  std::thread stopping([&] { running.server().stop(); });
  std::vector<std::uint64_t> seen;
  std::optional<wire::SubscriptionEnd> end;
  while (const auto answer = peer.answer()) {
    if (answer->root().isEvents()) {
      for (const auto event : answer->root().getEvents()) seen.push_back(event.getPosition());
    } else {
      ASSERT_EQ(mark_of(answer), wire::Mark::ENDED);
      end = answer->root().getMark().getEnded();
    }
  }
  stopping.join();
  EXPECT_EQ(end, wire::SubscriptionEnd::STOPPING);
  EXPECT_EQ(seen, positions(1, 200));
}

}  // namespace
}  // namespace holdfast::api
