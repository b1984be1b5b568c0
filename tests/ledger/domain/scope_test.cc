#include "ledger/domain/scope.h"

#include <gtest/gtest.h>

#include "tests/ledger/domain/world.h"

// What lies outside an asker's scope does not exist for him.
namespace holdfast::testing {
namespace {

TEST(Scope, CoversPathsAtAndBelowIts) {
  const Scope whole;
  const Scope some({Path::trusted("hall/a"), Path::trusted("customers")});
  EXPECT_TRUE(whole.covers("anything"));
  EXPECT_TRUE(some.covers("hall/a"));
  EXPECT_TRUE(some.covers("hall/a/1"));
  EXPECT_TRUE(some.covers("customers/42"));
  EXPECT_FALSE(some.covers("hall/ab"));
  EXPECT_FALSE(some.covers("hall"));
  EXPECT_FALSE(Scope(std::vector<Path>{}).covers("hall"));
}

TEST(Scope, ReachesWhatLiesAboveItsPathsToo) {
  const Scope some({Path::trusted("hall/a")});
  EXPECT_TRUE(some.reaches("hall"));
  EXPECT_TRUE(some.reaches("hall/a"));
  EXPECT_TRUE(some.reaches("hall/a/1"));
  EXPECT_FALSE(some.reaches("hall/b"));
  EXPECT_FALSE(some.reaches("cellar"));
  EXPECT_TRUE(Scope().reaches("cellar"));
}

TEST(Scope, AClaimOutsideItDoesNotExist) {
  World world;
  world.given({"hold cellar key=h holder=ann ttl=60s", "hold hall/1 key=g holder=ann ttl=60s"});
  for (const char* command :
       {"extend h holder=ann ttl=90s", "release h holder=ann", "commit h holder=ann",
        "cancel h holder=ann", "steal h from-holder=ann holder=bob key=x"}) {
    EXPECT_EQ(world.run(std::string(command) + " scope=hall"), "unknown_claim") << command;
  }
  EXPECT_EQ(world.run("extend g holder=ann ttl=90s scope=hall").substr(0, 2), "ok");
}

TEST(Scope, AKeyOutsideItIsTakenAndThatIsAll) {
  World world;
  world.given({"hold cellar key=h holder=ann ttl=60s", "hold hall/1 key=g holder=ann ttl=60s"});
  EXPECT_EQ(world.run("hold hall/2 key=h holder=ann scope=hall"), "key_reused");
  EXPECT_EQ(world.run("hold hall/2 key=g holder=ann scope=hall"), "key_reused field=resource");
}

TEST(Scope, BlockersOutsideItAreLeftOut) {
  World world;
  world.given({"define hall parts=true", "hold hall key=whole holder=ann ttl=60s"});
  EXPECT_EQ(world.run("hold hall/1 key=h holder=bob"),
            "conflict available=0 capacity=1 blockers=whole retry_at=60s");
  EXPECT_EQ(world.run("hold hall/1 key=h holder=bob scope=hall/1"),
            "conflict available=0 capacity=1 retry_at=60s");
}

}  // namespace
}  // namespace holdfast::testing
