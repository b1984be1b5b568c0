#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/client.h"
#include "tools/bench/histogram.h"
#include "tools/bench/stopwatch.h"

// lapse_at_once HOST:PORT HOLDS TTL_MS [AT_MOST_TIMES]
//
// Makes HOLDS holds on a running server that nothing else uses, all of which expire at one instant,
// TTL_MS after the first of them; every other one takes a unit of one pool, the rest a resource of
// their own. Meanwhile another client works, one request at a time. Exits 1 unless availability
// tells at each moment what has lapsed by then, and the log ends with one `expired` of each; and,
// where AT_MOST_TIMES is given, the 99th percentile of the other client's answers is not more than
// so many times longer while the holds lapse, or after, than before.
namespace holdfast::api {
namespace {

constexpr std::uint64_t kBatch = 1'000;
constexpr std::size_t kPipeline = 8;
constexpr const char* kPool = "crowd/pool";
constexpr const char* kWhole = "other/whole";
// Of the other client, before the holds lapse and after.
constexpr std::uint64_t kRoundsAfter = 500;
constexpr std::uint64_t kRoundsBefore = 50;

struct Failed {
  std::string what;
};

[[noreturn]] void fail(const std::string& what) { throw Failed{what}; }

std::string own_path(std::uint64_t number) { return "crowd/own/" + std::to_string(number); }
bool is_in_pool(std::uint64_t number) { return number % 2 == 0; }

wire::Accepted::Reader accepted(const Response& answer, unsigned i) {
  if (!answer.root().isOutcomes()) fail("a batch was refused whole");
  const auto outcome = answer.root().getOutcomes()[i];
  if (!outcome.isAccepted()) {
    fail("refused, reason " +
         std::to_string(static_cast<unsigned>(outcome.getRefused().getReason())));
  }
  return outcome.getAccepted();
}

Response call(BlockingClient& client, Request request) {
  auto answer = client.call(std::move(request));
  if (!answer) fail(answer.error().text);
  return std::move(*answer);
}

// A request of the other client and how long its answer took.
struct Sample {
  std::uint64_t answered_ns;
  std::uint64_t took_ns;
  bool is_command;
};

struct Latencies {
  tools::Histogram commands;
  tools::Histogram queries;
};

class LapseAtOnce {
 public:
  LapseAtOnce(const ClientOptions& options, std::uint64_t holds, std::int64_t ttl_ms)
      : client_(options), holds_(holds), ttl_ms_(ttl_ms) {}

  void run(std::uint64_t at_most_times);

 private:
  void define();
  void hold_all();
  Request holds_from(std::uint64_t first, std::uint64_t count) const;
  // What the other client does again and again.
  void round();
  wire::Accepted::Reader command(Request request);
  std::int64_t free_units(const std::string& path);
  void hold_and_release(const std::string& path);
  void expect_one_end_each();
  // Of what was answered in (from, to].
  Latencies latencies(std::uint64_t from_ns, std::uint64_t to_ns) const;

