#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/convert_answer.h"
#include "api/convert_command.h"
#include "ledger/domain/availability.h"
#include "tests/api/server/running_server.h"
#include "tests/ledger/domain/world.h"

// Linearizability by the log's own order. Clients that all want the same few resources note when
// they asked and what they were answered. Then the commands are judged again, one after the other
// in the order of the log, by the domain alone: every answer must be what the state at its position
// gives, and whoever asked after another had been answered must not be answered of an earlier
// state.
//
//     HOLDFAST_HISTORIES   how many (5)
//     HOLDFAST_COMMANDS    of each of the 8 clients (5,000)
//
// No hold ends by its expiry here, and all expiries are said, so that the instant of a refusal,
// which no log has, is no matter.
namespace holdfast::api {
namespace {

constexpr int kClients = 8;
constexpr std::size_t kPipeline = 8;
constexpr int kResources = 4;
constexpr int kKeys = 20;  // of a client; of others' keys it knows too

int count_of(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// A request with its answer, as its client saw it.
struct Asked {
  Request request;
  std::int64_t asked_ns = 0;
  std::int64_t answered_ns = 0;
  std::optional<Response> answer;

  wire::Request::Reader question() { return request.root().asReader(); }
  bool is_command() { return question().isBatch(); }
  wire::Outcome::Reader outcome() const { return answer->root().getOutcomes()[0]; }
  bool wrote() {
    return is_command() && outcome().isAccepted() && outcome().getAccepted().getPositions() > 0 &&
           !outcome().getAccepted().getReplayed();
  }
  Position first() const { return {outcome().getAccepted().getFirstPosition()}; }
  // What the answer is true at.
  Position position() {
    if (!wrote()) return {answer->root().getPosition()};
    return first() + (outcome().getAccepted().getPositions() - 1);
  }
};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Makes up what one client asks.
class Chance {
 public:
  Chance(int client, unsigned seed, Instant expires)
      : client_(client), random_(seed), expires_(expires) {}

  void fill(wire::Request::Builder request) {
    switch (below(10)) {
      case 0:
        return query(request.initQuery());
      case 1:
        return transact(request.initBatch(1)[0].initTransact().initSteps(1 + below(3)));
      default:
        return command(request.initBatch(1)[0]);
    }
  }

 private:
  unsigned below(int n) { return static_cast<unsigned>(random_() % static_cast<unsigned>(n)); }
  std::string resource() { return "r" + std::to_string(below(kResources)); }
  static std::string holder_of(int client) { return "holder-" + std::to_string(client); }
  std::string holder() {
    return holder_of(below(8) == 0 ? static_cast<int>(below(kClients)) : client_);
  }
  // Mostly one's own, so that something is accepted.
  std::string key() {
    const int owner = below(4) == 0 ? static_cast<int>(below(kClients)) : client_;
    return "k" + std::to_string(owner) + "-" + std::to_string(below(kKeys) + generation_);
  }
  std::string fresh_key() {
    return "k" + std::to_string(client_) + "-" + std::to_string(generation_++ + kKeys);
  }
  void span(auto into) {
    const std::int64_t from = below(80) * 1'000;
    into.setFrom(from);
    into.setUntil(from + 1'000 * (1 + static_cast<std::int64_t>(below(4))));
  }

  void query(wire::Query::Builder query) {
    if (below(2) == 0) {
      query.initClaim().setKey(key());
    } else {
      query.initAvailability().setResource(resource());
      span(query.getAvailability());
    }
  }
  void transact(capnp::List<wire::Command>::Builder steps) {
    for (auto step : steps) command(step);
  }
  // Makes room again, since most of what is held nobody ends.
  void end_all(wire::Command::Builder command) {
    command.setReason("room is wanted");
    command.initEndAll().setResource(below(4) == 0 ? "pool" : resource());
  }
  void hold(wire::Hold::Builder hold) {
    hold.setResource(resource());
    hold.setKey(below(10) == 0 ? key() : fresh_key());
    hold.setHolder(holder());
    hold.setQuantity(1 + below(2));
    hold.setExpiresAt(expires_.ms);
    if (below(4) == 0) hold.setCart("cart-" + std::to_string(client_));
    span(hold);
  }
  void command(wire::Command::Builder command) {
    if (below(150) == 0) return end_all(command);
    switch (below(16)) {
      case 0: {
        auto extend = command.initExtend();
        extend.setKey(key());
        extend.setHolder(holder());
        return extend.setExpiresAt(expires_.ms + 1'000 * below(1'000));
      }
      case 1:
      case 2: {
        command.initRelease().setKey(key());
        return command.getRelease().setHolder(holder());
      }
      case 3: {
        command.initRelease().setCart("cart-" + std::to_string(client_));
        return command.getRelease().setHolder(holder());
      }
      case 4: {
        command.initCommit().setKey(key());
        return command.getCommit().setHolder(holder());
      }
      case 5:
      case 6: {
        command.initCancel().setKey(key());
        return command.getCancel().setHolder(holder());
      }
      case 7: {
        auto move = command.initMove();
        move.setKey(key());
        move.setHolder(holder());
        move.setTo(resource());
        return span(move);
      }
      case 8: {
        auto steal = command.initSteal();
        steal.setKey(key());
        steal.setFromHolder(holder());
        steal.setHolder(holder_of(client_));
        steal.setNewKey(fresh_key());
        steal.setExpiresAt(expires_.ms);
        if (below(2) == 0) {
          steal.setForce(true);
          command.setReason("wanted");
        }
        return;
      }
      case 9: {
        auto any = command.initHoldAny();
        any.setResource("pool");
        any.setKey(fresh_key());
        any.setHolder(holder());
        any.setExpiresAt(expires_.ms);
        any.setN(1 + below(2));
        return span(any);
      }
      default:
        return hold(command.initHold());
    }
  }

  const int client_;
  std::mt19937 random_;
  const Instant expires_;
  unsigned generation_ = 0;
};

using History = std::vector<Asked>;

History run_client(const ClientOptions& options, int client, unsigned seed, Instant expires,
                   int commands) {
  Chance chance(client, seed, expires);
  History history(static_cast<std::size_t>(commands));
  BlockingClient connection(options);
  for (Asked& asked : history) {
    chance.fill(asked.request.root());
    Request sent;
    const auto question = asked.question();
    if (question.isQuery()) {
      sent.root().setQuery(question.getQuery());
    } else {
      sent.root().setBatch(question.getBatch());
    }
    asked.asked_ns = now_ns();
    connection.send(std::move(sent), [&asked](Client::Answer answer) {
      asked.answered_ns = now_ns();
      if (answer) asked.answer = std::move(*answer);
    });
    connection.wait(kPipeline);
  }
  connection.wait();
  return history;
}

// Judges everything again in the order of the log.
class Replay {
 public:
  // `prepared`: events up to here were there before.
  Replay(const store::Log& log, Position prepared) : log_(log) {
    for (Position at{1}; at <= prepared; at = at + 1) world_.state.evolve(*log_.read(at));
  }

  void check(std::vector<History>& histories) {
    std::vector<Asked*> all;
    for (History& history : histories) {
      for (Asked& asked : history) {
        ASSERT_TRUE(asked.answer);
        all.push_back(&asked);
      }
    }
    check_real_time(all);
    // What wrote comes first at the position of its last event, then what was true there.
    std::ranges::stable_sort(
        all, {}, [](Asked* asked) { return std::pair(asked->position(), !asked->wrote()); });
    for (Asked* asked : all) {
      check(*asked);
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(world_.state.head(), log_.head());
  }
  std::size_t accepted() const { return accepted_; }
  std::size_t refused() const { return refused_; }
  std::size_t queries() const { return queries_; }

 private:
  // Nobody is answered of a state before one that somebody had been told of when he asked.
  static void check_real_time(std::vector<Asked*> all) {
    std::vector<Asked*> by_answer = all;
    std::ranges::sort(by_answer, {}, [](Asked* asked) { return asked->answered_ns; });
    std::ranges::sort(all, {}, [](Asked* asked) { return asked->asked_ns; });
    Position told;
    auto next = by_answer.begin();
    for (Asked* asked : all) {
      for (; next != by_answer.end() && (*next)->answered_ns < asked->asked_ns; ++next) {
        told = std::max(told, (*next)->position());
      }
      ASSERT_GE(asked->position(), told) << kj::str(asked->question()).cStr();
      if (asked->wrote()) {
        ASSERT_GT(asked->first(), told);
      }
    }
  }

  void check(Asked& asked) {
    const Position before = asked.wrote() ? Position{asked.first().value - 1} : asked.position();
    ASSERT_EQ(world_.state.head(), before) << "an answer's position is amid a transaction, or of "
                                              "events that nobody was answered for";
    if (asked.wrote()) world_.now = log_.read(asked.first())->recorded_at;
    capnp::MallocMessageBuilder message;
    auto expected = message.initRoot<wire::Response>();
    if (asked.is_command()) {
      judge(asked, expected);
      EXPECT_EQ(said(asked.outcome()), said(expected.asReader().getOutcomes()[0]))
          << kj::str(asked.question()).cStr() << " at position " << before.value;
      asked.outcome().isAccepted() ? ++accepted_ : ++refused_;
    } else {
      answer(asked.question().getQuery(), expected);
      expected.setPosition(asked.answer->root().getPosition());
      expected.setId(asked.answer->root().getId());
      EXPECT_EQ(std::string(kj::str(asked.answer->root()).cStr()),
                std::string(kj::str(expected.asReader()).cStr()));
      ++queries_;
    }
  }

  // But for when a blocker was held, which may be the instant of the refused transaction.
  static std::string said(wire::Outcome::Reader outcome) {
    constexpr std::string_view kHeldAt = "heldAt = ";
    std::string text = kj::str(outcome).cStr();
    if (outcome.isAccepted()) return text;
    for (std::size_t at = 0; (at = text.find(kHeldAt, at)) != text.npos; at += kHeldAt.size()) {
      text.erase(at + kHeldAt.size(), text.find(',', at) - at - kHeldAt.size());
    }
    return text;
  }

  void judge(Asked& asked, wire::Response::Builder into) {
    const Caller caller{.grant = {Actor::trusted("tester")}, .source = {}};
    const auto command = to_submission(asked.question().getBatch()[0], caller);
    Outcome outcome = tl::unexpected(command ? Refusal{} : command.error());
    if (command) {
      auto judged = world_.run(*command);
      if (judged.refusal) {
        outcome = tl::unexpected(std::move(*judged.refusal));
      } else {
        outcome = std::move(judged.accepted);
      }
    }
    std::vector<Outcome> outcomes;
    outcomes.push_back(std::move(outcome));
    outcomes_answer(std::move(outcomes), {})(into);
  }

  void answer(wire::Query::Reader query, wire::Response::Builder into) {
    if (query.isClaim()) {
      auto claim = world_.state.claim(query.getClaim().getKey().cStr());
      return (claim ? claim_answer(std::move(*claim), {})
                    : refused_answer(Refusal{Reason::unknown_claim}, {}))(into);
    }
    const auto asked = query.getAvailability();
    AvailabilityQuery window{
        Path::trusted(asked.getResource().cStr()), {{asked.getFrom()}, {asked.getUntil()}}, {}, {}};
    window.quantity = Quantity{1};
    pieces_answer({availability(world_.state, window, world_.policy)}, {})(into);
  }

  const store::Log& log_;
  testing::World world_;
  std::size_t accepted_ = 0;
  std::size_t refused_ = 0;
  std::size_t queries_ = 0;
};

void prepare(RunningServer& running) {
  BlockingClient client(running.client_options());
  Request request;
  auto batch = request.root().initBatch(kResources + 3);
  for (unsigned i = 0; i < batch.size(); ++i) {
    const std::string name = i < kResources ? "r" : "pool/p";
    auto define = batch[i].initDefine();
    define.setResource(name + std::to_string(i % kResources));
    define.setCapacity(4 * (i % 3) + 4);
  }
  const auto answer = client.call(std::move(request));
  ASSERT_TRUE(answer) << answer.error().text;
}

TEST(Linearizability, EveryAnswerIsThatOfTheLogsOwnOrder) {
  const int histories = count_of("HOLDFAST_HISTORIES", 5);
  const int commands = count_of("HOLDFAST_COMMANDS", 5'000);
  for (int history = 0; history < histories; ++history) {
    SCOPED_TRACE("history " + std::to_string(history));
    RunningServer running;
    prepare(running);
    const Position prepared = running.log().head();
    const Instant expires = MachineTime().wall() + Duration{40 * kMinute.ms};
    std::vector<History> seen(kClients);
    std::vector<std::thread> clients;
    for (int client = 0; client < kClients; ++client) {
      const auto seed = static_cast<unsigned>(1'000 * history + client);
      clients.emplace_back([&, client, seed] {
        seen[static_cast<std::size_t>(client)] =
            run_client(running.client_options(), client, seed, expires, commands);
      });
    }
    for (std::thread& client : clients) client.join();
    Replay replay(running.log(), prepared);
    replay.check(seen);
    if (HasFailure()) return;
    std::printf("%zu accepted, %zu refused, %zu queries; %llu events\n", replay.accepted(),
                replay.refused(), replay.queries(),
                static_cast<unsigned long long>(running.log().head().value));
    EXPECT_GT(replay.accepted(), replay.refused() / 10);
    EXPECT_GT(replay.refused(), replay.accepted() / 10);
  }
}

}  // namespace
}  // namespace holdfast::api
