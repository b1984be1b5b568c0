#include "tools/bench/workload.h"

#include <fmt/format.h>
#include <algorithm>

namespace holdfast::tools {

namespace {

constexpr std::uint64_t kLookupKeys = 10'000;
constexpr std::uint64_t kPreparedAtOnce = 1'000;
constexpr unsigned kWordsPerCommand = 40;
constexpr unsigned kHolds = 4;  // of a transaction
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kHotFromMs = 1'893'456'000'000;  // 2030-01-01T00:00:00Z
constexpr std::uint64_t kHotHours = 10ull * 365 * 24;

// The four steps of a claim's life.
enum Step : unsigned { kHold, kExtend, kCommit, kCancel, kSteps };

}  // namespace

Workload::Workload(const BenchOptions& options)
    : options_(options),
      random_(std::random_device{}()),
      run_(fmt::format("{:012x}", random_() & 0xffff'ffff'ffff)) {}

std::vector<api::Request> Workload::preparation() {
  std::vector<api::Request> requests;
  if (options_.workload == WorkloadKind::hot) {
    auto define = requests.emplace_back().root().initBatch(1)[0].initDefine();
    define.setResource(fmt::format("bench/{}/pool", run_));
    define.setCapacity(options_.pool);
  }
  if (options_.workload == WorkloadKind::lookup) {
    Lane lane;
    for (std::uint64_t made = 0; made < kLookupKeys; made += kPreparedAtOnce) {
      requests.push_back(holds(lane, kPreparedAtOnce));
      known_keys_.insert(known_keys_.end(), lane.keys.begin(), lane.keys.end());
    }
  }
  return requests;
}

api::Request Workload::next(Lane& lane, std::uint64_t at_most) {
  const std::uint64_t count = std::min<std::uint64_t>(options_.batch, at_most);
  switch (options_.workload) {
    case WorkloadKind::hold:
    case WorkloadKind::hot:
      break;
    case WorkloadKind::life:
      return life(lane, count);
    case WorkloadKind::lookup:
      return lookup(lane);
    case WorkloadKind::transact:
      return transactions(lane, count);
  }
  return holds(lane, count);
}

std::string Workload::part(std::uint64_t number) const {
  return fmt::format("bench/{}/{}", run_, number);
}

std::string Workload::holder_of(const std::string& key) const {
  return fmt::format("holder-{}", std::hash<std::string>{}(key) % options_.holders);
}

void Workload::name_keys(Lane& lane, std::uint64_t count) {
  lane.keys.resize(count);
  for (std::string& key : lane.keys) {
    key.clear();
    fmt::format_to(std::back_inserter(key), "{}-{}", run_, ++last_);
  }
}

void Workload::fill_hold(wire::Hold::Builder hold, const std::string& key) {
  if (options_.workload == WorkloadKind::hot) {
    hold.setResource(fmt::format("bench/{}/pool", run_));
    const auto from = kHotFromMs + kHourMs * static_cast<std::int64_t>(random_() % kHotHours);
    hold.setFrom(from);
    hold.setUntil(from + kHourMs);
  } else {
    hold.setResource(options_.parts == 0
                         ? fmt::format("bench/{}", key)
                         : fmt::format("{}/{}", part(random_() % options_.parts), key));
  }
  hold.setKey(key);
  hold.setHolder(holder_of(key));
  hold.setTtl(options_.ttl_ms);
}

api::Request Workload::holds(Lane& lane, std::uint64_t at_most) {
  name_keys(lane, at_most);
  api::Request request(static_cast<unsigned>(at_most) * kWordsPerCommand + 16);
  auto batch = request.root().initBatch(static_cast<unsigned>(at_most));
  for (unsigned i = 0; i < batch.size(); ++i) fill_hold(batch[i].initHold(), lane.keys[i]);
  return request;
}

api::Request Workload::transactions(Lane& lane, std::uint64_t at_most) {
  name_keys(lane, at_most);
  const auto count = static_cast<unsigned>(at_most);
  api::Request request(count * kHolds * kWordsPerCommand + 16);
  auto batch = request.root().initBatch(count);
  for (unsigned i = 0; i < count; ++i) {
    auto steps = batch[i].initTransact().initSteps(kHolds);
    for (unsigned k = 0; k < kHolds; ++k) {
      fill_hold(steps[k].initHold(), fmt::format("{}.{}", lane.keys[i], k));
    }
  }
  return request;
}

api::Request Workload::life(Lane& lane, std::uint64_t at_most) {
  const unsigned step = lane.step;
  lane.step = (step + 1) % kSteps;
  if (step == kHold) return holds(lane, at_most);
  if (lane.keys.size() > at_most) lane.keys.resize(at_most);
  const auto count = static_cast<unsigned>(lane.keys.size());
  api::Request request(count * kWordsPerCommand + 16);
  auto batch = request.root().initBatch(count);
  for (unsigned i = 0; i < count; ++i) {
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

api::Request Workload::lookup(Lane& lane) {
  lane.keys.assign(1, known_keys_[random_() % known_keys_.size()]);
  api::Request request;
  request.root().initQuery().initClaim().setKey(lane.keys.front());
  return request;
}

}  // namespace holdfast::tools
