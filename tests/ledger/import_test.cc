#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ledger/running_ledger.h"

namespace holdfast {
namespace {

Instant day(int n) { return Instant{1'420'070'400'000} + Duration{n * kDay.ms}; }  // of 2015

ImportLine line(std::uint64_t number, Instant at, const std::string& command) {
  return {number, at, testing::command_of(command)};
}

std::vector<std::string> texts(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> words;
  for (const Outcome& outcome : outcomes) {
    const std::string text = text_of(outcome);
    words.push_back(text.substr(0, text.find(' ')));
  }
  return words;
}

using Words = std::vector<std::string>;

std::string reason_of(const Refusal& refusal) {
  return std::string(reason_name(refusal.reason)) + " " + refusal.field;
}

TEST(Import, JudgesLinesAtTheirInstants) {
  RunningLedger running;
  ASSERT_EQ(running.import_begin(1).value(), 0u);
  EXPECT_TRUE(running.ledger().status().importing);
  EXPECT_EQ(running.run("hold x key=x"), "read_only field=import") << "others' commands";
  EXPECT_EQ(texts(running.import_lines({line(1, day(0), "define a capacity=2"),
                                        line(2, day(1), "hold a key=h1 holder=ann ttl=1h"),
                                        line(4, day(2), "commit h1 holder=ann"),
                                        line(5, day(2), "hold a key=h2 holder=bob")})),
            (Words{"ok", "ok", "expired", "ok"}));
  EXPECT_EQ(running.now(), day(2)) << "the clock is the file's";
  ASSERT_TRUE(running.import_end());
  EXPECT_FALSE(running.ledger().status().importing);
  EXPECT_EQ(running.now(), testing::kT0);
  EXPECT_EQ(running.run("hold x key=x").substr(0, 2), "ok");
  const auto events = running.event_list();
  EXPECT_EQ(events.at(1).recorded_at, day(1));
}

TEST(Import, TheSweepFollowsTheFile) {
  LedgerOptions options;
  options.sweep_at_a_time = 2;
  options.max_group_commands = 3;
  RunningLedger running(options);
  running.import_begin(1);
  std::vector<ImportLine> lines;
  for (std::uint64_t i = 1; i <= 9; ++i) {
    const std::string n = std::to_string(i);
    lines.push_back(line(i, day(0), "hold a/" + n + " key=h" + n + " ttl=" + n + "s"));
  }
  lines.push_back(line(10, day(0) + Duration{5'000}, "release h9 holder=app"));
  lines.push_back(line(11, day(1), "define a"));
  running.import_lines(std::move(lines));
  const auto events = running.event_list();
  ASSERT_EQ(events.size(), 19u);
  for (std::size_t i = 9; i < 14; ++i) {
    EXPECT_EQ(events[i].recorded_at, day(0) + Duration{5'000});
    EXPECT_EQ(std::get<Expired>(events[i].happening).due,
              day(0) + Duration{static_cast<std::int64_t>(i - 8) * 1'000});
  }
  EXPECT_TRUE(std::holds_alternative<Released>(events[14].happening));
  EXPECT_EQ(events[17].recorded_at, day(1));
  EXPECT_TRUE(std::holds_alternative<Defined>(events[18].happening));
}

TEST(Import, AnInstantBeforeTheLineBeforeIsBadTime) {
  RunningLedger running;
  running.import_begin(1);
  EXPECT_EQ(texts(running.import_lines(
                {line(1, day(5), "hold a key=h1"), line(2, day(4), "hold b key=h2"),
                 line(3, Instant{-1}, "hold c key=h3"), line(4, day(5), "hold d key=h4")})),
            (Words{"ok", "bad_time", "bad_time", "ok"}));
  EXPECT_EQ(running.import_begin(1).value(), 4u);
}

TEST(Import, GoesOnAfterTheLastLineJudged) {
  for (const bool crash : {false, true}) {
    RunningLedger running;
    running.import_begin(1);
    running.import_lines({line(1, day(0), "hold a key=h1"), line(2, day(1), "hold b key=h2")});
    const Instant last = day(1) + kMinute;
    running.import_lines({line(3, last, "hold b key=h3")});
    EXPECT_EQ(running.log().head(), Position{2}) << "the last line was refused";
    crash ? running.crash() : running.restart();
    EXPECT_TRUE(running.ledger().status().importing);
    EXPECT_EQ(running.now(), last);
    EXPECT_EQ(texts(running.import_lines({line(4, day(3), "hold c key=h4")})), Words{"read_only"})
        << "not begun again";
    EXPECT_EQ(reason_of(running.import_begin(2).error()), "read_only file");
    ASSERT_EQ(running.import_begin(1).value(), 3u);
    EXPECT_EQ(texts(running.import_lines({line(4, day(3), "hold c key=h4")})), Words{"ok"});
    ASSERT_TRUE(running.import_end());
    running.restart();
    EXPECT_FALSE(running.ledger().status().importing);
  }
}

TEST(Import, NoLineIsJudgedTwiceNorPassedOver) {
  RunningLedger running;
  running.import_begin(1);
  running.import_lines({line(1, day(0), "hold a key=h1"), line(2, day(0), "hold b key=h2")});
  const auto again =
      running.import_lines({line(2, day(0), "hold b key=h2"), line(3, day(0), "hold c key=h3")});
  EXPECT_EQ(reason_of(again[0].error()), "read_only line");
  EXPECT_EQ(reason_of(again[1].error()), "read_only import") << "it was to be judged after line 2";
  EXPECT_EQ(reason_of(running.import_end().error()), "read_only import");
  EXPECT_EQ(running.import_begin(1).value(), 2u);
  EXPECT_EQ(texts(running.import_lines({line(3, day(0), "hold c key=h3")})), Words{"ok"});
}

TEST(Import, OnlyIntoAnEmptyLedger) {
  RunningLedger running;
  running.run("hold a key=h1");
  EXPECT_EQ(reason_of(running.import_begin(1).error()), "read_only ledger");
  EXPECT_EQ(texts(running.import_lines({line(1, day(0), "hold b key=h2")})), Words{"read_only"});
  EXPECT_EQ(reason_of(running.import_end().error()), "read_only import");
  EXPECT_EQ(running.run("hold b key=h2").substr(0, 2), "ok");
}

TEST(Import, AnEndWhoseAnswerWasLostIsSaidAgain) {
  for (const bool crash : {false, true}) {
    RunningLedger running;
    running.import_begin(1);
    running.import_lines({line(1, day(0), "hold a key=h1"), line(2, day(1), "hold b key=h2")});
    ASSERT_TRUE(running.import_end());
    if (crash) running.crash();
    EXPECT_EQ(running.run("hold c key=h3").substr(0, 2), "ok");
    const std::string before = running.events();
    EXPECT_EQ(running.import_begin(1).value(), 2u);
    EXPECT_FALSE(running.ledger().status().importing);
    EXPECT_EQ(running.run("hold c key=h4").substr(0, 8), "conflict") << "others go on";
    ASSERT_TRUE(running.import_end());
    EXPECT_EQ(running.events(), before);
    EXPECT_EQ(running.now(), testing::kT0);

    EXPECT_EQ(reason_of(running.import_begin(2).error()), "read_only ledger");
    running.import_begin(1);
    EXPECT_EQ(reason_of(running.import_lines({line(3, day(2), "hold d key=h5")})[0].error()),
              "read_only import");
    running.import_begin(1);
    EXPECT_EQ(reason_of(running.import_end(true).error()), "read_only ledger");
  }
}

TEST(Import, MoreFilesFollow) {
  RunningLedger running;
  running.import_begin(1);
  running.import_lines({line(1, day(0), "hold a key=h1"), line(2, day(1), "hold b key=h2")});
  ASSERT_TRUE(running.import_end(true));
  running.restart();
  EXPECT_EQ(running.now(), day(1));
  EXPECT_EQ(running.run("hold x key=x"), "read_only field=import");
  EXPECT_EQ(running.import_begin(1).value(), 2u) << "the same file again: all of it is judged";
  ASSERT_TRUE(running.import_end(true));
  ASSERT_EQ(running.import_begin(2).value(), 0u);
  EXPECT_EQ(texts(running.import_lines(
                {line(1, day(0), "hold c key=h3"), line(2, day(2), "hold c key=h3")})),
            (Words{"bad_time", "ok"}));
  ASSERT_TRUE(running.import_end());
  EXPECT_EQ(running.now(), testing::kT0);
}

TEST(Import, OfTheFutureStaysAheadOfTheWallClock) {
  RunningLedger running;
  running.import_begin(1);
  const Instant future = day(6'000);
  running.import_lines({line(1, future, "hold a key=h1")});
  running.time.pass(kMinute);
  ASSERT_TRUE(running.import_end());
  EXPECT_EQ(running.now(), future);
  running.time.pass({1'000});
  EXPECT_EQ(running.now(), future + Duration{500});
  running.crash();
  EXPECT_GE(running.now(), future);
  EXPECT_EQ(running.run("hold b key=h2").substr(0, 2), "ok");
}

TEST(Import, FormRefusalsAreJudgedToo) {
  RunningLedger running;
  running.import_begin(1);
  std::vector<ImportLine> lines;
  lines.push_back({1, day(0), tl::unexpected(Refusal{.reason = Reason::bad_span})});
  EXPECT_EQ(texts(running.import_lines(std::move(lines))), Words{"bad_span"});
  EXPECT_EQ(running.import_begin(1).value(), 1u);
  EXPECT_EQ(running.log().head(), Position{0});
  running.crash();
  EXPECT_EQ(running.import_begin(1).value(), 1u) << "durable without an event";
}

}  // namespace
}  // namespace holdfast
