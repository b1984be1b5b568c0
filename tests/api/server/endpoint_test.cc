#include "api/endpoint.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <boost/asio/io_context.hpp>

namespace holdfast::api {
namespace {

TEST(Endpoint, HostAndPortInEveryForm) {
  const auto is = [](const char* text, const char* host, unsigned port) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(endpoint->host, host) << text;
    EXPECT_EQ(endpoint->port, port) << text;
  };
  is("127.0.0.1:80", "127.0.0.1", 80);
  is("localhost", "localhost", kDefaultPort);
  is("[::1]:80", "::1", 80);
  is("[::1]", "::1", kDefaultPort);
  is("::1", "::1", kDefaultPort);
  is("host:0", "host", 0);
}

TEST(Endpoint, WhatIsNoneIsNone) {
  for (const char* text : {"", ":80", "host:", "host:x", "host:65536", "host:-1", "[::1", "[]:1",
                           "[::1]80", "host:1 "}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

TEST(Endpoint, ASilentPeerIsProbedAndGivenUpAfterItsTime) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket socket(io, boost::asio::ip::tcp::v4());
  PeerPatience patience;
  patience.silent = std::chrono::seconds(7);
  patience.between_probes = std::chrono::seconds(3);
  patience.probes = 2;
  patience.untaken = std::chrono::milliseconds(1'234);
  boost::system::error_code error;
  tune(socket, patience, error);
  ASSERT_FALSE(error) << error.message();
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(socket.native_handle(), level, name, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 7);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPINTVL), 3);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPCNT), 2);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 1'234);
}

}  // namespace
}  // namespace holdfast::api
