#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace holdfast::api {

inline constexpr std::uint16_t kDefaultPort = 7420;

struct Endpoint {
  std::string host;  // a name or an address; IPv6 without brackets
  std::uint16_t port;
};

// HOST:PORT, HOST, [IPV6]:PORT or a bare IPv6 address; the port left out is kDefaultPort.
std::optional<Endpoint> parse_endpoint(std::string_view text);

// When a peer counts as vanished.
struct PeerPatience {
  std::chrono::seconds silent{10};  // then it is probed: answers prolong it
  std::chrono::seconds between_probes{5};
  int probes = 3;
  std::chrono::milliseconds untaken{25'000};  // what was sent to it waits
};

// For both ends: no delay, and a peer that vanished is noticed, whether the connection is silent
// (keepalive) or waits to send (TCP_USER_TIMEOUT).
void tune(boost::asio::ip::tcp::socket& socket, const PeerPatience& patience,
          boost::system::error_code& error);

// The first address of that name. Errors are sentences for an operator, here and below.
tl::expected<boost::asio::ip::tcp::endpoint, std::string> resolve(boost::asio::io_context& io,
                                                                  const Endpoint& endpoint);
// Opens, binds and listens; gives the address with the port that was picked.
tl::expected<boost::asio::ip::tcp::endpoint, std::string> listen_at(
    boost::asio::ip::tcp::acceptor& acceptor, const boost::asio::ip::tcp::endpoint& address);

// "127.0.0.1:7420", "[::1]:7420"
std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace holdfast::api
