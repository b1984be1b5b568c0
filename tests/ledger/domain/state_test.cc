#include "ledger/domain/state.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/ledger/domain/world.h"

namespace holdfast::testing {
namespace {

const std::vector<std::string> kStory = {
    "define t max_ttl=30m",
    "define t/p capacity=10 turnaround=1m",
    "hold t/p key=a holder=ann from=1h until=2h quantity=4 ttl=60s cart=c label=l",
    "hold t/p key=b holder=bob from=1h until=3h quantity=3 ttl=30s",
    "hold r key=c holder=ann capacity=3 quantity=2 ttl=20s",
    "release a holder=ann quantity=1",
    "commit a holder=ann quantity=2 label=booked",
    "extend b holder=bob ttl=40s",
    "at 20s",
    "steal c from-holder=ann holder=cid key=d capacity=3 ttl=60s",
    "at 40s",
    "hold t/p key=e holder=eve from=1h until=4h ttl=10s",
    "at 50s",
    "sweep 1",
    "cancel a holder=ann quantity=1",
    "close t",
    "release d holder=cid",
    "define x",
    "hold x key=f holder=fay",
    "retire x force=true reason=gone",
    "change t/p capacity=8",
};

std::string all_of(const State& state) {
  std::string text = "head " + std::to_string(state.head().value) + " live " +
                     std::to_string(state.live_claims()) + " lapsed " +
                     std::to_string(state.lapsed_claims()) + "\n";
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g"}) {
    const auto claim = state.claim(key);
    text += claim ? text_of(*claim) + "\n" : std::string(key) + " none\n";
  }
  for (const char* path : {"t", "t/p", "r", "x", "y"}) {
    const Resource* resource = state.definition(path);
    text += std::string(path) + " " + (resource ? text_of(resource->definition) : "undefined") +
            (resource && resource->closed ? " closed" : "") +
            (state.is_retired(path) ? " retired" : "") +
            " last=" + std::to_string(state.last_event(path).value) + "\n";
  }
  return text;
}

TEST(State, IsAFoldOfItsEvents) {
  World w;
  w.given(kStory);
  w.state.advance(w.now);
  State folded;
  for (const Event& event : w.log) folded.evolve(event);
  folded.advance(w.now);
  EXPECT_EQ(all_of(folded), all_of(w.state));
  // Whenever time passed in between.
  State stepwise;
  for (const Event& event : w.log) {
    stepwise.advance(event.recorded_at);
    stepwise.evolve(event);
  }
  stepwise.advance(w.now);
  EXPECT_EQ(all_of(stepwise), all_of(w.state));
}

TEST(State, PositionsAreDenseAndChainsWhole) {
  World w;
  w.given(kStory);
  std::map<std::string, Position> of_resource;
  std::map<std::string, Position> of_claim;
  Position expected;
  for (const Event& event : w.log) {
    SCOPED_TRACE(text_of(event));
    expected = expected + 1;
    EXPECT_EQ(event.position, expected);
    EXPECT_LE(event.transaction, event.position);
    EXPECT_LT(event.position, event.transaction + event.transaction_count);
    EXPECT_EQ(event.previous_on_resource, of_resource[event.resource.str()]);
    of_resource[event.resource.str()] = event.position;
    if (!event.key) continue;
    EXPECT_EQ(event.previous_of_claim, of_claim[event.key->str()]);
    of_claim[event.key->str()] = event.position;
    EXPECT_TRUE(event.personal.holder) << "on every event of a claim";
  }
  EXPECT_EQ(w.state.head(), expected);
}

TEST(State, AdvanceIsIdempotentAndNeverGoesBack) {
  World w;
  w.given({"hold r key=h holder=ann ttl=60s"});
  EXPECT_EQ(w.state.next_due(), kT0 + kMinute);
  w.state.advance(kT0 + Duration{59'999});
  EXPECT_EQ(w.state.live_claims(), 1u);
  for (const std::int64_t at : {60, 60, 90, 10, 60}) {
    w.state.advance(kT0 + Duration{at * kSecond.ms});
    EXPECT_EQ(w.state.live_claims(), 0u);
    EXPECT_EQ(w.state.lapsed_claims(), 1u);
    EXPECT_EQ(w.show("h"), "h expired r always x1 v1 holder=ann at=0s expires=60s");
    EXPECT_EQ(w.state.next_due(), std::nullopt);
  }
}

TEST(State, NextDueFollowsWhatHappens) {
  World w;
  EXPECT_EQ(w.state.next_due(), std::nullopt);
  const auto due = [&](const char* line) {
    w.given({line});
    const auto next = w.state.next_due();
    return next ? text_of(*next) : "none";
  };
  EXPECT_EQ(due("hold a key=a ttl=60s"), "60s");
  EXPECT_EQ(due("hold b key=b ttl=30s"), "30s");
  EXPECT_EQ(due("hold c key=c ttl=40s"), "30s");
  EXPECT_EQ(due("extend b ttl=50s"), "40s");
  EXPECT_EQ(due("commit c"), "50s");
  EXPECT_EQ(due("extend a ttl=5s shorten=true"), "5s");
  EXPECT_EQ(due("release a"), "50s");
  EXPECT_EQ(due("release b"), "none");
}

TEST(State, VisitsSubtreesAndHolders) {
  World w;
  w.given({"hold t key=a holder=ann", "hold t/x key=b holder=bob", "hold t/x/y key=c holder=ann",
           "hold tx key=d holder=ann", "hold u key=e holder=ann ttl=10s",
           "hold t/q key=f holder=ann", "commit c holder=ann", "release f holder=ann", "at 10s"});
  w.state.advance(w.now);
  using Keys = std::set<std::string>;
  const auto below = [&](const char* path) {
    Keys keys;
    w.state.visit_subtree(path, [&](const StandingClaim& claim) {
      EXPECT_TRUE(keys.insert(claim.key.str()).second);
      return true;
    });
    return keys;
  };
  EXPECT_EQ(below("t"), (Keys{"a", "b", "c"}));
  EXPECT_EQ(below("t/x"), (Keys{"b", "c"}));
  EXPECT_EQ(below(""), (Keys{"a", "b", "c", "d"}));
  EXPECT_EQ(below("t/q"), (Keys{}));
  EXPECT_EQ(below("nowhere"), (Keys{}));
  Keys of_ann;
  w.state.visit_holder("ann", [&](const StandingClaim& claim) {
    of_ann.insert(claim.key.str());
    return true;
  });
  EXPECT_EQ(of_ann, (Keys{"a", "c", "d"}));
  int visited = 0;
  w.state.visit_subtree("", [&](const StandingClaim&) { return ++visited < 2; });
  EXPECT_EQ(visited, 2);
}

TEST(State, ForgetsWhatHasEndedOnly) {
  World w;
  w.given({"define d", "hold r key=a", "release a holder=app", "hold s key=b",
           "hold q key=c ttl=1s", "define x", "retire x", "at 1s"});
  w.state.advance(w.now);
  // Claims in the first round, then the resources that were theirs.
  for (int round = 0; round < 2; ++round) w.state.forget_through(w.state.head());
  EXPECT_EQ(w.show("a"), "none");
  EXPECT_NE(w.show("b"), "none");
  EXPECT_NE(w.show("c"), "none") << "its end is still to be recorded";
  EXPECT_NE(w.state.definition("d"), nullptr);
  EXPECT_TRUE(w.state.is_retired("x"));
  EXPECT_FALSE(w.state.knows_last_event("r"));
  w.given({"sweep 9"});
  w.state.forget_through(w.state.head());
  EXPECT_EQ(w.show("c"), "none");
}

TEST(State, ForgetsNothingThatIsNotProjected) {
  World w;
  w.given({"hold r key=a", "release a holder=app"});
  w.state.forget_through({1});
  EXPECT_EQ(w.show("a"), "a released r always x1 v2 holder=app at=0s expires=600s");
  EXPECT_EQ(w.state.last_event("r"), Position{2});
  w.state.forget_through({2});
  EXPECT_EQ(w.show("a"), "none");
}

TEST(State, RecalledItIsAsItWas) {
  World w;
  w.given({"hold r key=a holder=ann cart=c label=l quantity=3 capacity=4",
           "release a holder=ann quantity=1", "release a holder=ann"});
  const Claim ended = w.state.claim("a").value();
  w.state.forget_through(w.state.head());
  ASSERT_EQ(w.show("a"), "none");
  w.state.recall(ended);
  w.state.recall_last_event(Path::trusted("r"), {3});
  EXPECT_EQ(w.state.claim("a"), ended);
  EXPECT_EQ(w.run("hold r key=a holder=ann quantity=3"), "terminal state=released");
  EXPECT_EQ(w.run("commit a holder=bob"), "not_holder");
  w.given({"hold r key=b"});
  EXPECT_EQ(w.log.back().previous_on_resource, Position{3});
}

TEST(State, RestoredFromRowsItDecidesTheSame) {
  World w;
  w.given({"define p capacity=3 turnaround=1m", "hold p key=a holder=ann from=1h until=2h ttl=60s",
           "hold p key=b holder=bob from=1h until=2h", "commit b holder=bob", "define x", "close p",
           "retire x", "open p"});
  World restored;
  restored.state.set_head(w.state.head());
  restored.state.restore_definition(Path::trusted("p"), *w.state.definition("p"));
  restored.state.restore_definition(Path::trusted("x"), std::nullopt);
  for (const char* key : {"b", "a"}) restored.state.restore_claim(w.state.claim(key).value());
  for (const char* path : {"p", "x"}) {
    restored.state.recall_last_event(Path::trusted(path), w.state.last_event(path));
  }
  for (const char* line :
       {"hold p key=c from=1h until=2h quantity=2", "hold x", "extend a holder=ann ttl=90s",
        "hold p key=a holder=ann from=1h until=2h", "at 90s", "hold p key=d from=1h until=2h",
        "commit a holder=ann", "cancel b holder=bob", "define x"}) {
    EXPECT_EQ(restored.run(line), w.run(line)) << line;
  }
  EXPECT_EQ(restored.events_from(9), w.events_from(9));
}

TEST(State, RemembersRequests) {
  World w;
  const Actor actor = Actor::trusted("a");
  const RequestId id = RequestId::trusted("r");
  EXPECT_EQ(w.state.request("a", "r"), nullptr);
  w.given({"hold r key=h"});
  w.state.remember(actor, id, {{1}, {}, {}});
  ASSERT_NE(w.state.request("a", "r"), nullptr);
  EXPECT_EQ(w.state.request("a", "r")->transaction, Position{1});
  EXPECT_EQ(w.state.request("b", "r"), nullptr) << "one namespace per actor";
  w.state.forget_through({0});
  EXPECT_NE(w.state.request("a", "r"), nullptr);
  w.state.forget_through({1});
  EXPECT_EQ(w.state.request("a", "r"), nullptr);
}

}  // namespace
}  // namespace holdfast::testing
