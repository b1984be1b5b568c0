#include <gtest/gtest.h>
#include <functional>
#include <string>
#include <vector>

#include "tests/api/server/running_server.h"

// The limits of the contract, each reached and then gone beyond, over the wire.
namespace holdfast::api {
namespace {

using FillCommand = std::function<void(wire::Command::Builder)>;

class Limits : public testing::Test {
 protected:
  Limits() : client_(running_.client_options()) {}

  Response command(const FillCommand& fill) {
    Request request;
    fill(request.root().initBatch(1)[0]);
    auto answer = client_.call(std::move(request));
    EXPECT_TRUE(answer) << answer.error().text;
    return std::move(*answer);
  }
  void accepted(const FillCommand& fill) {
    EXPECT_TRUE(command(fill).root().getOutcomes()[0].isAccepted());
  }
  // "limit NAME MAX", or the reason alone.
  std::string refused(const FillCommand& fill) {
    const auto answer = command(fill);
    const auto outcome = answer.root().getOutcomes()[0];
    if (!outcome.isRefused()) return "accepted";
    return said_of(outcome.getRefused());
  }
  std::string refused_query(const std::function<void(wire::Query::Builder)>& fill) {
    Request request;
    fill(request.root().initQuery());
    const auto answer = client_.call(std::move(request));
    EXPECT_TRUE(answer) << answer.error().text;
    return answer->root().isRefused() ? said_of(answer->root().getRefused()) : "accepted";
  }
  static std::string said_of(wire::Refusal::Reader refusal) {
    if (refusal.getReason() == wire::Reason::LIMIT) {
      return std::string("limit ") + refusal.getName().cStr() + " " +
             std::to_string(refusal.getMax());
    }
    if (refusal.getReason() == wire::Reason::BAD_TEXT) {
      return std::string("bad_text ") + refusal.getField().cStr();
    }
    return "reason " + std::to_string(static_cast<unsigned>(refusal.getReason()));
  }

