#include <kj/exception.h>
#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cstring>

#include "api/client_impl.h"
#include "api/endpoint.h"

// The client's connection: made, kept, lost and made again.
namespace holdfast::api {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

// A server that subscribers hear nothing of for two of these is gone.
constexpr double kSilentHeartbeats = 1.5;

}  // namespace

void Client::Impl::connect() {
  link_ = Link::connecting;
  ++connection_;
  if (!outage_) {
    outage_ = true;
    if (options_.give_up_after.count() > 0) {
      outage_timer_.expires_after(options_.give_up_after);
      outage_timer_.async_wait([self = shared_from_this()](error_code error) {
        if (!error && self->link_ != Link::ready) {
          self->give_up("no connection to " + self->server() + " came about in time");
        }
      });
    }
  }
  const auto endpoint = parse_endpoint(options_.server);
  if (!endpoint) {
    asio::post(io_, [self = shared_from_this()] {
      self->give_up("'" + self->server() + "' is not an address: give HOST:PORT");
    });
    return;
  }
  attempt_timer_.expires_after(options_.connect_timeout);
  attempt_timer_.async_wait([self = shared_from_this(), n = connection_](error_code error) {
    if (!error && n == self->connection_ && self->link_ == Link::connecting) {
      self->attempt_failed("no answer within the time allowed");
    }
  });
  resolver_.async_resolve(endpoint->host, std::to_string(endpoint->port),
                          [self = shared_from_this(), n = connection_](
                              error_code error, tcp::resolver::results_type addresses) {
                            if (n != self->connection_) return;
                            if (error) return self->attempt_failed(error.message());
                            self->connect_to(addresses, n);
                          });
}

void Client::Impl::connect_to(const tcp::resolver::results_type& addresses, unsigned connection) {
  asio::async_connect(
      socket_, addresses,
      [self = shared_from_this(), connection](error_code error, const tcp::endpoint&) {
        if (connection != self->connection_) return;
        if (!error) tune(self->socket_, PeerPatience{}, error);
        if (error) return self->attempt_failed(error.message());
        self->say_hello();
      });
}

void Client::Impl::say_hello() {
  Request request;
  hello_id_ = ++last_id_;
  request.root().setId(hello_id_);
  auto hello = request.root().initHello();
  hello.setProtocolVersion(wire::PROTOCOL_VERSION);
  hello.setActor(options_.actor);
  if (!options_.token.empty()) hello.setToken(options_.token);
  hello.setProgram(options_.program);
  if (ledger_id_) {
    hello.setLedgerId(
        kj::arrayPtr(reinterpret_cast<const kj::byte*>(ledger_id_->data()), ledger_id_->size()));
  }
  reader_ = FrameReader(64u << 10);
  append(request);
  write();
  read();
}

void Client::Impl::greeted(const Response& response) {
  const auto root = response.root();
  if (root.isError() && root.getError().getKind() == wire::ErrorKind::UNAVAILABLE) {
    return attempt_failed(root.getError().getText().cStr());
  }
  if (!root.isHello()) {
    ClientError error{ClientError::Kind::server, wire::ErrorKind::BAD_MESSAGE,
                      server() + " did not answer the hello"};
    if (root.isError()) {
      error.server_error = root.getError().getKind();
      error.text = server() + ": " + std::string(root.getError().getText().cStr());
    } else if (root.isRefused()) {
      error.text = server() + " refused the actor '" + options_.actor + "'";
    }
    drop_connection();
    return fail_all(error);
  }
  const auto id = root.getHello().getLedgerId();
  LedgerId known{};
  if (id.size() == known.size()) {
    std::copy(id.begin(), id.end(), reinterpret_cast<kj::byte*>(known.data()));
    ledger_id_ = known;
  }
  attempt_timer_.cancel();
  outage_timer_.cancel();
  outage_ = false;
  attempts_ = 0;
  link_ = Link::ready;
  flush();
}

void Client::Impl::read() {
  const auto space = reader_.space();
  socket_.async_read_some(
      asio::buffer(space.data(), space.size()),
      [self = shared_from_this(), n = connection_](error_code error, std::size_t bytes) {
        if (n != self->connection_) return;
        if (error) return self->lost(error.message(), true);
        self->read_done(bytes);
      });
}

void Client::Impl::read_done(std::size_t bytes) {
  reader_.filled(bytes);
  heard_ = true;
  const unsigned connection = connection_;
  while (connection == connection_) {
    auto frame = reader_.next();
    if (!frame) return lost("the answer was " + std::string(describe(frame.error())), true);
    if (!*frame) return read();
    try {
      auto words = kj::heapArray<capnp::word>(frame->value().size());
      std::memcpy(words.begin(), frame->value().data(), words.asBytes().size());
      received(Response(std::move(words)));
    } catch (const kj::Exception& damage) {
      return lost("an answer could not be read: " + std::string(damage.getDescription().cStr()),
                  false);
    }
  }
}

