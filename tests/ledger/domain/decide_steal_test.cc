#include <gtest/gtest.h>

#include "tests/ledger/domain/world.h"

namespace holdfast::testing::to_steal {
namespace {

const std::vector<std::string> kLapsed = {
    "define p capacity=5", "hold p key=h holder=ann from=1h until=2h quantity=4 ttl=60s", "at 60s"};

std::vector<std::string> after(std::vector<std::string> more) {
  more.insert(more.begin(), kLapsed.begin(), kLapsed.end());
  return more;
}

const std::string kSteal = "steal h from-holder=ann holder=bob key=g ttl=30s";

TEST(DecideSteal, Accepted) {
  check({
      {"a lapsed hold whose end is not recorded",
       kLapsed,
       kSteal + " cart=c label=l request=q content=2",
       "ok #3+2 available=1 | g held p 1h-2h x4 v4 holder=bob at=60s expires=90s cart=c label=l "
       "from=h",
       {"#3 tx=3+2 at=60s stolen p h prev=2,2 by=app request=q content=2 by=g holder=ann",
        "#4 tx=3+2 at=60s held p g prev=3,0 by=app request=q content=2 available=1 1h-2h x4 "
        "expires=90s from=h holder=bob cart=c label=l"}},
      {"an expired one whose end is recorded",
       after({"sweep 9", "at 70s"}),
       kSteal,
       "ok #4+2 available=1 | g held p 1h-2h x4 v5 holder=bob at=70s expires=100s from=h",
       {"#4 tx=4+2 at=70s stolen p h prev=3,3 by=app by=g holder=ann",
        "#5 tx=4+2 at=70s held p g prev=4,0 by=app available=1 1h-2h x4 expires=100s from=h "
        "holder=bob"}},
      {"its own `expired` is no new version",
       after({"sweep 9"}),
       kSteal + " version=2",
       "ok #4+2 available=1 | g held p 1h-2h x4 v5 holder=bob at=60s expires=90s from=h",
       {"#4 tx=4+2 at=60s stolen p h prev=3,3 by=app by=g holder=ann",
        "#5 tx=4+2 at=60s held p g prev=4,0 by=app available=1 1h-2h x4 expires=90s from=h "
        "holder=bob"}},
      {"everything left out",
       kLapsed,
       "steal h from-holder=ann actor=bob",
       "ok #3+2 available=1 | fresh-3 held p 1h-2h x4 v4 holder=bob at=60s expires=660s from=h",
       {"#3 tx=3+2 at=60s stolen p h prev=2,2 by=bob by=fresh-3 holder=ann",
        "#4 tx=3+2 at=60s held p fresh-3 prev=3,0 by=bob available=1 1h-2h x4 expires=660s from=h "
        "holder=bob"}},
      {"what was left after a partial release",
       {"define p capacity=5", "hold p key=h holder=ann quantity=4 ttl=60s",
        "release h holder=ann quantity=3", "at 60s"},
       kSteal + " capacity=5",
       "ok #4+2 available=4 | g held p always x1 v5 holder=bob at=60s expires=90s capacity=5 "
       "from=h",
       {"#4 tx=4+2 at=60s stolen p h prev=3,3 by=app by=g holder=ann",
        "#5 tx=4+2 at=60s held p g prev=4,0 by=app available=4 always x1 expires=90s capacity=5 "
        "from=h holder=bob"}},
      {"other lapsed holds in the way are recorded first, the stolen one is not",
       {"define p capacity=5", "hold p key=h holder=ann from=1h until=2h ttl=60s",
        "hold p key=i holder=ivy from=1h until=3h ttl=50s", "at 60s"},
       kSteal,
       "ok #4+3 available=4 | g held p 1h-2h x1 v6 holder=bob at=60s expires=90s from=h",
       {"#4 tx=4+3 at=60s expired p i prev=3,3 by=system due=50s holder=ivy",
        "#5 tx=4+3 at=60s stolen p h prev=4,2 by=app by=g holder=ann",
        "#6 tx=4+3 at=60s held p g prev=5,0 by=app available=4 1h-2h x1 expires=90s from=h "
        "holder=bob"}},
      {"from oneself",
       kLapsed,
       "steal h from-holder=ann holder=ann key=g ttl=2h",
       "ok #3+2 clamped available=1 | g held p 1h-2h x4 v4 holder=ann at=60s expires=3660s from=h",
       {"#3 tx=3+2 at=60s stolen p h prev=2,2 by=app by=g holder=ann",
        "#4 tx=3+2 at=60s held p g prev=3,0 by=app available=1 1h-2h x4 expires=3660s clamped "
        "from=h holder=ann"}},
  });
}

TEST(DecideSteal, Refused) {
  check({
      {"a key that exists", kLapsed, "steal h from-holder=ann holder=bob key=h",
       "key_reused field=key"},
      {"a key of one that is over", after({"hold x key=g", "release g holder=app"}), kSteal,
       "key_reused field=key"},
      {"the steal said twice", after({kSteal}), kSteal, "key_reused field=key"},
      {"unknown", kLapsed, "steal x from-holder=ann holder=bob key=g", "unknown_claim"},
      {"no longer that holder", kLapsed, "steal h from-holder=ivy holder=bob key=g", "not_holder"},
      {"released before it lapsed",
       {"hold r key=h holder=ann ttl=60s", "release h holder=ann", "at 60s"},
       kSteal,
       "terminal state=released"},
      {"stolen by another", after({"steal h from-holder=ann holder=cid key=c"}), kSteal,
       "terminal state=stolen"},
      {"cancelled",
       {"hold r key=h holder=ann ttl=60s", "commit h holder=ann", "cancel h holder=ann"},
       kSteal,
       "terminal state=cancelled"},
      {"committed",
       {"hold r key=h holder=ann ttl=60s", "commit h holder=ann", "at 60s"},
       kSteal,
       "already_committed | h committed r always x1 v2 holder=ann at=0s expires=60s"},
      {"a millisecond too early",
       {"hold r key=h holder=ann ttl=60s", "at 59999ms"},
       kSteal,
       "not_expired expires_at=60s"},
      {"old version",
       {"hold r key=h holder=ann ttl=60s", "extend h holder=ann ttl=70s", "at 70s"},
       kSteal + " version=1",
       "stale_version current=2"},
      {"an instant that is past", kLapsed, "steal h from-holder=ann key=g expires=60s", "bad_ttl"},
      {"the caller's capacity", kLapsed, kSteal + " capacity=4", "capacity_mismatch capacity=5"},
      {"closed", after({"close p"}), kSteal, "closed path=p"},
      {"taken by another meanwhile", after({"hold p key=i from=0h until=90m quantity=2 ttl=5m"}),
       kSteal, "conflict available=3 capacity=5 blockers=i retry_at=360s"},
      {"retired", after({"retire p"}), kSteal, "unknown_resource"},
  });
}

TEST(DecideSteal, TheOldOwnerHasNothingOnTheNewClaim) {
  World w;
  w.given(kLapsed);
  w.given({kSteal, "release h holder=ann"});
  EXPECT_EQ(w.log.size(), 4u);
  EXPECT_EQ(w.run("release g holder=ann"), "not_holder");
  EXPECT_EQ(w.run("extend g holder=ann"), "not_holder");
  EXPECT_EQ(w.run("commit h holder=ann"), "terminal state=stolen");
  EXPECT_EQ(w.show("h"), "h stolen p 1h-2h x4 v3 holder=ann at=0s expires=60s by=g");
  w.given({"commit g holder=bob"});
}

TEST(DecideSteal, EveryLapseHasOneEnd) {
  World w;
  w.given(kLapsed);
  w.given({kSteal, "sweep 100", "at 90s", "steal g from-holder=bob holder=cid key=f", "sweep 100"});
  int expired = 0;
  for (const Event& event : w.log) expired += std::holds_alternative<Expired>(event.happening);
  EXPECT_EQ(expired, 0);
  EXPECT_EQ(w.show("g"), "g stolen p 1h-2h x4 v5 holder=bob at=60s expires=90s from=h by=f");
}

}  // namespace
}  // namespace holdfast::testing::to_steal
