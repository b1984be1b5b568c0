#include <gtest/gtest.h>

#include "tests/ledger/domain/world.h"

// Release, commit and cancel: how claims end, whole or in part.
namespace holdfast::testing::to_end {
namespace {

const std::vector<std::string> kHeld = {
    "define p capacity=10", "hold p key=h holder=ann from=1h until=2h quantity=5 ttl=60s"};

std::vector<std::string> after(std::vector<std::string> more) {
  more.insert(more.begin(), kHeld.begin(), kHeld.end());
  return more;
}

TEST(DecideRelease, Accepted) {
  check({
      {"all of it",
       after({"at 10s"}),
       "release h holder=ann reason=done",
       "ok #3+1 available=10 | h released p 1h-2h x5 v3 holder=ann at=0s expires=60s",
       {"#3 tx=3+1 at=10s released p h prev=2,2 by=app available=10 x5 remaining=0 holder=ann "
        "reason=done"}},
      {"a part",
       after({}),
       "release h holder=ann quantity=2 version=2",
       "ok #3+1 available=7 | h held p 1h-2h x3/5 v3 holder=ann at=0s expires=60s",
       {"#3 tx=3+1 at=0s released p h prev=2,2 by=app available=7 x2 remaining=3 holder=ann"}},
      {"the rest, by its number",
       after({"release h holder=ann quantity=2"}),
       "release h holder=ann quantity=3",
       "ok #4+1 available=10 | h released p 1h-2h x3/5 v4 holder=ann at=0s expires=60s",
       {"#4 tx=4+1 at=0s released p h prev=3,3 by=app available=10 x3 remaining=0 holder=ann"}},
      {"by an operator",
       after({}),
       "release h",
       "ok #3+1 available=10 | h released p 1h-2h x5 v3 holder=ann at=0s expires=60s",
       {"#3 tx=3+1 at=0s released p h prev=2,2 by=app available=10 x5 remaining=0 holder=ann"}},
      {"twice", after({"release h holder=ann"}), "release h holder=ann",
       "ok unchanged available=10 | h released p 1h-2h x5 v3 holder=ann at=0s expires=60s"},
      {"twice, with what was the version then", after({"release h holder=ann"}),
       "release h holder=ann version=2 quantity=9",
       "ok unchanged available=10 | h released p 1h-2h x5 v3 holder=ann at=0s expires=60s"},
      {"lapsed", after({"at 60s"}), "release h holder=ann",
       "ok unchanged available=10 | h expired p 1h-2h x5 v2 holder=ann at=0s expires=60s"},
      {"expired and recorded", after({"at 60s", "sweep 9"}), "release h holder=ann",
       "ok unchanged available=10 | h expired p 1h-2h x5 v2 last=3 holder=ann at=0s expires=60s"},
      {"stolen", after({"at 60s", "steal h from-holder=ann holder=bob key=g"}),
       "release h holder=ann",
       "ok unchanged available=5 | h stolen p 1h-2h x5 v3 holder=ann at=0s expires=60s by=g"},
  });
}

TEST(DecideRelease, Refused) {
  check({
      {"unknown", after({}), "release x holder=ann", "unknown_claim"},
      {"another's", after({}), "release h holder=bob", "not_holder"},
      {"another's, and over", after({"release h holder=ann"}), "release h holder=bob",
       "not_holder"},
      {"committed", after({"commit h holder=ann quantity=1"}), "release h holder=ann",
       "already_committed | h committed p 1h-2h x1/5 v3 holder=ann at=0s expires=60s"},
      {"old version", after({"release h holder=ann quantity=1"}), "release h holder=ann version=2",
       "stale_version current=3"},
      {"more than it has", after({"release h holder=ann quantity=1"}),
       "release h holder=ann quantity=5", "bad_quantity"},
  });
}

TEST(DecideCommit, Accepted) {
  check({
      {"all of it",
       after({"at 59999ms"}),
       "commit h holder=ann",
       "ok #3+1 available=5 | h committed p 1h-2h x5 v3 holder=ann at=0s expires=60s",
       {"#3 tx=3+1 at=59999ms committed p h prev=2,2 by=app available=5 x5 let_go=0 holder=ann"}},
      {"a part: the same event lets the rest go",
       after({}),
       "commit h holder=ann quantity=2 version=2 label=order",
       "ok #3+1 available=8 | h committed p 1h-2h x2/5 v3 holder=ann at=0s expires=60s "
       "label=order",
       {"#3 tx=3+1 at=0s committed p h prev=2,2 by=app available=8 x2 let_go=3 holder=ann "
        "label=order"}},
      {"after a part was released",
       after({"release h holder=ann quantity=1"}),
       "commit h holder=ann quantity=4",
       "ok #4+1 available=6 | h committed p 1h-2h x4/5 v4 holder=ann at=0s expires=60s",
       {"#4 tx=4+1 at=0s committed p h prev=3,3 by=app available=6 x4 let_go=0 holder=ann"}},
      {"by an operator",
       after({}),
       "commit h",
       "ok #3+1 available=5 | h committed p 1h-2h x5 v3 holder=ann at=0s expires=60s",
       {"#3 tx=3+1 at=0s committed p h prev=2,2 by=app available=5 x5 let_go=0 holder=ann"}},
      {"the label of the hold stays if the commit names none",
       {"hold r key=k holder=ann label=first ttl=60s"},
       "commit k holder=ann",
       "ok #2+1 available=0 | k committed r always x1 v2 holder=ann at=0s expires=60s label=first",
       {"#2 tx=2+1 at=0s committed r k prev=1,1 by=app available=0 x1 let_go=0 holder=ann"}},
  });
}

TEST(DecideCommit, Refused) {
  check({
      {"unknown", after({}), "commit x holder=ann", "unknown_claim"},
      {"another's", after({}), "commit h holder=bob", "not_holder"},
      {"released", after({"release h holder=ann"}), "commit h holder=ann",
       "terminal state=released"},
      {"stolen", after({"at 60s", "steal h from-holder=ann holder=bob key=g"}),
       "commit h holder=ann", "terminal state=stolen"},
      {"cancelled", after({"commit h holder=ann", "cancel h holder=ann"}), "commit h holder=ann",
       "terminal state=cancelled"},
      {"twice", after({"commit h holder=ann quantity=4"}), "commit h holder=ann",
       "already_committed | h committed p 1h-2h x4/5 v3 holder=ann at=0s expires=60s"},
      {"at the very instant", after({"at 60s"}), "commit h holder=ann",
       "expired expires_at=60s now=60s"},
      {"recorded", after({"at 61s", "sweep 9"}), "commit h holder=ann",
       "expired expires_at=60s now=61s"},
      {"old version", after({"extend h holder=ann ttl=90s"}), "commit h holder=ann version=2",
       "stale_version current=3"},
      {"more than it has", after({"release h holder=ann quantity=2"}),
       "commit h holder=ann quantity=4", "bad_quantity"},
  });
}

TEST(DecideCommit, StandsPastItsExpiry) {
  World w;
  w.given(kHeld);
  w.given({"commit h holder=ann", "at 10h", "sweep 9"});
  EXPECT_EQ(w.log.size(), 3u);
  EXPECT_EQ(w.run("hold p key=g from=1h until=2h quantity=6"),
            "conflict available=5 capacity=10 blockers=h");
}

TEST(DecideCancel, Accepted) {
  const auto booked = [](std::vector<std::string> more) {
    more.insert(more.begin(), "commit h holder=ann");
    return after(std::move(more));
  };
  check({
      {"all of it, past its expiry",
       booked({"at 2h"}),
       "cancel h holder=ann",
       "ok #4+1 available=10 | h cancelled p 1h-2h x5 v4 holder=ann at=0s expires=60s",
       {"#4 tx=4+1 at=2h cancelled p h prev=3,3 by=app available=10 x5 remaining=0 holder=ann"}},
      {"a part",
       booked({}),
       "cancel h holder=ann quantity=2 version=3",
       "ok #4+1 available=7 | h committed p 1h-2h x3/5 v4 holder=ann at=0s expires=60s",
       {"#4 tx=4+1 at=0s cancelled p h prev=3,3 by=app available=7 x2 remaining=3 holder=ann"}},
      {"twice", booked({"cancel h holder=ann"}), "cancel h holder=ann version=3 quantity=9",
       "ok unchanged available=10 | h cancelled p 1h-2h x5 v4 holder=ann at=0s expires=60s"},
  });
}

TEST(DecideCancel, Refused) {
  check({
      {"unknown", after({}), "cancel x holder=ann", "unknown_claim"},
      {"another's", after({"commit h holder=ann"}), "cancel h holder=bob", "not_holder"},
      {"held", after({}), "cancel h holder=ann", "not_committed state=held"},
      {"released", after({"release h holder=ann"}), "cancel h holder=ann",
       "not_committed state=released"},
      {"lapsed", after({"at 60s"}), "cancel h holder=ann", "not_committed state=expired"},
      {"expired", after({"at 60s", "sweep 9"}), "cancel h holder=ann",
       "not_committed state=expired"},
      {"stolen", after({"at 60s", "steal h from-holder=ann holder=bob key=g"}),
       "cancel h holder=ann", "not_committed state=stolen"},
      {"old version", after({"commit h holder=ann"}), "cancel h holder=ann version=2",
       "stale_version current=3"},
      {"more than it has", after({"commit h holder=ann quantity=3"}),
       "cancel h holder=ann quantity=4", "bad_quantity"},
  });
}

}  // namespace
}  // namespace holdfast::testing::to_end