// One silent stretch may be this program's own: what came meanwhile is read before the next ends.
void Client::Impl::watch_silence(std::chrono::milliseconds heartbeat, bool silent_before) {
  watching_silence_ = true;
  heard_ = false;
  silence_timer_.expires_after(std::chrono::milliseconds(
      static_cast<std::int64_t>(kSilentHeartbeats * static_cast<double>(heartbeat.count()))));
  silence_timer_.async_wait(
      [self = shared_from_this(), heartbeat, silent_before, n = connection_](error_code error) {
        if (error || n != self->connection_) return;
        if (self->streams_ == 0) {
          self->watching_silence_ = false;
        } else if (silent_before && !self->heard_) {
          self->lost("nothing was heard of it for three heartbeats", true);
        } else {
          self->watch_silence(heartbeat, !self->heard_);
        }
      });
}

// Once for everything that is sent from one handler.
void Client::Impl::flush_soon() {
  if (flush_posted_ || write_running_ || link_ != Link::ready) return;
  flush_posted_ = true;
  asio::post(io_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void Client::Impl::flush() {
  if (link_ != Link::ready || write_running_) return;
  constexpr std::size_t kEnough = 1u << 20;
  while (!to_send_.empty() && gathered_.size() < kEnough) {
    const auto at = pending_.find(to_send_.front());
    to_send_.pop_front();
    if (at == pending_.end()) continue;
    at->second.sent = true;
    if (at->second.stream) at->second.stream->go_on(at->second.request.root());
    append(at->second.request);
  }
  if (!gathered_.empty()) write();
}

void Client::Impl::append(Request& request) { append_framed(request.message(), gathered_); }

void Client::Impl::write() {
  write_running_ = true;
  writing_.clear();
  std::swap(writing_, gathered_);
  asio::async_write(socket_, asio::buffer(writing_),
                    [self = shared_from_this(), n = connection_](error_code error, std::size_t) {
                      if (n != self->connection_) return;
                      self->write_running_ = false;
                      // What the server said before it closed is still to be read.
                      if (!error) self->flush();
                    });
}

void Client::Impl::drop_connection() {
  ++connection_;
  error_code ignored;
  resolver_.cancel();
  socket_.close(ignored);
  attempt_timer_.cancel();
  silence_timer_.cancel();
  watching_silence_ = false;
  write_running_ = false;
  gathered_.clear();
  link_ = Link::none;
}

void Client::Impl::attempt_failed(const std::string& text) {
  drop_connection();
  const std::string whole = "cannot connect to " + server() + ": " + text;
  if (options_.give_up_after.count() == 0) return give_up(whole);
  link_ = Link::waiting;
  attempt_timer_.expires_after(backoff(attempts_++));
  attempt_timer_.async_wait([self = shared_from_this(), n = connection_](error_code error) {
    if (!error && n == self->connection_ && self->link_ == Link::waiting) self->connect();
  });
}

void Client::Impl::lost(const std::string& text, bool repeat_what_was_sent) {
  if (link_ != Link::ready) return attempt_failed(text);
  drop_connection();
  to_send_.clear();
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto here = at++;
    Pending& pending = here->second;
    const bool again = pending.sent ? repeat_what_was_sent && pending.repeat == Repeat::safe
                                    : pending.repeat != Repeat::import;
    if (again) {
      to_send_.push_back(here->first);
      if (pending.stream) {
        asio::post(io_, [stream = pending.stream, text] { stream->interrupted(text); });
      }
      continue;
    }
    const auto kind = pending.sent ? ClientError::Kind::unknown : ClientError::Kind::not_sent;
    answer(here,
           tl::unexpected(ClientError{kind, wire::ErrorKind::BAD_MESSAGE,
                                      "the connection to " + server() + " was lost: " + text}));
  }
  if (!pending_.empty()) connect();
}

void Client::Impl::give_up(const std::string& text) {
  drop_connection();
  fail_all({ClientError::Kind::not_sent, wire::ErrorKind::BAD_MESSAGE, text});
}

std::chrono::milliseconds Client::Impl::backoff(unsigned attempt) {
  const auto ceiling = std::min<std::int64_t>(
      options_.backoff_max.count(), options_.backoff_first.count() << std::min(attempt, 20u));
  return std::chrono::milliseconds(
      std::uniform_int_distribution<std::int64_t>(0, std::max<std::int64_t>(ceiling, 1))(random_));
}

}  // namespace holdfast::api