  BlockingClient client_;
  const std::uint64_t holds_;
  const std::int64_t ttl_ms_;
  std::int64_t expires_at_ = 0;
  std::uint64_t written_ = 0;  // by us, everything else being `expired`
  std::uint64_t head_ = 0;     // as the latest answer to a command has it
  std::uint64_t rounds_ = 0;
  std::int64_t latest_ms_ = 0;      // the instant of the latest hold
  std::optional<Response> latest_;  // the answer to a command
  std::vector<Sample> samples_;
  std::uint64_t not_lapsed_ns_ = 0;  // when a hold was answered last that was decided before
  tools::Stopwatch watch_;
};

void LapseAtOnce::define() {
  Request request;
  auto batch = request.root().initBatch(2);
  auto pool = batch[0].initDefine();
  pool.setResource(kPool);
  pool.setCapacity(static_cast<std::int64_t>(holds_));
  auto whole = batch[1].initDefine();
  whole.setResource(kWhole);
  whole.setParts(true);
  const Response answer = call(client_, std::move(request));
  for (unsigned i = 0; i < 2; ++i) accepted(answer, i);
  written_ += 2;
}

Request LapseAtOnce::holds_from(std::uint64_t first, std::uint64_t count) const {
  Request request(static_cast<unsigned>(count * 40 + 16));
  auto batch = request.root().initBatch(static_cast<unsigned>(count));
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t number = first + i;
    auto hold = batch[i].initHold();
    hold.setResource(is_in_pool(number) ? kPool : own_path(number));
    hold.setKey("h" + std::to_string(number));
    hold.setHolder("crowd");
    if (expires_at_ == 0) {
      hold.setTtl(ttl_ms_);
    } else {
      hold.setExpiresAt(expires_at_);
    }
  }
  return request;
}

void LapseAtOnce::hold_all() {
  const Response first = call(client_, holds_from(0, 1));
  expires_at_ = accepted(first, 0).getClaim().getExpiresAt();
  for (std::uint64_t made = 1; made < holds_;) {
    const std::uint64_t count = std::min(kBatch, holds_ - made);
    client_.send(holds_from(made, count), [count, this](const Client::Answer& answer) {
      if (!answer) fail(answer.error().text);
      for (unsigned i = 0; i < count; ++i) {
        const auto claim = accepted(*answer, i).getClaim();
        if (claim.getExpiresAt() != expires_at_) fail("a hold expires at another instant");
        latest_ms_ = std::max(latest_ms_, claim.getHeldAt());
      }
    });
    client_.wait(kPipeline - 1);
    made += count;
  }
  client_.wait();
  written_ += holds_;
}

wire::Accepted::Reader LapseAtOnce::command(Request request) {
  const std::uint64_t sent = watch_.nanoseconds();
  latest_ = call(client_, std::move(request));
  const std::uint64_t answered = watch_.nanoseconds();
  samples_.push_back({answered, answered - sent, true});
  const auto answer = accepted(*latest_, 0);
  ++written_;
  head_ = answer.getFirstPosition();
  return answer;
}

void LapseAtOnce::hold_and_release(const std::string& path) {
  Request hold;
  auto body = hold.root().initBatch(1)[0].initHold();
  body.setResource(path);
  body.setHolder("other");
  const auto claim = command(std::move(hold)).getClaim();
  latest_ms_ = claim.getHeldAt();
  if (latest_ms_ < expires_at_) not_lapsed_ns_ = samples_.back().answered_ns;
  const std::string key = claim.getKey();
  Request release;
  auto end = release.root().initBatch(1)[0].initRelease();
  end.setKey(key);
  end.setHolder("other");
  command(std::move(release));
}

std::int64_t LapseAtOnce::free_units(const std::string& path) {
  Request request;
  request.root().initQuery().initAvailability().setResource(path);
  const std::uint64_t sent = watch_.nanoseconds();
  const Response answer = call(client_, std::move(request));
  const std::uint64_t answered = watch_.nanoseconds();
  samples_.push_back({answered, answered - sent, false});
  return answer.root().getAvailability().getFree();
}

void LapseAtOnce::round() {
  ++rounds_;
  hold_and_release("other/" + std::to_string(rounds_));
  const bool over_before = latest_ms_ >= expires_at_;
  const std::uint64_t own = (rounds_ * 7'919 % (holds_ / 2)) * 2 + 1;
  const std::int64_t pool_free = free_units(kPool);
  const std::int64_t own_free = free_units(own_path(own));
  hold_and_release(kWhole);
  const bool over_after = latest_ms_ >= expires_at_;
  const auto expect = [&](std::int64_t free, std::int64_t taken, std::int64_t all) {
    const bool right_if_over = free == all;
    const bool right_if_not = free == all - taken;
    if (over_before ? right_if_over : over_after ? right_if_over || right_if_not : right_if_not) {
      return;
    }
    fail(std::to_string(free) + " units free of " + std::to_string(all) + " when the holds had " +
         (over_before ? "lapsed" : "not lapsed"));
  };
  const auto all = static_cast<std::int64_t>(holds_);
  expect(pool_free, (all + 1) / 2, all);
  expect(own_free, 1, 1);
}

void LapseAtOnce::expect_one_end_each() {
  std::unordered_map<std::string, unsigned> ends;
  std::string cursor;
  do {
    Request request;
    auto query = request.root().initQuery().initHistory();
    query.setResource("crowd");
    query.setLimit(10'000);
    if (!cursor.empty()) query.setCursor(cursor);
    const Response answer = call(client_, std::move(request));
    for (const auto event : answer.root().getHistory().getEvents()) {
      if (event.getType() == "expired") ++ends[event.getKey()];
    }
    cursor = answer.root().getHistory().getCursor().cStr();
  } while (!cursor.empty());
  for (std::uint64_t i = 0; i < holds_; ++i) {
    const std::string key = "h" + std::to_string(i);
    if (const auto found = ends.find(key); found == ends.end() || found->second != 1) {
      fail(key + " has " + (found == ends.end() ? "no" : "more than one") + " end");
    }
  }
}

Latencies LapseAtOnce::latencies(std::uint64_t from_ns, std::uint64_t to_ns) const {
  Latencies found;
  for (const Sample& sample : samples_) {
    if (sample.answered_ns <= from_ns || sample.answered_ns > to_ns) continue;
    (sample.is_command ? found.commands : found.queries).record(sample.took_ns);
  }
  return found;
}

double milliseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

void print(const char* phase, const Latencies& latencies, std::uint64_t took_ns) {
  const auto line = [&](const char* what, const tools::Histogram& of) {
    std::cout << phase << " " << what << ": " << of.total() << ", p50 "
              << milliseconds(of.percentile(0.5)) << " ms, p99 "
              << milliseconds(of.percentile(0.99)) << " ms, longest " << milliseconds(of.largest())
              << " ms\n";
  };
  line("commands", latencies.commands);
  line("queries ", latencies.queries);
  std::cout << phase << " took " << milliseconds(took_ns) << " ms\n";
}

void LapseAtOnce::run(std::uint64_t at_most_times) {
  define();
  hold_all();
  if (latest_ms_ >= expires_at_) fail("the holds lapsed before all of them were made: longer TTL");
  const std::uint64_t made = watch_.nanoseconds();
  std::cout << holds_ << " holds made in " << milliseconds(made) << " ms\n";
  while (latest_ms_ < expires_at_) round();
  if (rounds_ < kRoundsBefore) fail("there was no time to work before the holds lapsed");
  while (head_ < written_ + holds_) round();
  const std::uint64_t recorded = watch_.nanoseconds();
  for (std::uint64_t i = 0; i < kRoundsAfter; ++i) round();
  if (head_ != written_ + holds_) fail("more was written than one end for each");
  const Latencies before = latencies(made, not_lapsed_ns_);
  const Latencies during = latencies(not_lapsed_ns_, recorded);
  const Latencies after = latencies(recorded, watch_.nanoseconds());
  print("before", before, not_lapsed_ns_ - made);
  print("during", during, recorded - not_lapsed_ns_);
  print("after ", after, watch_.nanoseconds() - recorded);
  expect_one_end_each();
  const auto p99 = [](const Latencies& of) { return of.commands.percentile(0.99); };
  if (at_most_times != 0 && std::max(p99(during), p99(after)) > at_most_times * p99(before)) {
    fail("the other client waited too long");
  }
}

}  // namespace
}  // namespace holdfast::api

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "lapse_at_once HOST:PORT HOLDS TTL_MS [AT_MOST_TIMES]\n";
    return 2;
  }
  holdfast::api::ClientOptions options;
  options.server = argv[1];
  options.actor = "lapse_at_once";
  try {
    holdfast::api::LapseAtOnce(options, std::stoull(argv[2]), std::stoll(argv[3]))
        .run(argc == 5 ? std::stoull(argv[4]) : 0);
  } catch (const holdfast::api::Failed& failed) {
    std::cerr << "lapse_at_once: " << failed.what << "\n";
    return 1;
  }
  return 0;
}
