#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "api/dispatch.h"
#include "api/endpoint.h"
#include "api/io_thread.h"
#include "api/live/hub.h"
#include "api/session.h"
#include "api/session_budget.h"

namespace holdfast::api {

struct ServerOptions {
  Endpoint listen{"127.0.0.1", kDefaultPort};  // port 0: any free one
  unsigned io_threads = 1;
  bool loopback_only = true;            // since without tokens every client is an operator
  std::size_t max_connections = 4'096;  // beyond: turned away
  SessionLimits limits;
  SessionTimes times;
  // Called on an io thread when it has handed on the requests that had arrived.
  std::function<void()> after_round = {};
};

// Accepts connections and spreads them over its threads.
class Server {
 public:
  // Listens at once. The error is a sentence for an operator. `dispatch` and `hub` outlive the
  // Server.
  static tl::expected<std::unique_ptr<Server>, std::string> listen(const ServerOptions& options,
                                                                   Dispatch& dispatch, Hub& hub);
  ~Server();  // stop()

  // Where it listens, with the port that was picked.
  std::string address() const { return address_; }
  std::uint16_t port() const { return port_; }

  // Any thread.
  std::size_t connections() const;
  // What requests, answers and buffers of all of them may occupy.
  std::size_t bytes_in_use() const { return budget_->used(); }

  // Accepts no more, answers what was accepted (the ledger must still be running), closes, within
  // a few seconds. Idempotent; one thread at a time.
  void stop();

 private:
  Server(const ServerOptions& options, Dispatch& dispatch, Hub& hub);
  tl::expected<void, std::string> open();
  void accept();
  void accepted(boost::asio::ip::tcp::socket socket, std::shared_ptr<IoThread> thread);

  const ServerOptions options_;
  Dispatch& dispatch_;
  Hub& hub_;
  const std::shared_ptr<SessionBudget> budget_;
  std::vector<std::shared_ptr<IoThread>> threads_;
  boost::asio::ip::tcp::acceptor acceptor_;  // on the first thread
  boost::asio::steady_timer pause_;          // when descriptors have run out
  std::size_t next_thread_ = 0;
  std::string address_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
};

}  // namespace holdfast::api
