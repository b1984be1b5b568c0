#include <gtest/gtest.h>

#include "tests/ledger/domain/world.h"

namespace holdfast::testing {
namespace {

TEST(DecideHold, Accepted) {
  check({
      {"a path that nobody defined",
       {},
       "hold room-1 key=h1 holder=ann from=10h until=11h ttl=60s",
       "ok #1+1 available=0 | h1 held room-1 10h-11h x1 v1 holder=ann at=0s expires=60s",
       {"#1 tx=1+1 at=0s held room-1 h1 prev=0,0 by=app available=0 10h-11h x1 expires=60s "
        "holder=ann"}},
      {"everything left out: a fresh key, all of time, the actor, the default ttl",
       {},
       "hold room-1",
       "ok #1+1 available=0 | fresh-1 held room-1 always x1 v1 holder=app at=0s expires=600s",
       {"#1 tx=1+1 at=0s held room-1 fresh-1 prev=0,0 by=app available=0 always x1 expires=600s "
        "holder=app"}},
      {"everything said",
       {"define p capacity=9", "at 5s"},
       "hold p key=k holder=ann from=1h until=2h quantity=4 ttl=60s capacity=9 cart=c label=l "
       "actor=al request=r1 correlation=x reason=why on-behalf-of=bo source=1.2.3.4 content=7",
       "ok #2+1 available=5 | k held p 1h-2h x4 v2 holder=ann at=5s expires=65s cart=c label=l "
       "capacity=9",
       {"#2 tx=2+1 at=5s held p k prev=1,0 by=al request=r1 correlation=x content=7 available=5 "
        "1h-2h x4 expires=65s capacity=9 holder=ann cart=c label=l on_behalf_of=bo reason=why "
        "source=1.2.3.4"}},
      {"the second of a pool; the chain of the resource",
       {"define p capacity=10", "hold p key=a holder=ann from=1h until=3h quantity=3"},
       "hold p key=b holder=bob from=2h until=4h quantity=7",
       "ok #3+1 available=0 | b held p 2h-4h x7 v3 holder=bob at=0s expires=600s",
       {"#3 tx=3+1 at=0s held p b prev=2,0 by=app available=0 2h-4h x7 expires=600s holder=bob"}},
      {"available is that of the tightest instant, not of the first",
       {"define p capacity=10", "hold p key=a from=3h until=4h quantity=5"},
       "hold p key=b from=1h until=4h quantity=2",
       "ok #3+1 available=3 | b held p 1h-4h x2 v3 holder=app at=0s expires=600s",
       {"#3 tx=3+1 at=0s held p b prev=2,0 by=app available=3 1h-4h x2 expires=600s holder=app"}},
      {"other resources have chains and room of their own",
       {"hold room-1 key=a from=1h until=2h"},
       "hold room-2 key=b from=1h until=2h",
       "ok #2+1 available=0 | b held room-2 1h-2h x1 v2 holder=app at=0s expires=600s",
       {"#2 tx=2+1 at=0s held room-2 b prev=0,0 by=app available=0 1h-2h x1 expires=600s "
        "holder=app"}},
      {"composed and decomposed are two paths",
       {"hold caf\u00e9 key=a from=1h until=2h"},
       "hold cafe\u0301 key=b from=1h until=2h",
       "ok #2+1 available=0 | b held cafe\u0301 1h-2h x1 v2 holder=app at=0s expires=600s",
       {"#2 tx=2+1 at=0s held cafe\u0301 b prev=0,0 by=app available=0 1h-2h x1 expires=600s "
        "holder=app"}},
  });
}

TEST(DecideHold, NeighboursTouchWithoutMeeting) {
  World w;
  w.given({"hold r key=a from=10h until=11h", "commit a holder=app",
           "hold r key=b from=11h until=12h", "hold r key=c from=9h until=10h"});
  EXPECT_EQ(w.run("hold r key=d from=39599999ms until=12h"),
            "conflict available=0 capacity=1 blockers=a");
  EXPECT_EQ(w.run("hold r key=d from=8h until=32400001ms"),
            "conflict available=0 capacity=1 blockers=c retry_at=600s");
}

TEST(DecideHold, TurnaroundIsOccupiedOnBothSides) {
  World w;
  w.given({"define r turnaround=30m", "hold r key=a from=10h until=11h", "commit a holder=app"});
  EXPECT_EQ(w.run("hold r key=b from=11h until=12h"), "conflict available=0 capacity=1 blockers=a");
  EXPECT_EQ(w.run("hold r key=b from=41399999ms until=12h"),
            "conflict available=0 capacity=1 blockers=a");
  EXPECT_EQ(w.run("hold r key=b from=9h until=34200001ms"),
            "conflict available=0 capacity=1 blockers=a");
  w.given({"hold r key=b from=41400000ms until=12h", "hold r key=c from=9h until=34200000ms"});
}

TEST(DecideHold, AllOfTimeMeetsEverything) {
  World w;
  w.given({"hold r key=a from=1h until=2h ttl=30s"});
  EXPECT_EQ(w.run("hold r key=b"), "conflict available=0 capacity=1 blockers=a retry_at=30s");
  w.given({"at 30s", "hold r key=b ttl=10s"});
  EXPECT_EQ(w.run("hold r key=c from=9000h until=9001h"),
            "conflict available=0 capacity=1 blockers=b retry_at=40s");
  // Also those whose turnaround reaches past the last instant.
  w.given({"define s turnaround=1h"});
  Command last = command_of("hold s key=d");
  std::get<Hold>(last.action).span = Span{{kMaxInstant.ms - 1}, kMaxInstant};
  ASSERT_FALSE(w.run(last).refusal);
  EXPECT_EQ(w.run("hold s key=e"), "conflict available=0 capacity=1 blockers=d retry_at=630s");
}

TEST(DecideHold, ExpiryIsClampedAlongThePath) {
  const std::vector<std::string> tree = {"define t max_ttl=5m default_ttl=4m",
                                         "define t/a max_ttl=2h default_ttl=2h",
                                         "define o max_ttl=3h", "define n/a/b default_ttl=30s"};
  const auto held = [&](const std::string& line) {
    World w;
    w.given(tree);
    const std::string answer = w.run(line);
    EXPECT_EQ(text_of(w.log.back()).find(" clamped") != std::string::npos,
              answer.find(" clamped") != std::string::npos)
        << "event and answer agree";
    const auto expires = answer.find("expires=");
    return answer.substr(expires, answer.find(' ', expires) - expires) +
           (answer.find(" clamped") != std::string::npos ? " clamped" : "");
  };
  EXPECT_EQ(held("hold u ttl=1h"), "expires=1h");
  EXPECT_EQ(held("hold u ttl=3600001ms"), "expires=1h clamped");
  EXPECT_EQ(held("hold u expires=1h"), "expires=1h");
  EXPECT_EQ(held("hold u expires=2h"), "expires=1h clamped");
  EXPECT_EQ(held("hold u ttl=1ms"), "expires=1ms");
  EXPECT_EQ(held("hold t ttl=6m"), "expires=300s clamped");
  EXPECT_EQ(held("hold t/a ttl=6m"), "expires=300s clamped") << "the smallest on the path";
  EXPECT_EQ(held("hold t/a/x ttl=299s"), "expires=299s");
  EXPECT_EQ(held("hold t"), "expires=240s");
  EXPECT_EQ(held("hold t/x"), "expires=240s") << "the nearest default";
  EXPECT_EQ(held("hold t/a"), "expires=300s") << "the nearest default, within the maximum";
  EXPECT_EQ(held("hold o ttl=2h"), "expires=2h") << "more than the server's";
  EXPECT_EQ(held("hold o ttl=4h"), "expires=3h clamped");
  EXPECT_EQ(held("hold n/a/b/c/d"), "expires=30s");
  EXPECT_EQ(held("hold n/a"), "expires=600s");
  EXPECT_EQ(held("hold tt ttl=1h"), "expires=1h") << "below t in letters only";
}

TEST(DecideHold, AnExpiryAlreadyPast) {
  World w;
  w.given({"at 10s"});
  EXPECT_EQ(w.run("hold r key=a expires=9999ms"), "bad_ttl");
  EXPECT_EQ(w.run("hold r key=a expires=10s"), "bad_ttl");
  w.given({"hold r key=a expires=10001ms"});
}

TEST(DecideHold, CapacityOfTheCaller) {
  World w;
  EXPECT_EQ(w.run("hold r key=a capacity=0"), "conflict available=0 capacity=0");
  w.given({"hold r key=a quantity=2 capacity=3"});
  EXPECT_EQ(w.run("hold r key=b quantity=2 capacity=3"),
            "conflict available=1 capacity=3 blockers=a retry_at=600s");
  EXPECT_EQ(w.run("hold r key=b"), "conflict available=0 capacity=1 blockers=a retry_at=600s")
      << "left out: 1";
  EXPECT_EQ(w.run("hold r key=b capacity=2"),
            "conflict available=0 capacity=2 blockers=a retry_at=600s")
      << "each call vouches for itself";
  w.given({"hold r key=b quantity=1 capacity=3", "define d capacity=5"});
  EXPECT_EQ(w.run("hold d key=c capacity=4"), "capacity_mismatch capacity=5");
  EXPECT_EQ(w.run("hold d key=c capacity=0"), "capacity_mismatch capacity=5");
  w.given({"hold d key=c capacity=5"});
  EXPECT_EQ(w.run("hold d/below key=e quantity=5 capacity=6").substr(0, 8), "ok #5+1 ")
      << "capacity is a resource's own";
}

TEST(DecideHold, MoreThanThereEverIs) {
  World w;
  w.given({"define p capacity=3", "hold p key=a"});
  EXPECT_EQ(w.run("hold p key=b quantity=4"), "conflict available=2 capacity=3 blockers=a");
}

TEST(DecideHold, LoweredCapacityLeavesWhatStands) {
  World w;
  w.given({"define p capacity=5", "hold p key=a quantity=4 ttl=10s", "hold p key=b ttl=20s",
           "change p capacity=2"});
  EXPECT_EQ(w.run("hold p key=c"), "conflict available=0 capacity=2 blockers=a,b retry_at=10s");
  w.given({"at 10s", "hold p key=c"});
}

TEST(DecideHold, UnknownResource) {
  World w;
  w.given({"define r", "retire r"});
  EXPECT_EQ(w.run("hold r key=a"), "unknown_resource");
  w.given({"hold r/below key=b", "define r", "hold r key=a", "policy strict=true"});
  EXPECT_EQ(w.run("hold other key=c"), "unknown_resource");
  EXPECT_EQ(w.run("hold r/else key=c"), "unknown_resource");
  EXPECT_EQ(w.run("hold r key=c").substr(0, 8), "conflict");
}

TEST(DecideHold, ClosedAboveClosesBelow) {
  World w;
  w.given({"define a", "define a/b/c", "close a", "hold ab key=x"});
  EXPECT_EQ(w.run("hold a"), "closed path=a");
  EXPECT_EQ(w.run("hold a/b"), "closed path=a");
  EXPECT_EQ(w.run("hold a/b/c/d"), "closed path=a");
  w.given({"close a/b/c"});
  EXPECT_EQ(w.run("hold a/b/c/d"), "closed path=a/b/c") << "the nearest";
  w.given({"open a", "hold a/b"});
  EXPECT_EQ(w.run("hold a/b/c"), "closed path=a/b/c");
}

TEST(DecideHold, ClosedLeavesWhatStands) {
  World w;
  w.given({"define a", "hold a key=h holder=ann", "close a", "extend h holder=ann ttl=1h",
           "hold a key=h holder=ann", "commit h holder=ann", "cancel h holder=ann"});
}

TEST(DecideHold, RepeatedByKey) {
  const std::vector<std::string> held = {
      "define p capacity=5", "hold p key=h holder=ann from=1h until=2h quantity=3 ttl=60s"};
  const auto after = [&](std::vector<std::string> more) {
    more.insert(more.begin(), held.begin(), held.end());
    return more;
  };
  const std::string same = "hold p key=h holder=ann from=1h until=2h quantity=3";
  check({
      {"held: its deadline untouched", after({"at 10s"}), same + " ttl=1h label=new",
       "ok replayed available=2 | h held p 1h-2h x3 v2 holder=ann at=0s expires=60s"},
      {"compared with the original quantity, after a partial release",
       after({"release h holder=ann quantity=2"}), same,
       "ok replayed available=4 | h held p 1h-2h x1/3 v3 holder=ann at=0s expires=60s"},
      {"what is left of it is another quantity", after({"release h holder=ann quantity=2"}),
       "hold p key=h holder=ann from=1h until=2h quantity=1", "key_reused field=quantity"},
      {"committed in part", after({"commit h holder=ann quantity=1"}), same,
       "ok replayed available=4 | h committed p 1h-2h x1/3 v3 holder=ann at=0s expires=60s"},
      {"resource first", held, "hold q key=h holder=eve from=1h until=3h",
       "key_reused field=resource"},
      {"then span", held, "hold p key=h holder=eve from=1h until=3h", "key_reused field=span"},
      {"no span is another span", held, "hold p key=h holder=ann quantity=3",
       "key_reused field=span"},
      {"then quantity", held, "hold p key=h holder=eve from=1h until=2h",
       "key_reused field=quantity"},
      {"then holder", held, "hold p key=h holder=eve from=1h until=2h quantity=3",
       "key_reused field=holder"},
      {"the holder left out is the actor", held,
       "hold p key=h actor=ann from=1h until=2h quantity=3",
       "ok replayed available=2 | h held p 1h-2h x3 v2 holder=ann at=0s expires=60s"},
      {"released", after({"release h holder=ann"}), same, "terminal state=released"},
      {"lapsed at the very instant", after({"at 60s"}), same, "terminal state=expired"},
      {"not before", after({"at 59999ms"}), same,
       "ok replayed available=2 | h held p 1h-2h x3 v2 holder=ann at=0s expires=60s"},
      {"expired and recorded", after({"at 60s", "sweep 9"}), same, "terminal state=expired"},
      {"cancelled", after({"commit h holder=ann", "cancel h holder=ann"}), same,
       "terminal state=cancelled"},
      {"stolen", after({"at 60s", "steal h from-holder=ann holder=bob key=g"}), same,
       "terminal state=stolen"},
      {"over, and different as well", after({"release h holder=ann"}), same + "0",
       "key_reused field=quantity"},
      {"committed lives past its expiry", after({"commit h holder=ann", "at 2h"}), same,
       "ok replayed available=2 | h committed p 1h-2h x3 v3 holder=ann at=0s expires=60s"},
      {"a closed resource still gives its claims back", after({"close p"}), same,
       "ok replayed available=2 | h held p 1h-2h x3 v2 holder=ann at=0s expires=60s"},
  });
}

}  // namespace
}  // namespace holdfast::testing
