#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/ledger/running_ledger.h"

namespace holdfast {
namespace {

LedgerOptions sweeping() {
  LedgerOptions options;
  options.sweep_at_a_time = 10;
  return options;
}

void hold_many(RunningLedger& running, int count, const char* ttl) {
  std::vector<Submission> commands;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    commands.emplace_back(testing::command_of("hold p/" + n + " key=h" + n + " ttl=" + ttl));
  }
  for (const Outcome& outcome : running.submit(std::move(commands))) EXPECT_TRUE(outcome);
}

std::size_t count_expired(RunningLedger& running) {
  std::set<std::string> keys;
  std::size_t count = 0;
  for (const Event& event : running.event_list()) {
    if (!std::holds_alternative<Expired>(event.happening)) continue;
    ++count;
    keys.insert(event.key->str());
    EXPECT_EQ(event.actor.str(), "system");
  }
  EXPECT_EQ(keys.size(), count) << "each hold has one end";
  return count;
}

void wait_for_head(RunningLedger& running, std::uint64_t position) {
  for (int i = 0; i < 2'000 && running.log().head() < Position{position}; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(running.log().head(), Position{position});
}

TEST(Sweep, OffRecordsOnlyWhenAsked) {
  RunningLedger running;
  hold_many(running, 35, "10s");
  running.time.pass({10'000});
  running.now();
  EXPECT_EQ(count_expired(running), 0u);
  SweepReport report = running.sweep(30);
  EXPECT_EQ(report.recorded, 30u);
  EXPECT_EQ(report.left, 5u);
  EXPECT_EQ(count_expired(running), 30u);
  report = running.sweep(30);
  EXPECT_EQ(report.recorded, 5u);
  EXPECT_EQ(report.left, 0u);
  report = running.sweep(0);
  EXPECT_EQ(report.recorded, 0u);
}

TEST(Sweep, AskedForMoreThanAPieceRecordsItInPieces) {
  LedgerOptions options = RunningLedger::quiet();
  options.sweep_at_a_time = 7;
  RunningLedger running(options);
  hold_many(running, 40, "10s");
  running.time.pass({10'000});
  const SweepReport report = running.sweep(38);
  EXPECT_EQ(report.recorded, 38u);
  EXPECT_EQ(report.left, 2u);
}

TEST(Sweep, OnRecordsAllThatHasLapsedInPieces) {
  RunningLedger running(sweeping());
  hold_many(running, 35, "10s");
  running.time.pass({10'000});
  running.now();  // the writer looks at its clock
  wait_for_head(running, 70);
  EXPECT_EQ(count_expired(running), 35u);
}

TEST(Sweep, SwitchedOnRecordsWhatWaits) {
  RunningLedger running;
  hold_many(running, 5, "10s");
  running.time.pass({10'000});
  running.now();
  running.ledger().set_sweep(true);
  wait_for_head(running, 10);
}

TEST(Sweep, WakesByItselfWhenAHoldLapses) {
  LedgerOptions options = sweeping();
  store::MemoryDisk disk;
  const MachineTime time;
  store::OpenOptions on_disk;
  on_disk.fs = disk.mount();
  on_disk.dir = "/data";
  auto log = store::Log::open(on_disk);
  ASSERT_TRUE(log);
  Maps maps;
  Ledger ledger(**log, State(), time, maps, maps, options);
  std::vector<Submission> commands;
  commands.emplace_back(testing::command_of("hold a key=h1 ttl=1s"));
  std::get<Hold>(commands.front()->action).expiry.ttl = Duration{50};
  ledger.submit(std::move(commands), [](auto, Position) {});
  for (int i = 0; i < 2'000 && (*log)->head() < Position{2}; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto expired = (*log)->read(Position{2});
  ASSERT_TRUE(expired) << "nobody asked for anything after the hold";
  EXPECT_GE(expired->recorded_at, std::get<Expired>(expired->happening).due);
}

TEST(Sweep, AfterARestartChainsGoOn) {
  RunningLedger running;
  hold_many(running, 5, "10s");
  running.time.pass({10'000});
  running.restart();
  EXPECT_EQ(running.sweep(10).recorded, 5u);
  for (const Event& event : running.event_list()) {
    if (event.position > Position{5}) {
      EXPECT_EQ(event.previous_on_resource, event.previous_of_claim);
      EXPECT_NE(event.previous_on_resource, Position{});
    }
  }
}

TEST(Sweep, ChangesNoAnswer) {
  const std::vector<std::string> lines = {
      "hold a key=h1 holder=ann ttl=5s", "hold b key=h2 holder=ann ttl=5s",
      "extend h1 holder=ann ttl=60s",    "commit h2 holder=ann",
      "hold b key=h3 holder=bob ttl=7s", "steal h2 from-holder=ann holder=cyd key=h4",
      "release h3 holder=bob",           "hold a key=h5 holder=bob ttl=3s",
      "hold a key=h6 holder=cyd ttl=3s", "steal h5 from-holder=bob holder=cyd key=h7 ttl=2s",
      "hold a key=h5 holder=bob",
  };
  std::vector<std::vector<std::string>> answers;
  for (const bool on : {false, true}) {
    LedgerOptions options;
    options.sweep = on;
    RunningLedger running(options);
    auto& said = answers.emplace_back();
    for (const std::string& line : lines) {
      running.time.pass({2'000});
      running.now();
      if (on) running.sweep(100);
      const auto outcome = running.submit(testing::command_of(line));
      said.push_back(outcome ? std::string("ok x") + std::to_string(outcome->available.value_or(-1))
                             : testing::text_of(outcome.error()));
    }
  }
  EXPECT_EQ(answers[0], answers[1]);
}

TEST(Sweep, DoesNotStarveCommands) {
  LedgerOptions options = sweeping();
  options.sweep_at_a_time = 1;
  RunningLedger running(options);
  hold_many(running, 2'000, "10s");
  running.time.pass({10'000});
  for (int i = 0; i < 20; ++i) {
    const std::string key = "late" + std::to_string(i);
    EXPECT_TRUE(running.submit(hold(key, key)));
  }
  EXPECT_LT(count_expired(running), 2'000u) << "commands came in between";
  wait_for_head(running, 4'020);
}

}  // namespace
}  // namespace holdfast
