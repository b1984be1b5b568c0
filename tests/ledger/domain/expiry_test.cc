#include <gtest/gtest.h>

#include "ledger/domain/availability.h"
#include "tests/ledger/domain/world.h"

// Holds that end by time: what a client is told, and when the end is recorded (DESIGN 1.3).
namespace holdfast::testing {
namespace {

TEST(Expiry, NoInstantHasTwoOwnersOrNone) {
  World w;
  w.given({"hold r key=h holder=ann ttl=60s", "at 59999ms"});
  EXPECT_EQ(w.run("hold r key=g holder=bob").substr(0, 8), "conflict");
  EXPECT_EQ(free_at(w.state, Path::trusted("r"), w.now, w.policy), 0);
  EXPECT_EQ(w.show("h"), "h held r always x1 v1 holder=ann at=0s expires=60s");
  w.given({"at 60s"});
  w.state.advance(w.now);
  EXPECT_EQ(w.show("h"), "h expired r always x1 v1 holder=ann at=0s expires=60s");
  EXPECT_EQ(free_at(w.state, Path::trusted("r"), w.now, w.policy), 1);
  EXPECT_EQ(w.run("extend h holder=ann"), "expired expires_at=60s now=60s");
  EXPECT_EQ(w.run("commit h holder=ann"), "expired expires_at=60s now=60s");
  w.given({"hold r key=g holder=bob"});
  EXPECT_EQ(w.run("commit h holder=ann"), "expired expires_at=60s now=60s");
  w.given({"commit g holder=bob"});
}

TEST(Expiry, LapsedInTheWayAreRecordedFirst) {
  check({
      {"two creations, an expiry between",
       {"hold r key=a holder=ann ttl=60s", "at 70s"},
       "hold r key=b holder=bob actor=app request=q correlation=c content=4 reason=why source=s "
       "on-behalf-of=o ttl=60s",
       "ok #2+2 available=0 | b held r always x1 v3 holder=bob at=70s expires=130s",
       {"#2 tx=2+2 at=70s expired r a prev=1,1 by=system due=60s holder=ann",
        "#3 tx=2+2 at=70s held r b prev=2,0 by=app request=q correlation=c content=4 available=0 "
        "always x1 expires=130s holder=bob on_behalf_of=o reason=why source=s"}},
      {"oldest due first, then by key; those it does not meet stay",
       {"define p capacity=10", "hold p key=d from=1h until=2h ttl=20s",
        "hold p key=c from=1h until=3h ttl=30s", "hold p key=b from=2h until=3h ttl=20s",
        "hold p key=a from=3h until=4h ttl=10s", "hold p key=e from=0h until=1h ttl=10s",
        "hold p key=f from=1h until=3h ttl=5m", "at 60s"},
       "hold p key=n from=1h until=3h ttl=60s",
       "ok #8+4 available=8 | n held p 1h-3h x1 v11 holder=app at=60s expires=120s",
       {"#8 tx=8+4 at=60s expired p b prev=7,4 by=system due=20s holder=app",
        "#9 tx=8+4 at=60s expired p d prev=8,2 by=system due=20s holder=app",
        "#10 tx=8+4 at=60s expired p c prev=9,3 by=system due=30s holder=app",
        "#11 tx=8+4 at=60s held p n prev=10,0 by=app available=8 1h-3h x1 expires=120s "
        "holder=app"}},
      {"turnaround counted, on both sides",
       {"define r turnaround=30m", "hold r key=a from=1h until=2h ttl=10s",
        "hold r key=b from=210m until=4h ttl=20s", "at 60s"},
       "hold r key=n from=2h until=210m ttl=60s",
       "ok #4+3 available=0 | n held r 2h-12600s x1 v6 holder=app at=60s expires=120s",
       {"#4 tx=4+3 at=60s expired r a prev=3,2 by=system due=10s holder=app",
        "#5 tx=4+3 at=60s expired r b prev=4,3 by=system due=20s holder=app",
        "#6 tx=4+3 at=60s held r n prev=5,0 by=app available=0 2h-12600s x1 expires=120s "
        "holder=app"}},
      {"just beyond the turnaround",
       {"define r turnaround=30m", "hold r key=a from=1h until=2h ttl=10s",
        "hold r key=b from=4h until=5h ttl=20s", "at 60s"},
       "hold r key=n from=150m until=210m ttl=60s",
       "ok #4+1 available=0 | n held r 9000s-12600s x1 v4 holder=app at=60s expires=120s",
       {"#4 tx=4+1 at=60s held r n prev=3,0 by=app available=0 9000s-12600s x1 expires=120s "
        "holder=app"}},
      {"recorded already",
       {"hold r key=a ttl=60s", "at 70s", "sweep 9"},
       "hold r key=b ttl=60s",
       "ok #3+1 available=0 | b held r always x1 v3 holder=app at=70s expires=130s",
       {"#3 tx=3+1 at=70s held r b prev=2,0 by=app available=0 always x1 expires=130s "
        "holder=app"}},
      {"a replay takes no room",
       {"define p capacity=2", "hold p key=h ttl=60s", "hold p key=a ttl=10s", "at 20s"},
       "hold p key=h",
       "ok replayed available=1 | h held p always x1 v2 holder=app at=0s expires=60s"},
      {"an extension takes no room",
       {"define p capacity=2", "hold p key=h ttl=60s", "hold p key=a ttl=10s", "at 20s"},
       "extend h holder=app ttl=60s",
       "ok #4+1 available=1 | h held p always x1 v4 holder=app at=0s expires=80s",
       {"#4 tx=4+1 at=20s extended p h prev=3,2 by=app available=1 expires=80s holder=app"}},
  });
}

TEST(Expiry, RefusalsRecordNothing) {
  World w;
  w.given({"define p capacity=2", "hold p key=a ttl=10s", "hold p key=b ttl=5m", "at 20s"});
  EXPECT_EQ(w.run("hold p key=c quantity=2"),
            "conflict available=1 capacity=2 blockers=b retry_at=300s");
  EXPECT_EQ(w.log.size(), 3u);
  EXPECT_EQ(w.state.lapsed_claims(), 1u);
}

TEST(Expiry, AtMost64InOneTransaction) {
  World w;
  w.given({"define p capacity=100"});
  for (int i = 0; i < 70; ++i) w.given({"hold p key=" + std::to_string(100 + i) + " ttl=10s"});
  w.given({"at 10s", "hold p key=n quantity=100 ttl=60s"});
  EXPECT_EQ(w.log.back().transaction_count, 65u);
  EXPECT_EQ(w.log.at(71).key->str(), "100");
  EXPECT_EQ(w.log.at(71 + 63).key->str(), "163");
  EXPECT_EQ(w.log.at(71 + 64).key->str(), "n");
  EXPECT_EQ(w.state.lapsed_claims(), 6u);
  w.given({"sweep 100"});
  EXPECT_EQ(w.log.size(), 71u + 65 + 6);
  EXPECT_EQ(w.state.lapsed_claims(), 0u);
  w.given({"sweep 100"});
  EXPECT_EQ(w.log.size(), 71u + 65 + 6) << "each has one end";
}

TEST(Expiry, TheSweepGoesInDueOrderAndIsBounded) {
  World w;
  w.given({"hold a key=k3 ttl=30s", "hold b key=k2 ttl=20s", "hold c key=k1 ttl=20s",
           "hold d key=k4 ttl=61s", "hold e key=k5 ttl=10s", "extend k5 holder=app ttl=5m",
           "hold f key=k6 ttl=10s", "commit k6 holder=app", "at 60s", "sweep 2"});
  EXPECT_EQ(w.events_from(9),
            "#9 tx=9+1 at=60s expired c k1 prev=3,3 by=system due=20s holder=app\n"
            "#10 tx=10+1 at=60s expired b k2 prev=2,2 by=system due=20s "
            "holder=app\n");
  w.given({"sweep 2"});
  EXPECT_EQ(w.events_from(11),
            "#11 tx=11+1 at=60s expired a k3 prev=1,1 by=system due=30s holder=app\n");
  w.given({"at 61s", "sweep 0"});
  EXPECT_EQ(w.log.size(), 11u);
  w.given({"sweep 2", "sweep 2"});
  EXPECT_EQ(w.log.size(), 12u);
}

TEST(Expiry, ARecordedOneAnswersLikeALapsedOne) {
  for (const char* line : {"extend h holder=ann", "commit h holder=ann", "release h holder=ann",
                           "cancel h holder=ann", "hold p key=h holder=ann quantity=2",
                           "extend h holder=ann version=2", "extend h holder=ann version=1",
                           "release h holder=ann version=1", "commit h holder=ann version=1"}) {
    World unrecorded;
    World recorded;
    for (World* w : {&unrecorded, &recorded}) {
      w->given({"define p capacity=3", "hold p key=h holder=ann quantity=2 ttl=60s", "at 80s"});
    }
    recorded.given({"sweep 9"});
    const auto answer = [&](World& w) {
      Outcome outcome = w.run(command_of(line));
      if (outcome.accepted.claim) outcome.accepted.claim->last_event = {};
      return text_of(outcome);
    };
    EXPECT_EQ(answer(unrecorded), answer(recorded)) << line;
  }
}

TEST(Expiry, StealsGiveBackExactlyWhatWasHeld) {
  for (const char* end : {"release h holder=ann", "at 60s", "commit h holder=ann"}) {
    World w;
    w.given({"define p capacity=10", "hold p key=o quantity=3 ttl=10m",
             "hold p key=h holder=ann quantity=4 ttl=60s", end});
    if (std::string_view(end).starts_with("commit")) w.given({"cancel h holder=ann"});
    w.state.advance(w.now);
    EXPECT_EQ(free_at(w.state, Path::trusted("p"), w.now, w.policy), 7) << end;
    w.given({"hold p key=n quantity=7", "sweep 9"});
    EXPECT_EQ(free_at(w.state, Path::trusted("p"), w.now, w.policy), 0) << end;
  }
}

// However late the fold hears of a lapsed hold, it leaves with the turnaround it came with.
TEST(Expiry, ALapsedHoldTakesItsTurnaroundAlong) {
  for (const char* end : {"retire a", "change a turnaround=0s"}) {
    World world;
    world.given({"define a turnaround=10m", "hold a key=h from=1h until=2h holder=ann ttl=60s",
                 "at 61s", end, end[0] == 'r' ? "define a" : "close a", "open a"});
    State anew;
    for (const Event& event : world.log) anew.evolve(event);
    anew.advance(world.now);
    const AvailabilityQuery all{Path::trusted("a"), {kT0, kT0 + kDay}, {1}, {}};
    const std::vector<FreePiece> free = {{all.window, 1}};
    EXPECT_EQ(availability(anew, all, world.policy), free) << end;
    EXPECT_EQ(availability(world.state, all, world.policy), free) << end;
  }
}

TEST(Expiry, AMovedClaimLeavesTheVouchedNumberBehind) {
  World world;
  world.given({"hold a key=h holder=ann capacity=5 ttl=10m"});
  world.run(Command{{Actor::trusted("app"), {}, {}, {}, {}, {}, {}, 0},
                    Move{Key::trusted("h"), {}, {}, Path::trusted("b"), {}},
                    {}});
  EXPECT_EQ(world.state.claim("h")->vouched_capacity, std::nullopt);
  EXPECT_EQ(world.run("hold b key=i holder=bob"),
            "conflict available=0 capacity=1 blockers=h retry_at=600s");
  EXPECT_EQ(world.run("hold b key=i holder=bob capacity=2").substr(0, 2), "ok");
}

}  // namespace
}  // namespace holdfast::testing
