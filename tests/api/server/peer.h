#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/client.h"
#include "api/framing.h"

namespace holdfast::api {

// A connection made by hand, so that a test can send what no client would.
class Peer {
 public:
  explicit Peer(std::uint16_t port) : socket_(io_) {
    boost::system::error_code error;
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port}, error);
    connected_ = !error;
  }

  bool connected() const { return connected_; }

  // False: the connection is gone.
  bool send(std::span<const std::byte> bytes) {
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(bytes.data(), bytes.size()), error);
    return !error;
  }
  bool send(Request request) {
    std::vector<std::byte> bytes;
    append_framed(request.message(), bytes);
    return send(bytes);
  }
  bool hello(const std::string& actor = "peer") {
    Request request;
    auto hello = request.root().initHello();
    hello.setProtocolVersion(wire::PROTOCOL_VERSION);
    hello.setActor(actor);
    send(std::move(request));
    const auto response = answer();
    return response && response->root().isHello();
  }

  // Nothing: the server has closed the connection.
  std::optional<Response> answer() {
    while (true) {
      const auto frame = reader_.next();
      if (!frame) return std::nullopt;
      if (*frame) {
        return Response(kj::heapArray<capnp::word>((*frame)->data(), (*frame)->size()));
      }
      pollfd readable{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
      if (::poll(&readable, 1, kPatienceMs) == 0) {
        ADD_FAILURE() << "neither an answer nor an end";
        return std::nullopt;
      }
      const auto space = reader_.space();
      boost::system::error_code error;
      const std::size_t bytes =
          socket_.read_some(boost::asio::buffer(space.data(), space.size()), error);
      if (error) return std::nullopt;
      reader_.filled(bytes);
    }
  }

  void finish_sending() {
    boost::system::error_code ignored;
    socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  }

 private:
  static constexpr int kPatienceMs = 30'000;

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  FrameReader reader_;
  bool connected_ = false;
};

}  // namespace holdfast::api
