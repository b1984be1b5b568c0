#include "api/client.h"

#include <capnp/serialize.h>
#include <kj/exception.h>
#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "api/client_message.h"
#include "api/endpoint.h"
#include "api/framing.h"

namespace holdfast::api {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

struct Pending {
  Request request;
  Client::Handler handler;
  Repeat repeat;
  bool sent = false;  // on some connection, of which no answer came
  unsigned overloaded = 0;
};

}  // namespace

// Handlers of operations on a connection carry its number: those of an earlier one are ignored.
class Client::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, ClientOptions options)
      : io_(io),
        options_(std::move(options)),
        ledger_id_(options_.ledger_id),
        socket_(io),
        resolver_(io),
        attempt_timer_(io),
        outage_timer_(io),
        random_(std::random_device{}()) {}

  void send(Request request, Handler handler);
  void close();
  std::size_t unanswered() const { return pending_.size(); }
  std::optional<LedgerId> ledger_id() const { return ledger_id_; }

 private:
  enum class Link { none, connecting, waiting, ready };

  void connect();
  void connect_to(const tcp::resolver::results_type& addresses, unsigned connection);
  void say_hello();
  void greeted(const Response& response);
  void read();
  void read_done(std::size_t bytes);
  void received(Response response);
  void flush_soon();
  void flush();
  void append(Request& request);
  void write();
  bool retry_overloaded(std::uint64_t id, Pending& pending, const Response& response);

  void attempt_failed(const std::string& text);
  void lost(const std::string& text, bool repeat_what_was_sent);
  void give_up(const std::string& text);
  void drop_connection();
  void answer(std::map<std::uint64_t, Pending>::iterator at, Answer answer);
  void fail_all(const ClientError& error);
  std::chrono::milliseconds backoff(unsigned attempt);
  std::string server() const { return options_.server; }

  asio::io_context& io_;
  ClientOptions options_;
  std::optional<LedgerId> ledger_id_;
  tcp::socket socket_;
  tcp::resolver resolver_;
  asio::steady_timer attempt_timer_;
  asio::steady_timer outage_timer_;
  std::mt19937_64 random_;

  Link link_ = Link::none;
  unsigned connection_ = 0;
  unsigned attempts_ = 0;  // since the last connection that was ready
  bool outage_ = false;    // outage_timer_ runs
  std::uint64_t hello_id_ = 0;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Pending> pending_;  // in the order of the calls
  std::deque<std::uint64_t> to_send_;
  FrameReader reader_{64u << 10};
  std::vector<std::byte> gathered_;
  std::vector<std::byte> writing_;
  bool write_running_ = false;
  bool flush_posted_ = false;
};

void Client::Impl::send(Request request, Handler handler) {
  const std::uint64_t id = ++last_id_;
  request.root().setId(id);
  if (capnp::computeSerializedSizeInWords(request.message()) * sizeof(capnp::word) >
      kMaxMessageBytes) {
    asio::post(io_, [handler = std::move(handler)] {
      handler(tl::unexpected(ClientError{ClientError::Kind::not_sent, wire::ErrorKind::BAD_MESSAGE,
                                         "the request is larger than 8 MiB"}));
    });
    return;
  }
  const Repeat repeat = repeat_of(request.root().asReader());
  pending_.emplace(id, Pending{std::move(request), std::move(handler), repeat});
  to_send_.push_back(id);
  if (link_ == Link::none) {
    connect();
  } else {
    flush_soon();
  }
}

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

void Client::Impl::received(Response response) {
  const auto root = response.root();
  const std::uint64_t id = root.getId();
  if (link_ == Link::connecting && (id == hello_id_ || id == 0)) return greeted(response);
  const auto at = pending_.find(id);
  if (at == pending_.end()) {
    if (!root.isError()) return;
    // The server closes after an error that it cannot assign; asking again would bring it again.
    return lost(root.getError().getText().cStr(), false);
  }
  if (root.isError()) {
    const auto error = root.getError();
    return answer(at, tl::unexpected(ClientError{ClientError::Kind::server, error.getKind(),
                                                 error.getText().cStr()}));
  }
  if (retry_overloaded(id, at->second, response)) return;
  answer(at, std::move(response));
}

