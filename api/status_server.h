#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tl/expected.hpp>

#include "api/endpoint.h"
#include "api/metrics.h"

namespace holdfast::api {

// What watches the server asks here, over HTTP: GET /metrics, /healthz (the process runs), /readyz
// (clients can be sent to it). A thread and a port of its own; a connection has one request.
class StatusServer {
 public:
  // Listens at once, and is not ready before show(). The error is a sentence for an operator.
  static tl::expected<std::unique_ptr<StatusServer>, std::string> listen(const Endpoint& endpoint);
  ~StatusServer();

  // From now on; null: nothing any more, for the reason given. Once it returns the Metrics before
  // are not used any longer.
  void show(const Metrics* metrics, std::string why_not = {});

  std::string address() const { return address_; }

 private:
  class Connection;
  struct Page {
    unsigned status;
    std::string type;
    std::string text;
  };

  StatusServer() : acceptor_(io_), pause_(io_) {}
  tl::expected<void, std::string> open(const Endpoint& endpoint);
  void accept();
  Page page(std::string_view target);
  Page metrics_page();
  Page readiness_page();

  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::string address_;
  std::size_t connections_ = 0;

  std::mutex mutex_;  // guards what follows, while it is used
  const Metrics* metrics_ = nullptr;
  std::string why_not_ = "the server is starting";

  std::thread thread_;
};

}  // namespace holdfast::api
