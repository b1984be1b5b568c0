#include "api/endpoint.h"

#include <netinet/tcp.h>
#include <boost/asio/detail/socket_option.hpp>
#include <charconv>
#include <sstream>

namespace holdfast::api {

namespace asio = boost::asio;
using tcp = boost::asio::ip::tcp;

namespace {

template <int kName>
using TcpOption = boost::asio::detail::socket_option::integer<IPPROTO_TCP, kName>;

}  // namespace

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
    if (!rest.empty()) port = rest.substr(1);
  } else if (const auto colon = text.rfind(':');
             colon != std::string_view::npos && text.find(':') == colon) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  Endpoint endpoint{std::string(host), kDefaultPort};
  if (host.empty()) return std::nullopt;
  if (port) {
    const auto [end, error] =
        std::from_chars(port->data(), port->data() + port->size(), endpoint.port);
    if (error != std::errc{} || end != port->data() + port->size()) return std::nullopt;
  }
  return endpoint;
}

void tune(boost::asio::ip::tcp::socket& socket, const PeerPatience& patience,
          boost::system::error_code& error) {
  const auto set = [&](const auto& option) {
    if (!error) socket.set_option(option, error);
  };
  set(boost::asio::ip::tcp::no_delay(true));
  set(boost::asio::socket_base::keep_alive(true));
  set(TcpOption<TCP_KEEPIDLE>(static_cast<int>(patience.silent.count())));
  set(TcpOption<TCP_KEEPINTVL>(static_cast<int>(patience.between_probes.count())));
  set(TcpOption<TCP_KEEPCNT>(patience.probes));
  set(TcpOption<TCP_USER_TIMEOUT>(static_cast<int>(patience.untaken.count())));
}

tl::expected<tcp::endpoint, std::string> resolve(asio::io_context& io, const Endpoint& endpoint) {
  boost::system::error_code error;
  const auto addresses = tcp::resolver(io).resolve(endpoint.host, std::to_string(endpoint.port),
                                                   tcp::resolver::passive, error);
  if (!error && !addresses.empty()) return addresses.begin()->endpoint();
  return tl::unexpected("cannot listen on " + endpoint.host + " port " +
                        std::to_string(endpoint.port) + ": " + error.message());
}

tl::expected<tcp::endpoint, std::string> listen_at(tcp::acceptor& acceptor,
                                                   const tcp::endpoint& address) {
  boost::system::error_code error;
  tcp::endpoint bound;
  const auto step = [&](auto&& action) {
    if (!error) action();
  };
  step([&] { acceptor.open(address.protocol(), error); });
  step([&] { acceptor.set_option(tcp::acceptor::reuse_address(true), error); });
  step([&] { acceptor.bind(address, error); });
  step([&] { acceptor.listen(asio::socket_base::max_listen_connections, error); });
  step([&] { bound = acceptor.local_endpoint(error); });
  if (!error) return bound;
  return tl::unexpected("cannot listen on " + to_text(address) + ": " + error.message());
}

std::string to_text(const tcp::endpoint& endpoint) {
  std::ostringstream text;
  text << endpoint;
  return text.str();
}

}  // namespace holdfast::api
