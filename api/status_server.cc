#include "api/status_server.h"

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <chrono>
#include <utility>

namespace holdfast::api {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = boost::asio::ip::tcp;

namespace {

constexpr std::size_t kMaxConnections = 32;  // at a time; beyond: closed
constexpr std::uint32_t kMaxHeaderBytes = 8u << 10;
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kPause{100};
constexpr char kText[] = "text/plain; charset=utf-8";

}  // namespace

class StatusServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(StatusServer& server, tcp::socket socket)
      : server_(server), stream_(std::move(socket)), buffer_(kMaxHeaderBytes) {
    ++server_.connections_;
    parser_.header_limit(kMaxHeaderBytes);
    parser_.body_limit(0);
  }
  ~Connection() { --server_.connections_; }

  void start() {
    stream_.expires_after(kPatience);
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](error_code error, std::size_t) {
                              if (!error) self->answer();
                            });
  }

 private:
  void answer() {
    const auto& request = parser_.get();
    const bool head = request.method() == http::verb::head;
    Page page{405, kText, "GET or HEAD only\n"};
    if (head || request.method() == http::verb::get) page = server_.page(request.target());
    response_.result(page.status);
    response_.set(http::field::content_type, page.type);
    response_.set(http::field::cache_control, "no-store");
    response_.keep_alive(false);
    response_.content_length(page.text.size());
    if (!head) response_.body() = std::move(page.text);
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  StatusServer& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
};

tl::expected<std::unique_ptr<StatusServer>, std::string> StatusServer::listen(
    const Endpoint& endpoint) {
  std::unique_ptr<StatusServer> server(new StatusServer());
  if (auto opened = server->open(endpoint); !opened) return tl::unexpected(opened.error());
  server->accept();
  server->thread_ = std::thread([io = &server->io_] { io->run(); });
  return server;
}

StatusServer::~StatusServer() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

tl::expected<void, std::string> StatusServer::open(const Endpoint& endpoint) {
  const auto address = resolve(io_, endpoint);
  if (!address) return tl::unexpected(address.error());
  const auto bound = listen_at(acceptor_, *address);
  if (!bound) return tl::unexpected(bound.error());
  address_ = to_text(*bound);
  return {};
}

void StatusServer::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (!error) {
      if (connections_ < kMaxConnections) {
        std::make_shared<Connection>(*this, std::move(socket))->start();
      }
      return accept();
    }
    pause_.expires_after(kPause);  // descriptors have run out
    pause_.async_wait([this](error_code) { accept(); });
  });
}

void StatusServer::show(const Metrics* metrics, std::string why_not) {
  const std::lock_guard lock(mutex_);
  metrics_ = metrics;
  why_not_ = std::move(why_not);
}

StatusServer::Page StatusServer::page(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/healthz") return {200, kText, "ok\n"};
  if (path == "/metrics") return metrics_page();
  if (path == "/readyz") return readiness_page();
  return {404, kText, "there is /metrics, /healthz and /readyz\n"};
}

StatusServer::Page StatusServer::metrics_page() {
  const std::lock_guard lock(mutex_);
  if (metrics_ == nullptr) return {503, kText, why_not_ + "\n"};
  return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_->text()};
}

StatusServer::Page StatusServer::readiness_page() {
  const std::lock_guard lock(mutex_);
  if (metrics_ == nullptr) return {503, kText, why_not_ + "\n"};
  const Readiness readiness = metrics_->readiness();
  if (readiness.obstacles.empty()) return {200, kText, "ready\n"};
  std::string text;
  for (const std::string& obstacle : readiness.obstacles) text += obstacle + "\n";
  return {503, kText, text};
}

}  // namespace holdfast::api
