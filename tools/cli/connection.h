#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "api/client.h"
#include "tools/cli/options.h"

namespace holdfast::cli {

api::ClientOptions client_options(const Options& options);

// The connection to the server for one run of the program.
class Connection {
 public:
  explicit Connection(const Options& options);

  // Waits for the answer, at most options.timeout.
  tl::expected<api::Response, std::string> call(api::Request request);

  // For many at once: handlers run within wait(), which returns once at most `unanswered` requests
  // have no answer.
  void send(api::Request request, api::Client::Handler handler);
  void wait(std::size_t unanswered);
  // Until `done`, which answers make true. False: it took longer than options.timeout.
  bool wait_until(const std::function<bool()>& done);
  // Until nothing is unanswered, or so long.
  void wait_for(std::chrono::milliseconds time);

  // A sentence for people that says what to do.
  std::string explain(const api::ClientError& error) const;
  // Likewise of an answer that has not come in time.
  std::string too_late() const;

 private:
  const Options& options_;
  boost::asio::io_context io_;
  boost::asio::steady_timer deadline_;
  api::Client client_;
};

}  // namespace holdfast::cli
