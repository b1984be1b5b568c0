// After a restart nothing is known of the chains that commands go on with: how often the writer has
// to ask for their ends must not depend on how many there are.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/ledger/running_ledger.h"

namespace holdfast {
namespace {

constexpr std::size_t kHolds = 1'000;
// To judge, and again for paths that were nowhere in memory before it was judged.
constexpr std::size_t kFewTimes = 2;

class ChainsAfterARestart : public ::testing::Test {
 protected:
  void hold_all_and_restart(bool bound) {
    std::vector<Submission> commands;
    for (std::size_t i = 0; i < kHolds; ++i) {
      const std::string n = std::to_string(i);
      Command command = testing::command_of("hold hall/" + n + " key=h" + n + " cart=c ttl=10m");
      std::get<Hold>(command.action).bound = bound;
      commands.emplace_back(std::move(command));
    }
    for (const Outcome& outcome : running_.submit(std::move(commands))) EXPECT_TRUE(outcome);
    running_.restart();
  }

  Outcome submit(Action action) {
    Command command = testing::command_of("release h0 holder=app reason=gone");
    command.action = std::move(action);
    return running_.submit(std::move(command));
  }

  // All of them are one piece for the writer.
  static LedgerOptions in_one_piece() {
    LedgerOptions options = RunningLedger::quiet();
    options.sweep_at_a_time = kHolds;
    return options;
  }

  // Each event goes on where its resource's chain ended.
  void expect_chains_and_few_questions(std::size_t events_each) {
    EXPECT_LE(running_.maps().asked_for_last_events(), kFewTimes);
    std::map<std::string, Position> last;
    const std::vector<Event> events = running_.event_list();
    EXPECT_EQ(events.size(), events_each * kHolds);
    for (const Event& event : events) {
      EXPECT_EQ(event.previous_on_resource, last[event.resource.str()]);
      last[event.resource.str()] = event.position;
    }
    EXPECT_EQ(last.size(), kHolds);
  }

  const Cart cart_ = Cart::trusted("c");
  const Holder app_ = Holder::trusted("app");
  RunningLedger running_{in_one_piece()};
};

TEST_F(ChainsAfterARestart, OfACartAreAskedForTogether) {
  hold_all_and_restart(false);
  const Outcome outcome = submit(Commit{cart_, app_, {}, {}, {}});
  ASSERT_TRUE(outcome) << text_of(outcome);
  EXPECT_EQ(outcome->parts.size(), kHolds);
  expect_chains_and_few_questions(2);
}

TEST_F(ChainsAfterARestart, OfWhatStandsBelowAPathAreAskedForTogether) {
  hold_all_and_restart(false);
  const Outcome outcome = submit(EndAll{Path::trusted("hall"), kHolds, {}, {}});
  ASSERT_TRUE(outcome) << text_of(outcome);
  EXPECT_EQ(outcome->parts.size(), kHolds);
  expect_chains_and_few_questions(2);
}

// A step that stands on what is found missing by the one before it.
TEST_F(ChainsAfterARestart, OfATransactionOfCartsAreAskedForTogether) {
  hold_all_and_restart(false);
  Transact transact;
  for (Action action : {Action{Extend{cart_, app_, {}, {.ttl = kHour, .expires_at = {}}}},
                        Action{Commit{cart_, app_, {}, {}, {}}}}) {
    Command step = testing::command_of("release h0 holder=app");
    step.action = std::move(action);
    transact.steps.push_back({std::move(step)});
  }
  const Outcome outcome = submit(std::move(transact));
  ASSERT_TRUE(outcome) << text_of(outcome);
  expect_chains_and_few_questions(3);
}

TEST_F(ChainsAfterARestart, RefusedLeavesEverythingAsItWas) {
  hold_all_and_restart(false);
  Transact transact;
  for (Action action : {Action{Commit{cart_, app_, {}, {}, {}}},
                        Action{Cancel{Key::trusted("nobody's"), app_, {}, {}}}}) {
    Command step = testing::command_of("release h0 holder=app");
    step.action = std::move(action);
    transact.steps.push_back({std::move(step)});
  }
  const Outcome refused = submit(std::move(transact));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::unknown_claim);
  EXPECT_TRUE(submit(Release{cart_, app_, {}, {}}));
  expect_chains_and_few_questions(2);
}

TEST_F(ChainsAfterARestart, OfBoundHoldsAreAskedForTogether) {
  hold_all_and_restart(true);
  running_.now();  // answered in the order of the log, behind what the writer begins with
  expect_chains_and_few_questions(2);
}

}  // namespace
}  // namespace holdfast