  static FillCommand transaction_of(unsigned positions) {
    return [positions](wire::Command::Builder command) {
      auto steps = command.initTransact().initSteps(positions);
      for (unsigned i = 0; i < positions; ++i) {
        steps[i].initHold().setResource("t" + std::to_string(positions) + "/" + std::to_string(i));
      }
    };
  }
  static FillCommand hold_any(std::int64_t n) {
    return [n](wire::Command::Builder command) {
      command.initHoldAny().setResource("none");
      command.getHoldAny().setN(n);
    };
  }
  static FillCommand attributes(unsigned count, std::size_t bytes) {
    return [count, bytes](wire::Command::Builder command) {
      command.initDefine().setResource("attributed/" + std::to_string(count));
      auto list = command.getDefine().initAttributes(count);
      for (unsigned i = 0; i < count; ++i) {
        list[i].setName("a" + std::to_string(i));
        list[i].setValue(std::string(bytes, 'x'));
      }
    };
  }
  // All in few transactions.
  void add_windows(unsigned count, bool blocked) {
    for (unsigned from = 0; from < count; from += 1'000) {
      accepted([&](wire::Command::Builder command) {
        auto steps = command.initTransact().initSteps(1'000);
        for (unsigned i = 0; i < 1'000; ++i) {
          fill_window(blocked ? steps[i].initBlock() : steps[i].initHours(), from + i);
        }
      });
    }
  }
  static void fill_window(wire::Window::Builder window, unsigned number) {
    window.setResource("windows");
    window.setFrom(number * 1'000);
    window.setUntil(number * 1'000 + 500);
  }

  RunningServer running_;
  BlockingClient client_;
};

TEST_F(Limits, PositionsOfATransaction) {
  accepted(transaction_of(1'000));
  EXPECT_EQ(refused(transaction_of(1'001)), "limit positions 1000");
  EXPECT_EQ(refused(transaction_of(0)), "limit positions 1000");
  EXPECT_EQ(running_.log().head(), Position{1'000});
}

TEST_F(Limits, ClaimsOfAHoldAnyCountAsPositions) {
  EXPECT_EQ(refused([](wire::Command::Builder command) {
              auto steps = command.initTransact().initSteps(2);
              steps[0].initHold().setResource("r");
              steps[1].initHoldAny().setResource("below");
              steps[1].getHoldAny().setN(1'000);
            }),
            "limit positions 1000");
}

TEST_F(Limits, ATransactionHasNoTransactionsInIt) {
  const auto answer = command([](wire::Command::Builder command) {
    auto steps = command.initTransact().initSteps(2);
    steps[0].initHold().setResource("r");
    steps[1].initTransact().initSteps(1)[0].initHold().setResource("s");
  });
  const auto outcome = answer.root().getOutcomes()[0];
  ASSERT_TRUE(outcome.isRefused());
  const auto positions = outcome.getRefused().getPositions();
  ASSERT_EQ(positions.size(), 2u);
  EXPECT_TRUE(positions[0].isNone());
  EXPECT_EQ(said_of(positions[1].getRefused()), "limit depth 1");
  EXPECT_EQ(running_.log().head(), Position{0});
}

TEST_F(Limits, ResourcesOfAHoldAny) {
  EXPECT_EQ(refused(hold_any(1'001)), "limit n 1000");
  EXPECT_EQ(refused(hold_any(0)),
            "reason " + std::to_string(static_cast<unsigned>(wire::Reason::BAD_QUANTITY)));
  EXPECT_EQ(refused(hold_any(1'000)),
            "reason " + std::to_string(static_cast<unsigned>(wire::Reason::CONFLICT)));
}

TEST_F(Limits, OpenSpansOfAResource) {
  accepted([](wire::Command::Builder command) { command.initDefine().setResource("windows"); });
  add_windows(10'000, false);
  EXPECT_EQ(
      refused([](wire::Command::Builder command) { fill_window(command.initHours(), 10'000); }),
      "limit hours 10000");
  // What is there already is no further one, and blocks are counted apart.
  accepted([](wire::Command::Builder command) { fill_window(command.initHours(), 9'999); });
  accepted([](wire::Command::Builder command) { fill_window(command.initBlock(), 0); });
}

TEST_F(Limits, BlockedSpansOfAResource) {
  accepted([](wire::Command::Builder command) { command.initDefine().setResource("windows"); });
  add_windows(10'000, true);
  EXPECT_EQ(
      refused([](wire::Command::Builder command) { fill_window(command.initBlock(), 10'000); }),
      "limit blocked 10000");
}

TEST_F(Limits, Attributes) {
  accepted(attributes(32, 4'096));
  EXPECT_EQ(refused(attributes(33, 1)), "limit attributes 32");
  EXPECT_EQ(refused(attributes(1, 4'097)), "bad_text attributes");
}

TEST_F(Limits, StepsOfAnEndAll) {
  const auto end_all = [](std::uint32_t limit) {
    return [limit](wire::Command::Builder command) {
      command.setReason("test");
      command.initEndAll().setResource("r");
      command.getEndAll().setLimit(limit);
    };
  };
  EXPECT_EQ(refused(end_all(1'001)), "limit limit 1000");
  EXPECT_EQ(refused(end_all(0)), "limit limit 1000");
  accepted(end_all(1'000));
}

TEST_F(Limits, CursorsThatNobodyGave) {
  for (const std::string cursor : {"x", "-1", "99999999999999999999", "1 2"}) {
    EXPECT_EQ(
        refused_query([&](wire::Query::Builder query) { query.initHistory().setCursor(cursor); }),
        "bad_text cursor")
        << cursor;
  }
  EXPECT_EQ(refused_query([](wire::Query::Builder query) {
              query.initClaims().setCursor(std::string(201, 'k'));
            }),
            "bad_text cursor");
  EXPECT_EQ(
      refused_query([](wire::Query::Builder query) { query.initResources().setCursor("a//b"); }),
      "bad_text cursor");
}

}  // namespace
}  // namespace holdfast::api
