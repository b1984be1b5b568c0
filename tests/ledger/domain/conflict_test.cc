#include <gtest/gtest.h>

#include "tests/ledger/domain/world.h"

// What a conflict says: who is in the way, how much is free, when it is worth asking again.
namespace holdfast::testing {
namespace {

TEST(Conflict, NamesTheClaimThatBeatIt) {
  World w;
  w.given({"hold r key=h holder=ann from=1h until=2h ttl=60s"});
  const Outcome outcome = w.run(command_of("hold r key=g holder=bob from=1h until=2h"));
  ASSERT_TRUE(outcome.refusal);
  ASSERT_EQ(outcome.refusal->blockers.size(), 1u);
  EXPECT_EQ(text_of(outcome.refusal->blockers[0]),
            "h held r 1h-2h x1 v1 holder=ann at=0s expires=60s");
}

TEST(Conflict, BlockersStandAtTheTightestInstant) {
  World w;
  w.given({"define p capacity=5", "hold p key=a from=1h until=3h quantity=2",
           "hold p key=b from=2h until=4h quantity=2", "hold p key=c from=3h until=6h",
           "hold p key=d from=5h until=6h quantity=2"});
  // 1h-2h: 2, 2h-3h: 4, 3h-4h: 3, 4h-5h: 1, 5h-6h: 3
  EXPECT_EQ(w.run("hold p key=x from=1h until=6h quantity=3"),
            "conflict available=1 capacity=5 blockers=a,b retry_at=600s");
  EXPECT_EQ(w.run("hold p key=x from=3h until=6h quantity=3"),
            "conflict available=2 capacity=5 blockers=b,c retry_at=600s")
      << "of two equally tight instants the earlier";
  EXPECT_EQ(w.run("hold p key=x from=4h until=6h quantity=3"),
            "conflict available=2 capacity=5 blockers=c,d retry_at=600s")
      << "by (from, key)";
}

TEST(Conflict, ATightInstantMayLieInTheTurnaround) {
  World w;
  w.given({"define p capacity=2 turnaround=1h", "hold p key=a from=1h until=2h",
           "hold p key=b from=4h until=5h quantity=2"});
  EXPECT_EQ(w.run("hold p key=x from=2h until=210m"),
            "conflict available=0 capacity=2 blockers=b retry_at=600s");
  EXPECT_EQ(w.run("hold p key=x from=150m until=3h quantity=2"),
            "conflict available=1 capacity=2 blockers=a retry_at=600s");
}

TEST(Conflict, AtMost16Blockers) {
  World w;
  w.given({"define p capacity=20"});
  for (int i = 0; i < 20; ++i) {
    // Keys fall while the spans begin later: the order is that of the spans.
    w.given({"hold p key=" + std::to_string(99 - i) + " from=" + std::to_string(i) + "m until=2h"});
  }
  EXPECT_EQ(w.run("hold p key=x from=1h until=90m"),
            "conflict available=0 capacity=20 "
            "blockers=99,98,97,96,95,94,93,92,91,90,89,88,87,86,85,84 retry_at=600s");
}

TEST(Conflict, AllOfTimeStandsFirstAmongBlockers) {
  World w;
  w.given({"define p capacity=2", "hold p key=z", "hold p key=a from=0h until=1h"});
  EXPECT_EQ(w.run("hold p key=x from=0h until=1h"),
            "conflict available=0 capacity=2 blockers=z,a retry_at=600s");
}

TEST(Conflict, RetryAtIsTheEarliestInstantWithRoom) {
  World w;
  w.given({"define p capacity=4", "hold p key=a from=1h until=2h ttl=10s",
           "hold p key=b from=1h until=2h ttl=30s", "hold p key=c from=1h until=3h ttl=20s",
           "hold p key=d from=2h until=3h quantity=3 ttl=40s",
           "hold p key=e from=1h until=2h ttl=50s", "commit e holder=app"});
  EXPECT_EQ(w.run("hold p key=x from=1h until=2h"),
            "conflict available=0 capacity=4 blockers=a,b,c,e retry_at=10s");
  EXPECT_EQ(w.run("hold p key=x from=1h until=2h quantity=2"),
            "conflict available=0 capacity=4 blockers=a,b,c,e retry_at=20s");
  EXPECT_EQ(w.run("hold p key=x from=1h until=2h quantity=3"),
            "conflict available=0 capacity=4 blockers=a,b,c,e retry_at=30s");
  EXPECT_EQ(w.run("hold p key=x from=1h until=2h quantity=4"),
            "conflict available=0 capacity=4 blockers=a,b,c,e")
      << "what is committed stays";
  EXPECT_EQ(w.run("hold p key=x from=1h until=3h quantity=2"),
            "conflict available=0 capacity=4 blockers=a,b,c,e retry_at=40s");
  EXPECT_EQ(w.run("hold p key=x from=2h until=3h quantity=5"),
            "conflict available=0 capacity=4 blockers=c,d")
      << "more than there are";
}

TEST(Conflict, RetryAtFollowsExtensionsAndCommits) {
  World w;
  w.given({"hold r key=h holder=ann ttl=60s", "extend h holder=ann ttl=90s"});
  EXPECT_EQ(w.run("hold r key=x"), "conflict available=0 capacity=1 blockers=h retry_at=90s");
  w.given({"extend h holder=ann ttl=5s shorten=true"});
  EXPECT_EQ(w.run("hold r key=x"), "conflict available=0 capacity=1 blockers=h retry_at=5s");
  w.given({"commit h holder=ann"});
  EXPECT_EQ(w.run("hold r key=x"), "conflict available=0 capacity=1 blockers=h");
}

}  // namespace
}  // namespace holdfast::testing