bool Client::Impl::retry_overloaded(std::uint64_t id, Pending& pending, const Response& response) {
  if (!overloaded_whole(response.root())) return false;
  if (pending.overloaded >= options_.overloaded_retries) return false;
  pending.sent = false;
  auto timer = std::make_shared<asio::steady_timer>(io_, backoff(pending.overloaded++));
  timer->async_wait([self = shared_from_this(), id, timer](error_code) {
    const auto at = self->pending_.find(id);
    // After a lost connection it may have been queued already.
    if (at == self->pending_.end() || at->second.sent ||
        std::ranges::find(self->to_send_, id) != self->to_send_.end()) {
      return;
    }
    self->to_send_.push_back(id);
    self->flush_soon();
  });
  return true;
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

void Client::Impl::fail_all(const ClientError& error) {
  outage_ = false;
  outage_timer_.cancel();
  attempts_ = 0;
  to_send_.clear();
  auto failed = std::move(pending_);
  pending_.clear();
  for (auto& [id, pending] : failed) {
    ClientError own = error;
    // Whatever stopped this connection, an earlier one may have carried it out.
    if (pending.sent) own.kind = ClientError::Kind::unknown;
    asio::post(io_, [handler = std::move(pending.handler), own = std::move(own)] {
      handler(tl::unexpected(own));
    });
  }
}

void Client::Impl::answer(std::map<std::uint64_t, Pending>::iterator at, Answer answer) {
  const Handler handler = std::move(at->second.handler);
  pending_.erase(at);
  if (answer) return handler(std::move(answer));
  // A failure may come while requests are gone through: the handler must not send meanwhile.
  asio::post(io_, [handler, answer = std::move(answer)] { handler(answer); });
}

std::chrono::milliseconds Client::Impl::backoff(unsigned attempt) {
  const auto ceiling = std::min<std::int64_t>(
      options_.backoff_max.count(), options_.backoff_first.count() << std::min(attempt, 20u));
  return std::chrono::milliseconds(
      std::uniform_int_distribution<std::int64_t>(0, std::max<std::int64_t>(ceiling, 1))(random_));
}

void Client::Impl::close() {
  drop_connection();
  fail_all({ClientError::Kind::not_sent, wire::ErrorKind::BAD_MESSAGE, "the client was closed"});
}

Client::Client(asio::io_context& io, ClientOptions options)
    : impl_(std::make_shared<Impl>(io, std::move(options))) {}
Client::~Client() { impl_->close(); }
void Client::send(Request request, Handler handler) {
  impl_->send(std::move(request), std::move(handler));
}
std::size_t Client::unanswered() const { return impl_->unanswered(); }
std::optional<LedgerId> Client::ledger_id() const { return impl_->ledger_id(); }
void Client::close() { impl_->close(); }

BlockingClient::BlockingClient(ClientOptions options) : client_(io_, std::move(options)) {}
BlockingClient::~BlockingClient() = default;

Client::Answer BlockingClient::call(Request request) {
  std::optional<Client::Answer> answer;
  client_.send(std::move(request), [&](Client::Answer a) { answer = std::move(a); });
  if (io_.stopped()) io_.restart();
  while (!answer) io_.run_one();
  return std::move(*answer);
}

void BlockingClient::send(Request request, Client::Handler handler) {
  client_.send(std::move(request), std::move(handler));
}

void BlockingClient::wait(std::size_t unanswered) {
  if (io_.stopped()) io_.restart();
  while (client_.unanswered() > unanswered) io_.run_one();
  io_.poll();  // failures are told from the io_context
}

Client& BlockingClient::client() { return client_; }

}  // namespace holdfast::api
