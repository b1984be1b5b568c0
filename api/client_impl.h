#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "api/client.h"
#include "api/client_message.h"
#include "api/client_stream.h"
#include "api/framing.h"

namespace holdfast::api {

// In client.cc what is asked and answered, in client_connection.cc how it gets there.
//
// Handlers of operations on a connection carry its number: those of an earlier one are ignored.
class Client::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(boost::asio::io_context& io, ClientOptions options);

  void send(Request request, Handler handler);
  std::uint64_t subscribe(Request request, Subscriber subscriber);
  void unsubscribe(std::uint64_t subscription);
  void close();
  std::size_t unanswered() const { return pending_.size() - streams_; }
  std::optional<LedgerId> ledger_id() const { return ledger_id_; }

 private:
  enum class Link { none, connecting, waiting, ready };
  struct Pending {
    Request request;
    Handler handler;
    Repeat repeat;
    std::shared_ptr<Stream> stream;  // of a subscription
    bool sent = false;               // on some connection, of which no answer came
    unsigned overloaded = 0;
  };

  void connect();
  void connect_to(const boost::asio::ip::tcp::resolver::results_type& addresses,
                  unsigned connection);
  void say_hello();
  void greeted(const Response& response);
  void read();
  void read_done(std::size_t bytes);
  void received(Response response);
  void streamed(std::uint64_t id, const Response& response);
  void say(const std::function<void(wire::Subscription::Builder)>& fill);
  void watch_silence(std::chrono::milliseconds heartbeat, bool silent_before = false);
  std::uint64_t put(Request request, Handler handler, std::shared_ptr<Stream> stream);
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

  boost::asio::io_context& io_;
  ClientOptions options_;
  std::optional<LedgerId> ledger_id_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer attempt_timer_;
  boost::asio::steady_timer outage_timer_;
  boost::asio::steady_timer silence_timer_;
  std::mt19937_64 random_;

  Link link_ = Link::none;
  unsigned connection_ = 0;
  unsigned attempts_ = 0;  // since the last connection that was ready
  bool outage_ = false;    // outage_timer_ runs
  std::uint64_t hello_id_ = 0;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Pending> pending_;  // in the order of the calls
  std::size_t streams_ = 0;                   // of those
  bool watching_silence_ = false;
  bool heard_ = false;  // since silence was last looked for
  std::deque<std::uint64_t> to_send_;
  FrameReader reader_{64u << 10};
  std::vector<std::byte> gathered_;
  std::vector<std::byte> writing_;
  bool write_running_ = false;
  bool flush_posted_ = false;
};

}  // namespace holdfast::api
