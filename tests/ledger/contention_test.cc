// Many threads at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/ledger/running_ledger.h"

namespace holdfast {
namespace {

// Each thread runs `work(i)` once all of them are there.
template <class Work>
void at_once(int threads, const Work& work) {
  std::latch ready(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      ready.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : running) thread.join();
}

Command transaction_of(const std::vector<std::string>& lines) {
  Transact transact;
  for (const std::string& line : lines) transact.steps.push_back({testing::command_of(line)});
  Command command = testing::command_of(lines.front());
  command.action = std::move(transact);
  return command;
}

TEST(Contention, OfThirtyTwoHoldsOfARoomOneIsAccepted) {
  RunningLedger running;
  std::mutex mutex;
  std::map<std::string, int> reasons;
  at_once(32, [&](int i) {
    const std::string line = "hold room-1 from=10h until=11h key=h" + std::to_string(i);
    const std::string answer = running.run(line);
    const std::lock_guard lock(mutex);
    ++reasons[answer.substr(0, answer.find(' '))];
  });
  EXPECT_EQ(reasons, (std::map<std::string, int>{{"conflict", 31}, {"ok", 1}}));
  EXPECT_EQ(running.log().head(), Position{1});
}

TEST(Contention, OfEightCommitsOfAHoldOneIsAccepted) {
  RunningLedger running;
  running.run("hold room-1 key=h1 holder=ann");
  std::mutex mutex;
  std::map<std::string, int> reasons;
  at_once(8, [&](int i) {
    const std::string n = std::to_string(i);
    const std::string answer = running.run("commit h1 holder=ann request=r" + n + " content=" + n);
    const std::lock_guard lock(mutex);
    ++reasons[answer.substr(0, answer.find(' '))];
  });
  EXPECT_EQ(reasons, (std::map<std::string, int>{{"already_committed", 7}, {"ok", 1}}));
  EXPECT_EQ(running.log().head(), Position{2});
}

TEST(Contention, ManyWritersReadersAndTheSweepLeaveADenseLogWithItsChains) {
  LedgerOptions options;
  options.sweep_at_a_time = 16;
  options.max_group_commands = 64;
  RunningLedger running(options);
  constexpr int kThreads = 8;
  constexpr int kRounds = 60;
  std::atomic<std::uint64_t> written = 0;
  at_once(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      const std::string key = "k" + std::to_string(i) + "-" + std::to_string(round);
      const std::string path = "p/" + std::to_string((i * 7 + round) % 5);
      std::vector<Submission> commands;
      commands.emplace_back(testing::command_of("hold " + path + " key=" + key + " ttl=3s"));
      commands.emplace_back(testing::command_of("extend " + key + " holder=app ttl=4s"));
      if (round % 3 == 0) {
        commands.emplace_back(testing::command_of("release " + key + " holder=app"));
      }
      for (const Outcome& outcome : running.submit(std::move(commands))) {
        if (outcome) written += outcome->count;
      }
      if (i == 0) running.time.pass({500});
      running.show(key);
    }
  });
  running.ledger().stop();
  std::map<std::string, Position> on_resource;
  std::map<std::string, Position> of_claim;
  std::uint64_t swept = 0;
  Instant last{};
  for (const Event& event : running.event_list()) {
    EXPECT_EQ(event.previous_on_resource, on_resource[event.resource.str()]);
    EXPECT_EQ(event.previous_of_claim, of_claim[event.key->str()]);
    on_resource[event.resource.str()] = of_claim[event.key->str()] = event.position;
    EXPECT_GE(event.recorded_at, last);
    last = event.recorded_at;
    if (event.transaction_count == 1 && std::holds_alternative<Expired>(event.happening)) ++swept;
  }
  EXPECT_EQ(running.log().head(), Position{written + swept});
  EXPECT_EQ(running.maps().projected(), running.log().head());
}

// Three of eight resources, in whatever order: nobody waits for anybody, nobody gets a part.
TEST(Contention, TransactionsOverSeveralResourcesAreWholeOrNothing) {
  constexpr int kClients = 16;
  constexpr int kRounds = 10'000 / kClients;
  RunningLedger running;
  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;
  at_once(kClients, [&](int client) {
    std::mt19937 random(static_cast<unsigned>(client));
    std::array<int, 8> resources{0, 1, 2, 3, 4, 5, 6, 7};
    for (int round = 0; round < kRounds; ++round) {
      std::shuffle(resources.begin(), resources.end(), random);
      std::vector<std::string> holds;
      std::vector<std::string> releases;
      for (int i = 0; i < 3; ++i) {
        const std::string key =
            std::to_string(client) + "/" + std::to_string(round) + "/" + std::to_string(i);
        holds.push_back("hold r" + std::to_string(resources[static_cast<std::size_t>(i)]) +
                        " key=" + key + " holder=h" + std::to_string(client));
        releases.push_back("release " + key + " holder=h" + std::to_string(client));
      }
      if (!running.submit(transaction_of(holds))) {
        ++refused;
        continue;
      }
      ++accepted;
      EXPECT_TRUE(running.submit(transaction_of(releases)));
    }
  });
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 0u);
  // Three holds and three releases each, and nothing else; the log folds to what there is: nothing.
  EXPECT_EQ(running.log().head(), Position{6 * accepted});
  State replayed;
  for (const Event& event : running.event_list()) {
    EXPECT_EQ(event.transaction_count, 3u);
    replayed.evolve(event);
  }
  EXPECT_EQ(replayed.live_claims(), 0u);
}

TEST(Contention, ACrashInTheMiddleKeepsWhatWasAnswered) {
  RunningLedger running;
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    std::vector<std::pair<std::string, Position>> acknowledged;
    for (int i = 0; i < 300; ++i) {
      const std::string key = "k" + std::to_string(round) + "-" + std::to_string(i);
      std::vector<Submission> commands;
      commands.emplace_back(hold(key, key));
      running.ledger().submit(std::move(commands), [&, key](std::vector<Outcome> outcomes, auto) {
        const std::lock_guard lock(mutex);
        acknowledged.emplace_back(key, outcomes.front()->first);
      });
    }
    while (true) {
      const std::lock_guard lock(mutex);
      if (acknowledged.size() > 20) break;
    }
    running.crash();
    for (const auto& [key, position] : acknowledged) {
      const auto event = running.log().read(position);
      ASSERT_TRUE(event) << key;
      EXPECT_EQ(event->key->str(), key);
    }
  }
}

}  // namespace
}  // namespace holdfast
