#include "api/server.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <thread>

namespace holdfast::api {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::milliseconds kPause{100};
constexpr std::chrono::milliseconds kStopStep{10};
constexpr int kStopSteps = 500;

std::vector<std::shared_ptr<IoThread>> make_threads(const ServerOptions& options) {
  std::vector<std::shared_ptr<IoThread>> threads;
  for (unsigned i = 0; i < std::max(options.io_threads, 1u); ++i) {
    threads.push_back(std::make_shared<IoThread>(options.after_round));
  }
  return threads;
}

}  // namespace

Server::Server(const ServerOptions& options, Dispatch& dispatch, Hub& hub)
    : options_(options),
      dispatch_(dispatch),
      hub_(hub),
      budget_(std::make_shared<SessionBudget>(options.limits)),
      threads_(make_threads(options)),
      acceptor_(threads_.front()->context()),
      pause_(threads_.front()->context()) {}

Server::~Server() { stop(); }

tl::expected<std::unique_ptr<Server>, std::string> Server::listen(const ServerOptions& options,
                                                                  Dispatch& dispatch, Hub& hub) {
  std::unique_ptr<Server> server(new Server(options, dispatch, hub));
  if (auto opened = server->open(); !opened) return tl::unexpected(opened.error());
  for (const auto& thread : server->threads_) thread->start();
  server->accept();
  return server;
}

tl::expected<void, std::string> Server::open() {
  const auto address = resolve(threads_.front()->context(), options_.listen);
  if (!address) return tl::unexpected(address.error());
  if (options_.loopback_only && !address->address().is_loopback()) {
    return tl::unexpected("will not listen on " + to_text(*address) +
                          ": without a token file (--tokens) every client is an operator, so the "
                          "server listens on loopback only (127.0.0.1 or ::1)");
  }
  const auto bound = listen_at(acceptor_, *address);
  if (!bound) return tl::unexpected(bound.error());
  port_ = bound->port();
  address_ = to_text(*bound);
  return {};
}

void Server::accept() {
  auto thread = threads_[next_thread_];
  next_thread_ = (next_thread_ + 1) % threads_.size();
  acceptor_.async_accept(thread->context(), [this, thread](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!error) {
      accepted(std::move(socket), thread);
      return accept();
    }
    pause_.expires_after(kPause);
    pause_.async_wait([this](error_code cancelled) {
      if (!cancelled && acceptor_.is_open()) accept();
    });
  });
}

void Server::accepted(tcp::socket socket, std::shared_ptr<IoThread> thread) {
  const bool full = connections() >= options_.max_connections;
  auto session = std::make_shared<Session>(std::move(socket), thread, dispatch_, hub_, budget_,
                                           options_.times);
  asio::post(thread->context(), [thread, session, full] {
    thread->add(session);
    if (full) {
      session->turn_away(wire::ErrorKind::UNAVAILABLE, "the server has all the connections it may");
    } else {
      session->start();
    }
  });
}

std::size_t Server::connections() const {
  std::size_t count = 0;
  for (const auto& thread : threads_) count += thread->sessions();
  return count;
}

void Server::stop() {
  if (stopped_) return;
  stopped_ = true;
  asio::post(threads_.front()->context(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  });
  for (const auto& thread : threads_) thread->stop_sessions();
  for (int step = 0; step < kStopSteps && connections() > 0; ++step) {
    std::this_thread::sleep_for(kStopStep);
  }
  for (const auto& thread : threads_) thread->join();
}

}  // namespace holdfast::api
