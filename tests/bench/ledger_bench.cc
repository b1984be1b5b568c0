// Holds a second through the ledger without the network: batches from a few clients, then single
// commands from many. Prints a line each.
//
//   ledger_bench DIR [SECONDS]     DIR must not exist; it is left behind
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ledger/ledger.h"
#include "projections/projections.h"

namespace holdfast {
namespace {

// Clients that ask again as soon as they are answered, all driven by one thread.
class Clients {
 public:
  Clients(Ledger& ledger, const TimeSource& time, std::string name)
      : ledger_(ledger), time_(time), name_(std::move(name)) {}

  void run(int clients, std::size_t batch, std::int64_t seconds) {
    std::vector<std::int64_t> sent_ms(clients);
    const std::int64_t begin_ms = time_.steady_ms();
    const std::int64_t end_ms = begin_ms + seconds * 1'000;
    for (int client = 0; client < clients; ++client) send(client, batch);
    std::vector<int> ready;
    for (int open = clients; open > 0;) {
      {
        std::unique_lock lock(mutex_);
        answered_.wait(lock, [&] { return !ready_.empty(); });
        ready.swap(ready_);
      }
      for (const int client : ready) {
        time_.steady_ms() < end_ms ? send(client, batch) : static_cast<void>(--open);
      }
      ready.clear();
    }
    const double passed_s = static_cast<double>(time_.steady_ms() - begin_ms) / 1'000;
    std::printf("%d clients, %zu holds at a time: %.0f holds/s, %llu refused\n", clients, batch,
                static_cast<double>(accepted_) / passed_s,
                static_cast<unsigned long long>(refused_));
    std::fflush(stdout);
  }

 private:
  void send(int client, std::size_t batch) {
    std::vector<Submission> commands;
    commands.reserve(batch);
    for (std::size_t i = 0; i < batch; ++i) {
      const std::string n = name_ + std::to_string(++count_);
      commands.emplace_back(Command{.asker = {.actor = Actor::trusted("bench"),
                                              .on_behalf_of = {},
                                              .reason = {},
                                              .correlation_id = {},
                                              .request_id = {},
                                              .source = "127.0.0.1:40000"},
                                    .action = Hold{.resource = Path::trusted("rooms/" + n),
                                                   .key = Key::trusted("key-" + n),
                                                   .span = {},
                                                   .holder = Holder::trusted("holder-" + n),
                                                   .cart = {},
                                                   .label = {},
                                                   .expiry = {},
                                                   .capacity = {}},
                                    .content = Digest{}});
    }
    ledger_.submit(std::move(commands), [this, client](std::vector<Outcome> outcomes, Position) {
      const auto accepted =
          std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return bool{o}; });
      const std::lock_guard lock(mutex_);
      accepted_ += static_cast<std::uint64_t>(accepted);
      refused_ += outcomes.size() - static_cast<std::uint64_t>(accepted);
      ready_.push_back(client);
      answered_.notify_one();
    });
  }

  Ledger& ledger_;
  const TimeSource& time_;
  const std::string name_;
  std::uint64_t count_ = 0;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::vector<int> ready_;
  std::uint64_t accepted_ = 0;
  std::uint64_t refused_ = 0;
};

int run(const std::string& dir, std::int64_t seconds) {
  const MachineTime time;
  store::OpenOptions log_options;
  log_options.dir = dir;
  auto log = store::Log::open(log_options);
  if (!log) {
    std::fprintf(stderr, "%s\n", log.error().what.c_str());
    return 1;
  }
  State state;
  projections::Options options;
  options.dir = dir;
  auto projections = projections::Projections::open(options, **log, state);
  if (!projections) {
    std::fprintf(stderr, "%s\n", projections.error().what.c_str());
    return 1;
  }
  Ledger ledger(**log, std::move(state), time, **projections, **projections, {});
  Clients(ledger, time, "batched-").run(8, 512, seconds);
  Clients(ledger, time, "single-").run(50, 1, seconds);
  ledger.stop();
  (*projections)->stop();
  return 0;
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIR [SECONDS]\n", argv[0]);
    return 2;
  }
  return holdfast::run(argv[1], argc > 2 ? std::atoll(argv[2]) : 10);
}
