#pragma once

#include <capnp/serialize.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/framing.h"
#include "api/holdfast.capnp.h"

namespace holdfast::api {

// One end of a connection, in the hands of a test that reads and answers message by message.
class FakeConnection {
 public:
  explicit FakeConnection(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  // The next request; nothing once the peer has closed.
  std::optional<wire::Request::Reader> request() {
    while (true) {
      const auto frame = reader_.next();
      if (!frame) return std::nullopt;
      if (*frame) {
        words_ = kj::heapArray<capnp::word>((*frame)->data(), (*frame)->size());
        message_ = std::make_unique<capnp::FlatArrayMessageReader>(words_);
        return message_->getRoot<wire::Request>();
      }
      const auto space = reader_.space();
      boost::system::error_code error;
      const std::size_t bytes =
          socket_.read_some(boost::asio::buffer(space.data(), space.size()), error);
      if (error) return std::nullopt;
      reader_.filled(bytes);
    }
  }

  void answer(std::uint64_t id, const std::function<void(wire::Response::Builder)>& fill) {
    capnp::MallocMessageBuilder message;
    auto response = message.initRoot<wire::Response>();
    response.setId(id);
    fill(response);
    std::vector<std::byte> bytes;
    append_framed(message, bytes);
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
  }

  // Answers the hello; gives the ledger id that it named.
  std::string greet(const std::string& ledger_id) {
    const auto hello = request();
    if (!hello || !hello->isHello()) return "no hello";
    std::string named(hello->getHello().getLedgerId().asChars().begin(),
                      hello->getHello().getLedgerId().asChars().end());
    answer(hello->getId(), [&](wire::Response::Builder response) {
      const auto* bytes = reinterpret_cast<const kj::byte*>(ledger_id.data());
      response.initHello().setLedgerId(kj::arrayPtr(bytes, ledger_id.size()));
    });
    return named;
  }

  void accept_batch(std::uint64_t id, std::uint64_t position) {
    answer(id, [&](wire::Response::Builder response) {
      response.initOutcomes(1)[0].initAccepted().setFirstPosition(position);
    });
  }

  void refuse_batch(std::uint64_t id, wire::Reason reason) {
    answer(id, [&](wire::Response::Builder response) {
      response.initOutcomes(1)[0].initRefused().setReason(reason);
    });
  }

 private:
  boost::asio::ip::tcp::socket socket_;
  FrameReader reader_;
  kj::Array<capnp::word> words_;
  std::unique_ptr<capnp::FlatArrayMessageReader> message_;
};

// Runs a script on a thread of its own: it accepts connections one by one.
class FakeServer {
 public:
  using Script = std::function<void(FakeServer&)>;

  explicit FakeServer(Script script)
      : acceptor_(io_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        thread_([this, script = std::move(script)] { script(*this); }) {}
  ~FakeServer() { thread_.join(); }

  FakeConnection accept() { return FakeConnection(acceptor_.accept()); }
  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::thread thread_;
};

}  // namespace holdfast::api
