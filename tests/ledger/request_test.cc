// Saying it twice (DESIGN 1.6), and what the writer has to look up for it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ledger/running_ledger.h"

namespace holdfast {
namespace {

// Each command's answer is the same again at once, from the log, and after a crash.
class SaidTwice : public ::testing::TestWithParam<const char*> {
 protected:
  std::string again(const std::string& line) {
    const std::string how = GetParam();
    if (how == "restart") running_.restart();
    if (how == "crash") running_.crash();
    if (how == "forgotten") {
      const std::string filler = "filler-" + std::to_string(++fillers_);
      running_.submit(hold(filler, filler));
    }
    return running_.run(line);
  }
  RunningLedger running_;
  int fillers_ = 0;
};

TEST_P(SaidTwice, TheOriginalAnswer) {
  const std::vector<std::string> lines = {
      "define pool capacity=10 max_ttl=60s request=r0 content=1",
      "hold pool key=h1 quantity=4 holder=ann ttl=10h cart=c1 label=x request=r1 content=2",
      "extend h1 holder=ann ttl=2h request=r2 content=3",
      "release h1 holder=ann quantity=1 request=r3 content=4",
      "commit h1 holder=ann quantity=2 request=r4 content=5",
      "cancel h1 holder=ann request=r5 content=6",
      "hold room key=h2 holder=ann from=10h until=11h ttl=30s request=r6 content=7",
      "close pool request=r7 content=8",
  };
  std::vector<std::string> answers;
  for (const std::string& line : lines) {
    running_.time.pass({1'000});
    answers.push_back(running_.run(line));
    EXPECT_EQ(answers.back().substr(0, 2), "ok") << line << " => " << answers.back();
    EXPECT_EQ(testing::command_of(line).asker.request_id.has_value(), true);
    const Position head = running_.log().head();
    const auto first = running_.submit(testing::command_of(line));
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->replayed);
    EXPECT_EQ(running_.log().head(), head);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto said = running_.submit(testing::command_of(lines[i]));
    ASSERT_TRUE(said) << lines[i];
    const std::string twice = again(lines[i]);
    EXPECT_EQ(twice, text_of(said)) << lines[i];
    Outcome original = said;
    original->replayed = false;
    EXPECT_EQ(text_of(original), answers[i]) << lines[i];
  }
}

TEST_P(SaidTwice, AStealThatRecordedLapsedHoldsFirst) {
  running_.run("hold pool key=h1 holder=ann ttl=10s");
  running_.time.pass({10'000});
  const std::string line =
      "steal h1 from-holder=ann holder=bob key=h2 ttl=60s request=r1 content=1";
  const std::string answer = running_.run(line);
  EXPECT_EQ(answer.substr(0, 7), "ok #2+2") << answer;
  running_.time.pass({20'000});
  const std::string hold_line = "hold other key=h3 ttl=1s";
  running_.run(hold_line);
  running_.time.pass({2'000});
  const std::string taking = "hold other key=h4 ttl=60s request=r2 content=1";
  const std::string taken = running_.run(taking);
  EXPECT_EQ(taken.substr(0, 7), "ok #5+2") << "its lapsed hold, then itself: " << taken;
  const auto first = running_.submit(testing::command_of(line));
  EXPECT_EQ(again(line), text_of(first));
  const auto second = running_.submit(testing::command_of(taking));
  EXPECT_EQ(again(taking), text_of(second));
  EXPECT_TRUE(second->replayed);
  EXPECT_EQ(second->first, Position{5});
  EXPECT_EQ(second->claim->key.str(), "h4");
}

TEST_P(SaidTwice, OtherContentIsAnotherRequest) {
  running_.run("hold a key=h1 holder=ann request=r1 content=1");
  EXPECT_EQ(again("hold b key=h9 holder=ann request=r1 content=2"), "key_reused field=request_id");
  EXPECT_EQ(again("hold b key=h9 holder=ann request=r1"), "key_reused field=request_id");
  EXPECT_EQ(again("hold b key=h9 holder=ann request=r1 content=2 actor=other").substr(0, 2), "ok")
      << "each actor has request ids of its own";
}

TEST_P(SaidTwice, RefusalsAndNothingChangedAreNotRemembered) {
  running_.run("hold a key=h1 holder=ann ttl=10s");
  EXPECT_EQ(running_.run("hold a key=h2 holder=bob request=r1 content=1").substr(0, 8), "conflict");
  running_.run("release h1 holder=ann");
  EXPECT_EQ(running_.run("release h1 holder=ann request=r2 content=1").substr(0, 12),
            "ok unchanged");
  EXPECT_EQ(again("hold a key=h2 holder=bob request=r1 content=1").substr(0, 4), "ok #");
  EXPECT_EQ(again("hold b key=h3 holder=bob request=r2 content=2").substr(0, 2), "ok");
}

TEST_P(SaidTwice, KeysOfEndedClaimsNeverComeBack) {
  running_.run("hold a key=h1 holder=ann");
  running_.run("release h1 holder=ann");
  EXPECT_EQ(again("hold a key=h1 holder=ann"), "terminal state=released");
  EXPECT_EQ(again("hold b key=h1 holder=ann"), "key_reused field=resource");
  EXPECT_EQ(again("release h1 holder=ann").substr(0, 12), "ok unchanged");
  EXPECT_EQ(again("commit h1 holder=ann"), "terminal state=released");
  EXPECT_EQ(again("commit h1 holder=bob"), "not_holder");
}

TEST_P(SaidTwice, ChainsGoOnWhereTheyEnded) {
  running_.run("hold a/b key=h1 holder=ann ttl=10s");
  running_.time.pass({10'000});
  running_.sweep(10);
  again("hold c key=h2");
  running_.run("steal h1 from-holder=ann holder=bob key=h3");
  again("hold d key=h4");
  running_.run("release h3 holder=bob");
  again("hold e key=h5");
  running_.run("hold a/b key=h6");
  std::vector<Position> chain;
  for (const Event& event : running_.event_list()) {
    if (event.resource.str() != "a/b") continue;
    EXPECT_EQ(event.previous_on_resource, chain.empty() ? Position{} : chain.back());
    chain.push_back(event.position);
  }
  EXPECT_EQ(chain.size(), 6u);
}

INSTANTIATE_TEST_SUITE_P(How, SaidTwice,
                         ::testing::Values("at once", "forgotten", "restart", "crash"),
                         [](const auto& how) {
                           const std::string name = how.param;
                           return name == "at once" ? "AtOnce" : name;
                         });

TEST(SaidTwiceInOneBatch, TheSecondIsTheReplay) {
  RunningLedger running;
  std::vector<Submission> commands;
  commands.emplace_back(testing::command_of("hold a key=h1 request=r1 content=1"));
  commands.emplace_back(testing::command_of("hold a key=h1 request=r1 content=1"));
  commands.emplace_back(testing::command_of("hold a key=h1"));
  const auto outcomes = running.submit(std::move(commands));
  EXPECT_FALSE(outcomes[0]->replayed);
  EXPECT_TRUE(outcomes[1]->replayed);
  EXPECT_EQ(outcomes[1]->first, Position{1});
  EXPECT_TRUE(outcomes[2]->replayed) << "by key";
  EXPECT_EQ(outcomes[2]->count, 0u);
}

}  // namespace
}  // namespace holdfast
