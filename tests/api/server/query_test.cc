#include <capnp/dynamic.h>
#include <gtest/gtest.h>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/server/running_server.h"

// Queries and admin requests over the wire, against commands of the same client.
namespace holdfast::api {
namespace {

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay0 = 1'893'456'000'000;  // 2030-01-01T00:00:00Z

class Queries : public testing::Test {
 protected:
  Queries() : client_(running_.client_options()) {}

  Response ask(const std::function<void(wire::Request::Builder)>& fill) {
    Request request;
    fill(request.root());
    auto answer = client_.call(std::move(request));
    EXPECT_TRUE(answer) << answer.error().text;
    return std::move(*answer);
  }
  Response command(const std::function<void(wire::Command::Builder)>& fill) {
    return ask([&](wire::Request::Builder request) { fill(request.initBatch(1)[0]); });
  }
  std::uint64_t hold(const std::string& resource, const std::string& key,
                     const std::string& holder) {
    const auto answer = command([&](wire::Command::Builder command) {
      auto hold = command.initHold();
      hold.setResource(resource);
      hold.setKey(key);
      hold.setHolder(holder);
    });
    EXPECT_TRUE(answer.root().getOutcomes()[0].isAccepted());
    return answer.root().getOutcomes()[0].getAccepted().getFirstPosition();
  }
  void release(const std::string& key, const std::string& holder) {
    command([&](wire::Command::Builder command) {
      auto release = command.initRelease();
      release.setKey(key);
      release.setHolder(holder);
    });
  }
  // All pages.
  std::vector<std::string> claims(const std::function<void(wire::ClaimsQuery::Builder)>& fill,
                                  std::uint32_t page = 0) {
    std::vector<std::string> keys;
    std::string cursor;
    do {
      const auto answer = ask([&](wire::Request::Builder request) {
        auto query = request.initQuery().initClaims();
        fill(query);
        query.setLimit(page);
        if (!cursor.empty()) query.setCursor(cursor);
      });
      EXPECT_TRUE(answer.root().isClaims());
      if (!answer.root().isClaims()) break;
      for (const auto claim : answer.root().getClaims().getClaims()) {
        keys.emplace_back(claim.getKey().cStr());
      }
      cursor = answer.root().getClaims().getCursor().cStr();
    } while (!cursor.empty());
    return keys;
  }
  std::vector<std::string> history(const std::function<void(wire::HistoryQuery::Builder)>& fill,
                                   std::uint32_t page = 0) {
    std::vector<std::string> events;
    std::string cursor;
    do {
      const auto answer = ask([&](wire::Request::Builder request) {
        auto query = request.initQuery().initHistory();
        fill(query);
        query.setLimit(page);
        if (!cursor.empty()) query.setCursor(cursor);
      });
      EXPECT_TRUE(answer.root().isHistory());
      if (!answer.root().isHistory()) break;
      for (const auto event : answer.root().getHistory().getEvents()) {
        events.push_back(std::string(event.getType().cStr()) + ":" + event.getKey().cStr());
      }
      cursor = answer.root().getHistory().getCursor().cStr();
    } while (!cursor.empty());
    return events;
  }

