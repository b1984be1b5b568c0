#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "api/client.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/histogram.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/watchers.h"
#include "tools/bench/workload.h"

namespace holdfast::tools {

struct LoadResult {
  double seconds = 0;          // from the first request to the last answer
  std::uint64_t accepted = 0;  // commands, or queries answered
  std::uint64_t refused = 0;   // commands, or queries
  std::uint64_t errors = 0;    // requests without an answer, or with an error
  std::uint64_t requests = 0;  // with an answer
  std::uint64_t watched = 0;   // events that the watchers saw
  Histogram latency_ns;        // of requests with an answer
  std::string first_error;
};

// Runs the load on one thread. Everything waits for its answer: `pipeline` lanes on each
// connection, each sending its next request when the one before was answered.
class Load {
 public:
  explicit Load(const BenchOptions& options);
  ~Load();

  // The error is a sentence: the server cannot be reached, or refused the preparation.
  tl::expected<LoadResult, std::string> run();

 private:
  struct Lane {
    api::Client* client;
    Workload::Lane work;
    std::uint64_t commands = 0;
    std::uint64_t sent_ns = 0;
  };

  tl::expected<void, std::string> prepare();
  tl::expected<void, std::string> start_watchers();
  tl::expected<void, std::string> open_acks();
  void send(Lane& lane);
  void answered(Lane& lane, api::Client::Answer answer);
  void count(Lane& lane, wire::Response::Reader response);
  void acknowledge(Lane& lane, wire::Response::Reader response);
  void show_progress();
  bool more() const;

  const BenchOptions options_;
  Workload workload_;
  Watchers watchers_;
  boost::asio::io_context io_{1};
  boost::asio::steady_timer end_;
  boost::asio::steady_timer progress_;
  std::vector<std::unique_ptr<api::Client>> clients_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t under_way_ = 0;
  bool time_is_up_ = false;
  std::uint64_t sent_ = 0;  // commands
  int acks_ = -1;
  std::string ack_lines_;
  Stopwatch watch_;
  std::uint64_t shown_ = 0;
  LoadResult result_;
};

}  // namespace holdfast::tools
