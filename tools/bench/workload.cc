#include "tools/bench/workload.h"

#include <fmt/format.h>
#include <algorithm>

namespace holdfast::tools {

namespace {

constexpr std::uint64_t kPreparedAtOnce = 1'000;
constexpr unsigned kWordsPerCommand = 40;
constexpr unsigned kWordsPerQuery = 24;
constexpr unsigned kHolds = 4;   // of a transaction
constexpr unsigned kPage = 100;  // events of a page of history
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kStandingTtlMs = 24 * kHourMs;
constexpr std::int64_t kFirstHourMs = 1'893'456'000'000;  // 2030-01-01T00:00:00Z
constexpr std::uint64_t kHours = 10ull * 365 * 24;        // that holds of pools are spread over
constexpr std::uint64_t kGaps = 100;                      // in a window asked for

// The four steps of a claim's life.
enum Step : unsigned { kHold, kExtend, kCommit, kCancel, kSteps };

void set_hour(wire::Hold::Builder hold, std::uint64_t hour) {
  const auto from = kFirstHourMs + kHourMs * static_cast<std::int64_t>(hour);
  hold.setFrom(from);
  hold.setUntil(from + kHourMs);
}

}  // namespace

Workload::Workload(const BenchOptions& options)
    : options_(options),
      random_(std::random_device{}()),
      run_(fmt::format("{:012x}", random_() & 0xffff'ffff'ffff)),
      some_pool_(options.pools, options.skew),
      some_claim_(options.standing, options.skew) {}

std::string Workload::part(std::uint64_t number) const {
  return fmt::format("bench/{}/{}", run_, number);
}

std::string Workload::pool_path(std::uint64_t number) const {
  return fmt::format("bench/{}/pool-{}", run_, number);
}

std::string Workload::standing_key(std::uint64_t number) const {
  return fmt::format("{}-standing-{}", run_, number);
}

std::string Workload::holder_of(std::string_view key) const {
  return fmt::format("holder-{}", std::hash<std::string_view>{}(key) % options_.holders);
}

std::optional<api::Request> Workload::preparation() {
  if (defined_ < options_.pools) {
    return define_pools(std::min(kPreparedAtOnce, options_.pools - defined_));
  }
  if (standing_ < options_.standing) {
    return standing_claims(std::min(kPreparedAtOnce, options_.standing - standing_));
  }
  return {};
}

api::Request Workload::define_pools(std::uint64_t count) {
  api::Request request;
  for (auto command : request.root().initBatch(static_cast<unsigned>(count))) {
    auto define = command.initDefine();
    define.setResource(pool_path(defined_++));
    define.setCapacity(options_.pool);
  }
  return request;
}

// For availability every other hour of each pool is taken, else as the holds that follow.
api::Request Workload::standing_claims(std::uint64_t count) {
  api::Request request(static_cast<unsigned>(count) * kWordsPerCommand + 16);
  for (auto command : request.root().initBatch(static_cast<unsigned>(count))) {
    auto hold = command.initHold();
    const std::uint64_t number = standing_++;
    fill_hold(hold, standing_key(number));
    if (options_.workload == WorkloadKind::availability) {
      hold.setResource(pool_path(number % options_.pools));
      set_hour(hold, 2 * (number / options_.pools));
    }
    hold.setTtl(kStandingTtlMs);
  }
  return request;
}

api::Request Workload::next(Lane& lane, std::uint64_t at_most) {
  const std::uint64_t count = std::min<std::uint64_t>(options_.batch, at_most);
  lane.commands = 0;
  lane.queries = 0;
  switch (options_.workload) {
    case WorkloadKind::hold:
    case WorkloadKind::hot:
      break;
    case WorkloadKind::life:
      return life(lane, count);
    case WorkloadKind::transact:
      return transactions(lane, count);
    case WorkloadKind::lookup:
      return queries(lane, count, &Workload::fill_lookup);
    case WorkloadKind::availability:
      return queries(lane, count, &Workload::fill_availability);
    case WorkloadKind::history:
      return queries(lane, 1, &Workload::fill_history);
    case WorkloadKind::mixed:
      return mixed(lane, count);
  }
  return holds(lane, count);
}

void Workload::name_keys(Lane& lane, std::uint64_t count) {
  lane.keys.resize(count);
  for (std::string& key : lane.keys) {
    key.clear();
    fmt::format_to(std::back_inserter(key), "{}-{}", run_, ++last_);
  }
}

void Workload::fill_hold(wire::Hold::Builder hold, const std::string& key) {
  if (options_.pools > 0) {
    hold.setResource(pool_path(some_pool_(random_)));
    set_hour(hold, random_() % kHours);
  } else if (options_.parts > 0) {
    hold.setResource(fmt::format("{}/{}", part(random_() % options_.parts), key));
  } else {
    hold.setResource(fmt::format("bench/{}", key));
  }
  hold.setKey(key);
  hold.setHolder(holder_of(key));
  hold.setTtl(options_.ttl_ms);
}

api::Request Workload::holds(Lane& lane, std::uint64_t count) {
  name_keys(lane, count);
  lane.commands = static_cast<unsigned>(count);
  api::Request request(lane.commands * kWordsPerCommand + 16);
  auto batch = request.root().initBatch(lane.commands);
  for (unsigned i = 0; i < lane.commands; ++i) fill_hold(batch[i].initHold(), lane.keys[i]);
  return request;
}

api::Request Workload::transactions(Lane& lane, std::uint64_t count) {
  name_keys(lane, count);
  lane.commands = static_cast<unsigned>(count);
  api::Request request(lane.commands * kHolds * kWordsPerCommand + 16);
  auto batch = request.root().initBatch(lane.commands);
  for (unsigned i = 0; i < lane.commands; ++i) {
    auto steps = batch[i].initTransact().initSteps(kHolds);
    for (unsigned k = 0; k < kHolds; ++k) {
      fill_hold(steps[k].initHold(), fmt::format("{}.{}", lane.keys[i], k));
    }
  }
  return request;
}

api::Request Workload::life(Lane& lane, std::uint64_t at_most) {
  if (lane.step == kExtend && options_.left > 0) {
    std::bernoulli_distribution left(options_.left);
    std::erase_if(lane.keys, [&](const std::string&) { return left(random_); });
    if (lane.keys.empty()) lane.step = kHold;
  }
  const unsigned step = lane.step;
  lane.step = (step + 1) % kSteps;
  if (step == kHold) return holds(lane, at_most);
  if (lane.keys.size() > at_most) lane.keys.resize(at_most);
  lane.commands = static_cast<unsigned>(lane.keys.size());
  api::Request request(lane.commands * kWordsPerCommand + 16);
  auto batch = request.root().initBatch(lane.commands);
  for (unsigned i = 0; i < lane.commands; ++i) {
    const std::string& key = lane.keys[i];
    const std::string holder = holder_of(key);
    const auto fill = [&](auto command) {
      command.setKey(key);
      command.setHolder(holder);
      return command;
    };
    if (step == kExtend) fill(batch[i].initExtend()).setTtl(options_.ttl_ms + kHourMs);
    if (step == kCommit) fill(batch[i].initCommit());
    if (step == kCancel) fill(batch[i].initCancel());
  }
  return request;
}

api::Request Workload::mixed(Lane& lane, std::uint64_t at_most) {
  const unsigned turn = lane.turn++ % 10;
  if (turn == 9) return queries(lane, 1, &Workload::fill_availability);
  if (turn % 4 == 3) return queries(lane, 1, &Workload::fill_lookup);  // 3 and 7
  return life(lane, at_most);
}

api::Request Workload::queries(Lane& lane, std::uint64_t count,
                               void (Workload::*fill)(wire::Query::Builder)) {
  lane.queries = static_cast<unsigned>(count);
  api::Request request(lane.queries * kWordsPerQuery + 16);
  if (count == 1) {
    (this->*fill)(request.root().initQuery());
  } else {
    for (auto query : request.root().initQueries(lane.queries)) (this->*fill)(query);
  }
  return request;
}

void Workload::fill_lookup(wire::Query::Builder query) {
  query.initClaim().setKey(standing_key(some_claim_(random_)));
}

// The hours of a pool that nothing takes, in a window that has about kGaps of them.
void Workload::fill_availability(wire::Query::Builder query) {
  const std::uint64_t taken = std::max<std::uint64_t>(options_.standing / options_.pools, 1);
  const std::uint64_t gaps = std::min(taken, kGaps);
  const auto from = static_cast<std::int64_t>(2 * (random_() % (taken - gaps + 1)));
  auto availability = query.initAvailability();
  availability.setResource(pool_path(some_pool_(random_)));
  availability.setFrom(kFirstHourMs + from * kHourMs);
  availability.setUntil(kFirstHourMs + (from + 2 * static_cast<std::int64_t>(gaps)) * kHourMs);
  availability.setQuantity(options_.pool);
  availability.setLimit(kGaps);
}

void Workload::fill_history(wire::Query::Builder query) {
  auto history = query.initHistory();
  history.setResource(pool_path(some_pool_(random_)));
  history.setNewestFirst(true);
  history.setLimit(kPage);
}

}  // namespace holdfast::tools