  RunningServer running_;
  BlockingClient client_;
};

using Words = std::vector<std::string>;

TEST_F(Queries, AClaimIsShownAsItIsEndedOrNot) {
  const auto show = [&](const char* key) {
    return ask(
        [&](wire::Request::Builder request) { request.initQuery().initClaim().setKey(key); });
  };
  hold("room", "a", "ann");
  EXPECT_EQ(show("a").root().getClaim().getState(), wire::ClaimState::HELD);
  release("a", "ann");
  const auto released = show("a");
  EXPECT_EQ(released.root().getClaim().getState(), wire::ClaimState::RELEASED);
  EXPECT_GE(released.root().getPosition(), 2u);
  const auto unknown = show("b");
  ASSERT_TRUE(unknown.root().isRefused());
  EXPECT_EQ(unknown.root().getRefused().getReason(), wire::Reason::UNKNOWN_CLAIM);
}

TEST_F(Queries, ClaimsByResourceHolderAndState) {
  hold("hall/1", "c", "ann");
  hold("hall/2", "a", "bob");
  hold("hall/3", "b", "ann");
  hold("hallway", "d", "ann");
  release("b", "ann");
  const auto hall = [](wire::ClaimsQuery::Builder query) { query.setResource("hall"); };
  EXPECT_EQ(claims(hall), (Words{"a", "c"}));
  EXPECT_EQ(claims(hall, 1), (Words{"a", "c"})) << "page by page";
  EXPECT_EQ(claims([](wire::ClaimsQuery::Builder query) { query.setHolder("ann"); }),
            (Words{"c", "d"}));
  EXPECT_EQ(claims([](wire::ClaimsQuery::Builder query) {
              query.setHolder("ann");
              query.setState(wire::StateFilter::RELEASED);
            }),
            (Words{"b"}));
  EXPECT_EQ(
      claims([](wire::ClaimsQuery::Builder query) { query.setState(wire::StateFilter::ALL); }, 3),
      (Words{"a", "b", "c", "d"}));
  EXPECT_EQ(claims([](wire::ClaimsQuery::Builder query) {
              query.setResource("hall");
              query.initAsOf().setPosition(3);
            }),
            (Words{"a", "b", "c"}));
}

TEST_F(Queries, ManyClaimsComePageByPageFromTheStateAndFromTheRows) {
  constexpr unsigned kClaims = 25'000;  // more than one query looks at on the writer's thread
  Words expected;
  for (unsigned made = 0; made < kClaims; made += 5'000) {
    ask([&](wire::Request::Builder request) {
      auto batch = request.initBatch(5'000);
      for (unsigned i = 0; i < 5'000; ++i) {
        const std::string key = "k" + std::to_string(1'000'000 + made + i);
        expected.push_back(key);
        batch[i].initHold().setResource("many/" + key);
        batch[i].getHold().setKey(key);
        batch[i].getHold().setHolder("h" + std::to_string(i % 10));
      }
    });
  }
  EXPECT_EQ(claims([](wire::ClaimsQuery::Builder query) { query.setResource("many"); }, 500),
            expected);
  EXPECT_EQ(claims([](wire::ClaimsQuery::Builder query) { query.setHolder("h3"); }, 500).size(),
            kClaims / 10);
}

TEST_F(Queries, AvailabilityNowAndOverAWindow) {
  command([](wire::Command::Builder command) {
    command.initDefine().setResource("pool");
    command.getDefine().setCapacity(3);
  });
  command([](wire::Command::Builder command) {
    auto hold = command.initHold();
    hold.setResource("pool");
    hold.setKey("a");
    hold.setFrom(kDay0 + kHour);
    hold.setUntil(kDay0 + 2 * kHour);
    hold.setQuantity(2);
  });
  const auto now = ask([](wire::Request::Builder request) {
    request.initQuery().initAvailability().setResource("pool");
  });
  EXPECT_EQ(now.root().getAvailability().getFree(), 3);
  const auto window = [&](std::int64_t as_of) {
    return ask([&](wire::Request::Builder request) {
      auto query = request.initQuery().initAvailability();
      query.setResource("pool");
      query.setFrom(kDay0);
      query.setUntil(kDay0 + 3 * kHour);
      if (as_of != 0) query.initAsOf().setPosition(as_of);
    });
  };
  const auto later = window(0);
  ASSERT_EQ(later.root().getAvailability().getPieces().size(), 3u);
  EXPECT_EQ(later.root().getAvailability().getPieces()[1].getFree(), 1);
  EXPECT_EQ(window(1).root().getAvailability().getPieces().size(), 1u);
}

TEST_F(Queries, ResourcesComePageByPageWhereFewOfManyAreListed) {
  constexpr unsigned kSeats = 2'500;  // more than one answer looks at
  ask([&](wire::Request::Builder request) {
    auto batch = request.initBatch(kSeats);
    for (unsigned i = 0; i < kSeats; ++i) {
      batch[i].initDefine().setResource("hall/" + std::to_string(10'000 + i));
      batch[i].getDefine().setCapacity(i % 1'000 == 999 ? 2 : 1);
    }
  });
  for (const std::int64_t as_of : {0, 2'000}) {
    Words paths;
    std::string cursor;
    unsigned pages = 0;
    do {
      const auto answer = ask([&](wire::Request::Builder request) {
        auto query = request.initQuery().initResources();
        query.setResource("hall");
        query.setQuantity(2);
        if (!cursor.empty()) query.setCursor(cursor);
        if (as_of != 0) query.initAsOf().setPosition(as_of);
      });
      ASSERT_TRUE(answer.root().isResources());
      for (const auto one : answer.root().getResources().getResources()) {
        paths.emplace_back(one.getResource().cStr());
      }
      cursor = answer.root().getResources().getCursor().cStr();
      ++pages;
    } while (!cursor.empty());
    EXPECT_EQ(paths, (Words{"hall/10999", "hall/11999"})) << as_of;
    EXPECT_EQ(pages, as_of == 0 ? 3u : 1u);
  }
}

TEST_F(Queries, ResourcesWithLongAttributesFitIntoAMessage) {
  const std::string value(4'000, 'x');
  constexpr unsigned kCars = 100;  // of 128,000 bytes each
  for (unsigned i = 0; i < kCars; ++i) {
    command([&](wire::Command::Builder command) {
      auto define = command.initDefine();
      define.setResource("cars/" + std::to_string(100 + i));
      auto attributes = define.initAttributes(32);
      for (unsigned n = 0; n < 32; ++n) {
        attributes[n].setName("a" + std::to_string(n));
        attributes[n].setValue(value);
      }
    });
  }
  unsigned cars = 0;
  std::string cursor;
  do {
    const auto answer = ask([&](wire::Request::Builder request) {
      auto query = request.initQuery().initResources();
      query.setResource("cars");
      if (!cursor.empty()) query.setCursor(cursor);
    });
    ASSERT_TRUE(answer.root().isResources());
    cars += answer.root().getResources().getResources().size();
    cursor = answer.root().getResources().getCursor().cStr();
  } while (!cursor.empty());
  EXPECT_EQ(cars, kCars);
}

TEST_F(Queries, HistoryInBothDirectionsWithEveryFilter) {
  hold("hall/1", "a", "ann");
  hold("hall/2", "b", "bob");
  release("a", "ann");
  EXPECT_EQ(history([](wire::HistoryQuery::Builder) {}), (Words{"held:a", "held:b", "released:a"}));
  EXPECT_EQ(history([](wire::HistoryQuery::Builder query) { query.setNewestFirst(true); }, 1),
            (Words{"released:a", "held:b", "held:a"}));
  EXPECT_EQ(history([](wire::HistoryQuery::Builder query) { query.setResource("hall"); }, 2),
            (Words{"held:a", "held:b", "released:a"}));
  EXPECT_EQ(history([](wire::HistoryQuery::Builder query) { query.setKey("a"); }),
            (Words{"held:a", "released:a"}));
  EXPECT_EQ(history([](wire::HistoryQuery::Builder query) { query.setHolder("bob"); }),
            (Words{"held:b"}));
  EXPECT_EQ(history([](wire::HistoryQuery::Builder query) { query.setActor("tester"); }).size(),
            3u);
  EXPECT_EQ(history([](wire::HistoryQuery::Builder query) { query.initAsOf().setPosition(2); }),
            (Words{"held:a", "held:b"}));
}

TEST_F(Queries, TimesAndCursorsThatAreNoneAreRefused) {
  hold("room", "a", "ann");
  const auto reason = [&](const std::function<void(wire::Query::Builder)>& fill) {
    const auto answer = ask([&](wire::Request::Builder request) { fill(request.initQuery()); });
    EXPECT_TRUE(answer.root().isRefused());
    return answer.root().getRefused().getReason();
  };
  EXPECT_EQ(reason([](wire::Query::Builder query) {
              query.initClaim().setKey("a");
              query.getClaim().initAsOf().setPosition(2);
            }),
            wire::Reason::BAD_TIME);
  EXPECT_EQ(reason([](wire::Query::Builder query) {
              query.initHistory().initAsOf().setInstant(kDay0 + 100 * 365 * 24 * kHour);
            }),
            wire::Reason::BAD_TIME);
  EXPECT_EQ(reason([](wire::Query::Builder query) {
              query.initAvailability().setResource("room");
              query.getAvailability().initAsOf();
            }),
            wire::Reason::BAD_TIME);
  EXPECT_EQ(reason([](wire::Query::Builder query) { query.initClaims().setCursor("\x01"); }),
            wire::Reason::BAD_TEXT);
  EXPECT_EQ(reason([](wire::Query::Builder query) { query.initHistory().setCursor("garbage"); }),
            wire::Reason::BAD_TEXT);
}

// Of a claim, by key.
void ask_for(wire::Query::Builder query, const char* key) { query.initClaim().setKey(key); }

TEST_F(Queries, ManyAreAnsweredInOrderForOnePosition) {
  hold("room", "a", "ann");
  hold("room/2", "b", "bob");
  release("b", "bob");
  const auto answer = ask([](wire::Request::Builder request) {
    auto queries = request.initQueries(7);
    ask_for(queries[0], "a");
    ask_for(queries[1], "b");
    ask_for(queries[2], "c");
    ask_for(queries[3], "");
    auto window = queries[4].initAvailability();
    window.setResource("room/2");
    window.setFrom(kDay0);
    window.setUntil(kDay0 + kHour);
    queries[5].initNextFree().setResource("room/3");
    queries[5].getNextFree().setDuration(kHour);
    queries[5].getNextFree().setFrom(kDay0);
    ask_for(queries[6], "b");
    queries[6].getClaim().initAsOf().setPosition(2);
  });
  ASSERT_TRUE(answer.root().isAnswers());
  const auto answers = answer.root().getAnswers();
  ASSERT_EQ(answers.size(), 7u);
  EXPECT_EQ(answers[0].getClaim().getState(), wire::ClaimState::HELD);
  EXPECT_EQ(answers[1].getClaim().getState(), wire::ClaimState::RELEASED);
  EXPECT_EQ(answers[2].getRefused().getReason(), wire::Reason::UNKNOWN_CLAIM);
  EXPECT_EQ(answers[3].getRefused().getReason(), wire::Reason::BAD_KEY);
  ASSERT_EQ(answers[4].getAvailability().getPieces().size(), 1u);
  EXPECT_EQ(answers[4].getAvailability().getPieces()[0].getUntil(), kDay0 + kHour);
  EXPECT_EQ(answers[5].getAvailability().getPieces()[0].getFrom(), kDay0);
  EXPECT_EQ(answers[6].getClaim().getState(), wire::ClaimState::HELD) << "as it was";
  EXPECT_EQ(answers[6].getPosition(), 2u);
  EXPECT_EQ(answer.root().getPosition(), 3u);
  for (unsigned i = 0; i < 6; ++i) {
    if (i == 3) continue;  // judged by its form alone
    EXPECT_EQ(answers[i].getPosition(), 3u) << i;
  }
}

TEST_F(Queries, ManyComeFromOneStateWhileItChanges) {
  BlockingClient writer(running_.client_options());
  std::atomic<bool> done = false;
  // One command in the way of the other: at every position exactly one of the two stands.
  std::thread writing([&] {
    for (int i = 0; i < 200; ++i) {
      Request request;
      auto steps = request.root().initBatch(1)[0].initTransact().initSteps(i == 0 ? 1 : 2);
      steps[0].initHold().setResource(i % 2 == 0 ? "even" : "odd");
      steps[0].getHold().setKey("k" + std::to_string(i));
      steps[0].getHold().setHolder("ann");
      if (i > 0) {
        auto release = steps[1].initRelease();
        release.setKey("k" + std::to_string(i - 1));
        release.setHolder("ann");
      }
      const auto answer = writer.call(std::move(request));
      EXPECT_TRUE(answer && answer->root().getOutcomes()[0].isAccepted());
    }
    done = true;
  });
  int seen = 0;
  while (!done) {
    const auto answer = ask([](wire::Request::Builder request) {
      auto queries = request.initQueries(2);
      queries[0].initAvailability().setResource("even");
      queries[1].initAvailability().setResource("odd");
    });
    const auto answers = answer.root().getAnswers();
    if (answer.root().getPosition() == 0) continue;
    EXPECT_EQ(answers[0].getAvailability().getFree() + answers[1].getAvailability().getFree(), 1);
    ++seen;
  }
  writing.join();
  EXPECT_GT(seen, 0);
}

TEST_F(Queries, TooManyTogetherAreRefusedWithTheLimit) {
  const auto limit = [&](unsigned count, std::uint32_t pieces) {
    const auto answer = ask([&](wire::Request::Builder request) {
      for (auto query : request.initQueries(count)) {
        if (pieces == 0) {
          ask_for(query, "a");
          continue;
        }
        auto window = query.initAvailability();
        window.setResource("room");
        window.setFrom(kDay0);
        window.setUntil(kDay0 + kHour);
        window.setLimit(pieces);
      }
    });
    if (!answer.root().isRefused()) return std::string("none");
    const auto refused = answer.root().getRefused();
    EXPECT_EQ(refused.getReason(), wire::Reason::LIMIT);
    return refused.getName().cStr() + (" " + std::to_string(refused.getMax()));
  };
  EXPECT_EQ(limit(1'000, 0), "none");
  EXPECT_EQ(limit(1'001, 0), "queries 1000");
  EXPECT_EQ(limit(100, 100), "none");
  EXPECT_EQ(limit(101, 100), "pieces 10000");
  const auto unlimited = ask([](wire::Request::Builder request) {
    for (auto query : request.initQueries(2)) {
      query.initAvailability().setResource("room");
      query.getAvailability().setFrom(kDay0);
      query.getAvailability().setUntil(kDay0 + kHour);
    }
  });
  EXPECT_EQ(unlimited.root().getRefused().getName(), "pieces");
}

TEST_F(Queries, NoneOrOnesThatAreAskedAloneAreMalformed) {
  const auto is_malformed = [&](const std::function<void(wire::Request::Builder)>& fill) {
    BlockingClient client(running_.client_options());
    Request request;
    fill(request.root());
    const auto answer = client.call(std::move(request));
    return !answer && answer.error().kind == ClientError::Kind::server &&
           answer.error().server_error == wire::ErrorKind::BAD_MESSAGE;
  };
  EXPECT_TRUE(is_malformed([](wire::Request::Builder request) { request.initQueries(0); }));
  for (const char* name : {"claims", "history", "head", "resources", "access", "tallies"}) {
    EXPECT_TRUE(is_malformed([&](wire::Request::Builder request) {
      capnp::DynamicStruct::Builder query(request.initQueries(2)[1]);
      query.init(name);
    })) << name;
  }
}

TEST_F(Queries, HeadSaysHowFarEverythingIs) {
  hold("room", "a", "ann");
  EXPECT_EQ(history([](wire::HistoryQuery::Builder) {}).size(), 1u);
  const auto answer = ask([](wire::Request::Builder request) { request.initQuery().initHead(); });
  const auto head = answer.root().getHead();
  EXPECT_EQ(head.getSize(), 1u);
  EXPECT_EQ(head.getProjected(), 1u);
  EXPECT_EQ(head.getLag(), 0u);
  EXPECT_EQ(head.getLiveClaims(), 1u);
  EXPECT_EQ(head.getLedgerId().size(), 16u);
  EXPECT_EQ(head.getRoot().size(), 32u);
  EXPECT_FALSE(head.getImporting() || head.getReadOnly() || head.getClockUnsafe());
}

TEST_F(Queries, OperatorsSweepRebuildAndConfirmTheClock) {
  for (int i = 0; i < 100; ++i) hold("room/" + std::to_string(i), std::to_string(i), "ann");
  const auto admin = [&](const std::function<void(wire::Admin::Builder)>& fill) {
    return ask([&](wire::Request::Builder request) { fill(request.initAdmin()); });
  };
  const auto swept = admin([](wire::Admin::Builder a) { a.initSweep().setLimit(10); });
  ASSERT_TRUE(swept.root().isSweep());
  EXPECT_EQ(swept.root().getSweep().getRecorded(), 0u);
  for (int i = 0; i < 2; ++i) {
    const auto rebuilt = admin([](wire::Admin::Builder a) { a.initRebuild(); });
    ASSERT_TRUE(rebuilt.root().isRebuild());
    EXPECT_EQ(rebuilt.root().getRebuild().getPosition(), 100u);
    EXPECT_EQ(rebuilt.root().getRebuild().getDifferences().size(), 0u);
  }
  EXPECT_TRUE(admin([](wire::Admin::Builder a) { a.initConfirmClock(); }).root().isDone());
  EXPECT_EQ(history([](wire::HistoryQuery::Builder) {}).size(), 100u);
}

TEST_F(Queries, ARefusalInABatchNamesOneBlockerAndAloneAllOfThem) {
  command([](wire::Command::Builder command) {
    command.initDefine().setResource("pool");
    command.getDefine().setCapacity(3);
  });
  for (const char* key : {"a", "b", "c"}) hold("pool", key, "ann");
  const auto blockers = [&](unsigned size) {
    const auto answer = ask([&](wire::Request::Builder request) {
      auto batch = request.initBatch(size);
      for (unsigned i = 0; i < size; ++i) batch[i].initHold().setResource("pool");
    });
    return answer.root().getOutcomes()[0].getRefused().getBlockers().size();
  };
  EXPECT_EQ(blockers(1), 3u);
  EXPECT_EQ(blockers(2), 1u);
}

}  // namespace
}  // namespace holdfast::api
