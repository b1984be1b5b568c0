#include <gtest/gtest.h>

#include "tests/ledger/domain/world.h"

namespace holdfast::testing::to_extend {
namespace {

const std::vector<std::string> kHeld = {"hold r key=h holder=ann from=1h until=2h ttl=60s"};

std::vector<std::string> after(std::vector<std::string> more) {
  more.insert(more.begin(), kHeld.begin(), kHeld.end());
  return more;
}

TEST(DecideExtend, Accepted) {
  check({
      {"by a ttl, from now",
       after({"at 10s"}),
       "extend h holder=ann ttl=2m content=3 request=q",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=130s",
       {"#2 tx=2+1 at=10s extended r h prev=1,1 by=app request=q content=3 available=0 "
        "expires=130s holder=ann"}},
      {"to an instant",
       after({"at 10s"}),
       "extend h holder=ann expires=90s",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=90s",
       {"#2 tx=2+1 at=10s extended r h prev=1,1 by=app available=0 expires=90s holder=ann"}},
      {"by the default",
       after({"at 10s"}),
       "extend h holder=ann",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=610s",
       {"#2 tx=2+1 at=10s extended r h prev=1,1 by=app available=0 expires=610s holder=ann"}},
      {"clamped",
       after({"at 10s"}),
       "extend h holder=ann ttl=2h",
       "ok #2+1 clamped available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=3610s",
       {"#2 tx=2+1 at=10s extended r h prev=1,1 by=app available=0 expires=3610s clamped "
        "holder=ann"}},
      {"the later of the two: no movement", after({"at 10s"}), "extend h holder=ann ttl=50s",
       "ok unchanged available=0 | h held r 1h-2h x1 v1 holder=ann at=0s expires=60s"},
      {"an earlier instant: no movement", after({}), "extend h holder=ann expires=30s",
       "ok unchanged available=0 | h held r 1h-2h x1 v1 holder=ann at=0s expires=60s"},
      {"shortened",
       after({"at 10s"}),
       "extend h holder=ann ttl=5s shorten=true",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=15s",
       {"#2 tx=2+1 at=10s extended r h prev=1,1 by=app available=0 expires=15s holder=ann"}},
      {"shorten may lengthen too",
       after({}),
       "extend h holder=ann ttl=90s shorten=true",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=90s",
       {"#2 tx=2+1 at=0s extended r h prev=1,1 by=app available=0 expires=90s holder=ann"}},
      {"shortened to where it is", after({}), "extend h holder=ann ttl=60s shorten=true",
       "ok unchanged available=0 | h held r 1h-2h x1 v1 holder=ann at=0s expires=60s"},
      {"by an operator without holder",
       after({}),
       "extend h ttl=90s actor=op",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=90s",
       {"#2 tx=2+1 at=0s extended r h prev=1,1 by=op available=0 expires=90s holder=ann"}},
      {"with the right version",
       after({}),
       "extend h holder=ann ttl=90s version=1",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=90s",
       {"#2 tx=2+1 at=0s extended r h prev=1,1 by=app available=0 expires=90s holder=ann"}},
      {"a millisecond before its expiry",
       after({"at 59999ms"}),
       "extend h holder=ann ttl=1s",
       "ok #2+1 available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=60999ms",
       {"#2 tx=2+1 at=59999ms extended r h prev=1,1 by=app available=0 expires=60999ms "
        "holder=ann"}},
      {"the maximum has been lowered below what it has: stays",
       after({"extend h holder=ann ttl=30m", "define r max_ttl=1m"}), "extend h holder=ann ttl=1m",
       "ok unchanged available=0 | h held r 1h-2h x1 v2 holder=ann at=0s expires=1800s"},
      {"the capacity its hold was vouched for counts on",
       {"hold q key=k holder=ann quantity=2 capacity=5 ttl=60s"},
       "extend k holder=ann ttl=90s",
       "ok #2+1 available=3 | k held q always x2 v2 holder=ann at=0s expires=90s capacity=5",
       {"#2 tx=2+1 at=0s extended q k prev=1,1 by=app available=3 expires=90s holder=ann"}},
  });
}

TEST(DecideExtend, Refused) {
  check({
      {"unknown", after({}), "extend x holder=ann", "unknown_claim"},
      {"another's", after({}), "extend h holder=bob", "not_holder"},
      {"another's, by an operator who names one", after({}), "extend h holder=bob", "not_holder"},
      {"released", after({"release h holder=ann"}), "extend h holder=ann",
       "terminal state=released"},
      {"stolen", after({"at 60s", "steal h from-holder=ann holder=bob key=g"}),
       "extend h holder=ann", "terminal state=stolen"},
      {"cancelled", after({"commit h holder=ann", "cancel h holder=ann"}), "extend h holder=ann",
       "terminal state=cancelled"},
      {"committed", after({"commit h holder=ann"}), "extend h holder=ann",
       "already_committed | h committed r 1h-2h x1 v2 holder=ann at=0s expires=60s"},
      {"at the very instant", after({"at 60s"}), "extend h holder=ann",
       "expired expires_at=60s now=60s"},
      {"recorded", after({"at 60s", "sweep 9", "at 70s"}), "extend h holder=ann",
       "expired expires_at=60s now=70s"},
      {"old version", after({"extend h holder=ann ttl=90s"}), "extend h holder=ann version=1",
       "stale_version current=2"},
      {"an instant that is past", after({"at 10s"}), "extend h holder=ann expires=10s", "bad_ttl"},
      {"the same when shortening", after({"at 10s"}), "extend h holder=ann expires=9s shorten=true",
       "bad_ttl"},
  });
}

TEST(DecideExtend, RoomIsKeptUntilTheNewExpiry) {
  World w;
  w.given(kHeld);
  w.given({"extend h holder=ann ttl=2m", "at 60s"});
  EXPECT_EQ(w.run("hold r key=g from=1h until=2h"),
            "conflict available=0 capacity=1 blockers=h retry_at=120s");
  w.given({"extend h holder=ann ttl=1s shorten=true", "at 61s", "hold r key=g from=1h until=2h"});
}

}  // namespace
}  // namespace holdfast::testing::to_extend
