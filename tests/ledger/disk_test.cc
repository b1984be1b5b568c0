#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/ledger/running_ledger.h"

namespace holdfast {
namespace {

constexpr std::uint64_t kReserve = 1'000;

LedgerOptions with_reserve() {
  LedgerOptions options = RunningLedger::quiet();
  options.min_free_disk_bytes = kReserve;
  return options;
}

// The disk is looked at about once a second, busy or not.
bool becomes_read_only(RunningLedger& running, bool wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (running.ledger().status().read_only != wanted) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    running.time.pass({1'000});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

TEST(LowDisk, CommandsAreRefusedWhileQueriesWorkUntilThereIsSpaceAgain) {
  RunningLedger running(with_reserve());
  running.disk().set_free_bytes(kReserve);
  ASSERT_EQ(running.run("hold a key=h1 holder=ann ttl=1h").substr(0, 2), "ok");
  running.disk().set_free_bytes(kReserve - 1);
  ASSERT_TRUE(becomes_read_only(running, true));
  const std::string before = running.events();
  EXPECT_EQ(running.run("hold b key=h2"), "read_only field=disk");
  EXPECT_EQ(running.run("release h1 holder=ann"), "read_only field=disk");
  EXPECT_EQ(running.run("hold a quantity=0"), "read_only field=disk") << "whatever else is wrong";
  EXPECT_NE(running.show("h1").find("held"), std::string::npos) << running.show("h1");
  EXPECT_EQ(running.events(), before);
  running.disk().set_free_bytes(kReserve);
  ASSERT_TRUE(becomes_read_only(running, false));
  EXPECT_EQ(running.run("hold b key=h2").substr(0, 2), "ok");
}

TEST(LowDisk, TheSweepWritesNothingEither) {
  RunningLedger running(with_reserve());
  running.run("hold a key=h1 ttl=1s");
  running.disk().set_free_bytes(0);
  ASSERT_TRUE(becomes_read_only(running, true));
  running.time.pass({2'000});
  EXPECT_EQ(running.sweep(10).recorded, 0u);
  running.disk().set_free_bytes(kReserve);
  ASSERT_TRUE(becomes_read_only(running, false));
  EXPECT_EQ(running.sweep(10).recorded, 1u);
}

TEST(LowDisk, IsSeenAtTheStart) {
  RunningLedger running(with_reserve());
  running.disk().set_free_bytes(kReserve - 1);
  running.restart();
  EXPECT_EQ(running.run("hold a key=h1"), "read_only field=disk");
}

TEST(LowDisk, AnImportStopsAndGoesOnWhereItStopped) {
  RunningLedger running(with_reserve());
  const auto line = [&](std::uint64_t number) {
    return ImportLine{number, testing::kT0,
                      testing::command_of("hold a/" + std::to_string(number))};
  };
  running.import_begin(1);
  ASSERT_TRUE(running.import_lines({line(1)})[0]);
  running.disk().set_free_bytes(0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::uint64_t next = 2;
  while (running.import_lines({line(next)})[0]) {
    ++next;
    running.time.pass({1'000});
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  EXPECT_EQ(running.import_begin(1).error().field, "disk");
  running.disk().set_free_bytes(kReserve);
  while (!running.import_begin(1)) {
    running.time.pass({1'000});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  EXPECT_EQ(running.import_begin(1).value(), next - 1);
  EXPECT_TRUE(running.import_lines({line(next)})[0]);
}

}  // namespace
}  // namespace holdfast
