#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "api/client.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/load_result.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/watchers.h"
#include "tools/bench/workload.h"

namespace holdfast::tools {

// Runs the load on one thread: `pipeline` lanes on each connection, each with one request under
// way. In the closed loop a lane sends its next request when the one before was answered. At a
// fixed rate each request has an instant at which it is due, whether or not earlier ones were
// answered; the first idle lane sends it then, or late, and its latency counts from that instant.
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
    std::uint64_t due_ns = 0;  // of the request under way: it was sent then, or should have been
  };

  tl::expected<void, std::string> prepare();
  tl::expected<void, std::string> start_watchers();
  tl::expected<void, std::string> open_acks();
  void connect();
  bool more() const;
  void send_what_is_due();
  void send(Lane& lane, std::uint64_t due_ns);
  void answered(Lane& lane, api::Client::Answer answer);
  void count(const Lane& lane, wire::Response::Reader response);
  void acknowledge(const Lane& lane, wire::Response::Reader response);
  void failed(const std::string& why);
  void every_second();
  void show_progress();

  const BenchOptions options_;
  const bool shows_progress_;
  Workload workload_;
  Watchers watchers_;
  boost::asio::io_context io_{1};
  boost::asio::steady_timer end_;
  boost::asio::steady_timer due_;
  boost::asio::steady_timer second_;
  boost::asio::steady_timer progress_;
  std::vector<std::unique_ptr<api::Client>> clients_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::deque<Lane*> idle_;  // the longest idle first
  std::size_t under_way_ = 0;
  std::uint64_t sent_ = 0;  // commands and queries
  std::uint64_t next_due_ns_ = 0;
  bool time_is_up_ = false;
  int acks_ = -1;
  std::string ack_lines_;
  Stopwatch watch_;
  std::uint64_t shown_ = 0;
  std::uint64_t before_second_ = 0;  // accepted
  Histogram this_second_ns_;
  LoadResult result_;
};

}  // namespace holdfast::tools
