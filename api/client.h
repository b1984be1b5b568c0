#pragma once

#include <capnp/message.h>
#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "api/holdfast.capnp.h"

// The client library of Holdfast (CMake: holdfast::client).
//
//     holdfast::api::BlockingClient client({.server = "127.0.0.1:7420", .actor = "shop"});
//     holdfast::api::Request request;
//     auto hold = request.root().initBatch(1)[0].initHold();
//     hold.setResource("room-1");
//     hold.setHolder("ann");
//     auto answer = client.call(std::move(request));
//     if (answer && answer->root().getOutcomes()[0].isAccepted()) ...
namespace holdfast::api {

using LedgerId = std::array<std::byte, 16>;

struct ClientOptions {
  std::string server = "127.0.0.1:7420";  // HOST:PORT, [IPV6]:PORT
  std::string actor = "anonymous";        // who this client is, where the server asks for no token
  std::string token;
  std::string program = "holdfast-client";  // name and version, for the server's log
  // Turned away by a server of another ledger. None: the first one met is remembered, so that a
  // reconnect never lands on another ledger unnoticed.
  std::optional<LedgerId> ledger_id;

  std::chrono::milliseconds connect_timeout{5'000};  // one attempt, hello included
  // How long requests wait for a connection to come (back). 0: the first failed attempt is final.
  std::chrono::milliseconds give_up_after{30'000};
  // Full jitter: attempt n waits a random time up to min(backoff_max, backoff_first * 2^n).
  std::chrono::milliseconds backoff_first{50};
  std::chrono::milliseconds backoff_max{5'000};
  // How often a request is sent again that was refused as `overloaded` whole (every command of
  // it), with the same backoff.
  unsigned overloaded_retries = 10;
};

struct ClientError {
  enum class Kind {
    not_sent,  // no connection: the server has not seen the request
    unknown,   // sent, and the connection was lost: it was carried out, or it was not
    server,    // the server answered with an error: `server_error` says which
  };
  Kind kind;
  wire::ErrorKind server_error = wire::ErrorKind::BAD_MESSAGE;
  std::string text;  // a sentence for people
};

// A request being made. The client sets its id.
class Request {
 public:
  explicit Request(unsigned first_segment_words = 256);
  wire::Request::Builder root() { return root_; }
  capnp::MessageBuilder& message() { return *message_; }

 private:
  std::unique_ptr<capnp::MallocMessageBuilder> message_;
  wire::Request::Builder root_;
};

// An answer, owned: readers of it are valid as long as it lives.
class Response {
 public:
  explicit Response(kj::Array<capnp::word> words);
  wire::Response::Reader root() const { return root_; }

 private:
  struct Message;
  std::shared_ptr<Message> message_;
  wire::Response::Reader root_;
};

// Who is told of the events of a subscription, from the io_context; what is left empty is not told.
struct Subscriber {
  // Every event that the filter lets through, once, in order, across lost connections too.
  std::function<void(wire::Event::Reader)> event = {};
  // Everything up to the position has been told: kept, it is where another run can go on behind.
  std::function<void(std::uint64_t position)> reached = {};
  // Once: all that had happened when it subscribed has been told.
  std::function<void(std::uint64_t position)> caught_up = {};
  // The connection was lost, or the server has cut off a subscriber that did not keep up; it goes
  // on by itself.
  std::function<void(const std::string& why)> interrupted = {};
  // Nothing more will be told: the server refused (the response says why), or cannot be reached.
  std::function<void(tl::expected<Response, ClientError>)> ended = {};
};

// Any number of requests may be unanswered; they are sent in the order of the calls, and the
// answers come in any order. What happens when the connection is lost before an answer:
//   queries                                   sent again
//   batches whose commands all have a request_id, sweep, rebuild, confirm clock, import begin
//                                             sent again, in the order of the first time
//   other batches, import lines and end       fail as `unknown`; what was not sent yet of an
//                                             import as `not_sent`
// One thread at a time: the one that runs the io_context.
class Client {
 public:
  // Never holds Response::error: that is ClientError::server.
  using Answer = tl::expected<Response, ClientError>;
  using Handler = std::function<void(Answer)>;

  // Connects with the first request.
  Client(boost::asio::io_context& io, ClientOptions options);
  // close()
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // `handler` is called exactly once, from the io_context, never from within send().
  void send(Request request, Handler handler);

  // `request` is a filled subscription.subscribe. Stays until unsubscribe(), close() or
  // Subscriber::ended.
  std::uint64_t subscribe(Request request, Subscriber subscriber);
  // The subscriber is told nothing more.
  void unsubscribe(std::uint64_t subscription);

  // But for subscriptions.
  std::size_t unanswered() const;
  // Of the server, once a hello was answered.
  std::optional<LedgerId> ledger_id() const;

  // Fails what is unanswered (from the io_context) and disconnects. Idempotent.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// The same on an io_context of its own, which runs inside the calls. One thread at a time.
class BlockingClient {
 public:
  explicit BlockingClient(ClientOptions options);
  ~BlockingClient();

  Client::Answer call(Request request);

  // Pipelined: handlers are called within call() and wait().
  void send(Request request, Client::Handler handler);
  // Returns once at most `unanswered` requests have no answer.
  void wait(std::size_t unanswered = 0);

  Client& client();

 private:
  boost::asio::io_context io_;
  Client client_;
};

}  // namespace holdfast::api
