#include <gtest/gtest.h>

#include "tests/ledger/domain/world.h"

namespace holdfast::testing {
namespace {

TEST(DecideDefine, Accepted) {
  check({
      {"with the defaults",
       {},
       "define r",
       "ok #1+1",
       {"#1 tx=1+1 at=0s defined r prev=0,0 by=app capacity=1"}},
      {"with everything",
       {"hold x", "at 1s"},
       "define r capacity=1000000000 turnaround=30m max_ttl=168h default_ttl=1m request=q "
       "correlation=c reason=why content=1 source=s on-behalf-of=o",
       "ok #2+1",
       {"#2 tx=2+1 at=1s defined r prev=0,0 by=app request=q correlation=c content=1 "
        "capacity=1000000000 turnaround=1800s max_ttl=168h default_ttl=60s on_behalf_of=o "
        "reason=why source=s"}},
      {"where claims stand already",
       {"hold r key=h"},
       "define r capacity=3",
       "ok #2+1",
       {"#2 tx=2+1 at=0s defined r prev=1,0 by=app capacity=3"}},
      {"again", {"define r capacity=3"}, "define r capacity=3", "ok unchanged"},
      {"again where it is closed",
       {"define r capacity=3", "close r"},
       "define r capacity=3",
       "ok unchanged"},
      {"as it is after a change",
       {"define r", "change r capacity=3"},
       "define r capacity=3",
       "ok unchanged"},
      {"again after it was retired",
       {"define r", "retire r"},
       "define r capacity=4",
       "ok #3+1",
       {"#3 tx=3+1 at=0s defined r prev=2,0 by=app capacity=4"}},
      {"a turnaround while only lapsed holds stand",
       {"hold r ttl=1s", "at 1s"},
       "define r turnaround=30m",
       "ok #2+1",
       {"#2 tx=2+1 at=1s defined r prev=1,0 by=app capacity=1 turnaround=1800s"}},
  });
}

TEST(DecideDefine, Refused) {
  check({
      {"otherwise", {"define r"}, "define r capacity=2", "already_defined"},
      {"as it was before a change",
       {"define r", "change r capacity=3"},
       "define r",
       "already_defined"},
      {"a turnaround where something live stands",
       {"hold r key=a", "hold r/x key=b"},
       "define r turnaround=30m",
       "in_use blockers=a,b"},
      {"a turnaround where something live stands below",
       {"hold r/x/y key=b"},
       "define r turnaround=30m",
       "in_use blockers=b"},
  });
}

TEST(DecideChange, Accepted) {
  check({
      {"the fields it names",
       {"define r capacity=2 turnaround=30m max_ttl=1h default_ttl=1m"},
       "change r capacity=3 default_ttl=2m",
       "ok #2+1",
       {"#2 tx=2+1 at=0s changed r prev=1,0 by=app capacity=3 turnaround=1800s max_ttl=1h "
        "default_ttl=120s"}},
      {"below what stands",
       {"define r capacity=2", "hold r quantity=2"},
       "change r capacity=1",
       "ok #3+1",
       {"#3 tx=3+1 at=0s changed r prev=2,0 by=app capacity=1"}},
      {"to what is",
       {"define r capacity=2 turnaround=30m", "hold r key=h"},
       "change r capacity=2 turnaround=30m",
       "ok unchanged"},
      {"nothing", {"define r"}, "change r", "ok unchanged"},
      {"a turnaround where nothing live stands",
       {"define r", "hold r key=h", "release h holder=app"},
       "change r turnaround=30m",
       "ok #4+1",
       {"#4 tx=4+1 at=0s changed r prev=3,0 by=app capacity=1 turnaround=1800s"}},
      {"while closed",
       {"define r", "close r"},
       "change r capacity=2",
       "ok #3+1",
       {"#3 tx=3+1 at=0s changed r prev=2,0 by=app capacity=2"}},
  });
}

TEST(DecideChange, Refused) {
  check({
      {"not defined", {}, "change r capacity=2", "unknown_resource"},
      {"claimed but not defined", {"hold r"}, "change r capacity=2", "unknown_resource"},
      {"defined above only", {"define r"}, "change r/x capacity=2", "unknown_resource"},
      {"retired", {"define r", "retire r"}, "change r capacity=2", "unknown_resource"},
      {"a turnaround under a booking below, blockers by (from, key)",
       {"define r", "hold r/z key=b from=1h until=2h", "commit b holder=app",
        "hold r/a key=c from=2h until=3h", "hold r/q key=a from=2h until=4h", "hold r key=z"},
       "change r turnaround=1m",
       "in_use blockers=z,b,a,c"},
      {"a shorter turnaround as well",
       {"define r turnaround=2m", "hold r key=h"},
       "change r turnaround=1m",
       "in_use blockers=h"},
  });
}

TEST(DecideCloseOpen, Rows) {
  check({
      {"close", {"define r"}, "close r", "ok #2+1", {"#2 tx=2+1 at=0s closed r prev=1,0 by=app"}},
      {"close while claims stand",
       {"define r", "hold r"},
       "close r reason=paint",
       "ok #3+1",
       {"#3 tx=3+1 at=0s closed r prev=2,0 by=app reason=paint"}},
      {"close twice", {"define r", "close r"}, "close r", "ok unchanged"},
      {"close below what is closed",
       {"define r", "define r/x", "close r"},
       "close r/x",
       "ok #4+1",
       {"#4 tx=4+1 at=0s closed r/x prev=2,0 by=app"}},
      {"open",
       {"define r", "close r"},
       "open r",
       "ok #3+1",
       {"#3 tx=3+1 at=0s opened r prev=2,0 by=app"}},
      {"open what is open", {"define r"}, "open r", "ok unchanged"},
      {"close the undefined", {}, "close r", "unknown_resource"},
      {"open the undefined", {"hold r"}, "open r", "unknown_resource"},
      {"close the retired", {"define r", "retire r"}, "close r", "unknown_resource"},
      {"defined anew it is open",
       {"define r", "close r", "retire r", "define r"},
       "hold r key=h",
       "ok #5+1 available=0 | h held r always x1 v5 holder=app at=0s expires=600s",
       {"#5 tx=5+1 at=0s held r h prev=4,0 by=app available=0 always x1 expires=600s "
        "holder=app"}},
  });
}

TEST(DecideRetire, Rows) {
  check({
      {"nothing stands on it",
       {"define r"},
       "retire r",
       "ok #2+1",
       {"#2 tx=2+1 at=0s retired r prev=1,0 by=app"}},
      {"what stands below stays",
       {"define r", "hold r/x key=h"},
       "retire r",
       "ok #3+1",
       {"#3 tx=3+1 at=0s retired r prev=1,0 by=app"}},
      {"what has ended is not in the way",
       {"define r capacity=9", "hold r key=a", "release a holder=app", "hold r key=b ttl=1s",
        "hold r key=c", "commit c holder=app", "cancel c holder=app", "at 1s"},
       "retire r",
       "ok #8+1",
       {"#8 tx=8+1 at=1s retired r prev=7,0 by=app"}},
      {"not defined", {"hold r"}, "retire r", "unknown_resource"},
      {"twice", {"define r", "retire r"}, "retire r force=true reason=x", "unknown_resource"},
      {"in use, by what stands on it, not below",
       {"define r", "hold r key=h", "hold r/x key=a"},
       "retire r",
       "in_use blockers=h"},
      {"in use, blockers by (from, key)",
       {"define r capacity=9", "hold r key=b from=1h until=2h", "commit b holder=app",
        "hold r key=c from=1h until=9h", "hold r key=a from=2h until=3h"},
       "retire r",
       "in_use blockers=b,c,a"},
      {"forced: each is ended first, in the same transaction",
       {"define r capacity=9", "hold r key=b from=1h until=2h holder=bob quantity=3",
        "commit b holder=bob quantity=2", "hold r key=a from=2h until=3h holder=ann",
        "hold r/x key=x"},
       "retire r force=true reason=gone actor=op request=q content=5",
       "ok #6+3",
       {"#6 tx=6+3 at=0s cancelled r b prev=4,3 by=op request=q content=5 x2 remaining=0 "
        "holder=bob reason=gone",
        "#7 tx=6+3 at=0s released r a prev=6,4 by=op request=q content=5 x1 remaining=0 "
        "holder=ann reason=gone",
        "#8 tx=6+3 at=0s retired r prev=7,0 by=op request=q content=5 forced reason=gone"}},
  });
}

TEST(DecideRetire, ThenTheLapsedAreStillRecorded) {
  World w;
  w.given({"define r", "hold r key=h holder=ann ttl=1s", "at 1s", "retire r", "sweep 9"});
  EXPECT_EQ(w.events_from(4), "#4 tx=4+1 at=1s expired r h prev=3,2 by=system due=1s holder=ann\n");
  w.given({"define r", "hold r key=g"});
  EXPECT_EQ(w.show("h"), "h expired r always x1 v2 last=4 holder=ann at=0s expires=1s");
}

TEST(DecideRetire, AThousandBookings) {
  World w;
  w.given({"define r capacity=1000"});
  for (int i = 0; i < 1000; ++i) {
    const std::string key = std::to_string(i);
    w.given({"hold r key=" + key});
    if (i % 2 == 0) w.given({"commit " + key + " holder=app"});
  }
  w.given({"retire r force=true reason=gone"});
  EXPECT_EQ(w.log.back().transaction_count, 1001u);
  EXPECT_EQ(w.state.live_claims(), 0u);
  w.given({"define r capacity=1000", "hold r quantity=1000"});
}

}  // namespace
}  // namespace holdfast::testing
