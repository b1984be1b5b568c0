#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/dispatch.h"
#include "api/endpoint.h"
#include "api/framing.h"
#include "api/live/hub.h"
#include "api/session_budget.h"

namespace holdfast::api {

class IoThread;

// How long a connection waits for its peer.
struct SessionTimes {
  std::chrono::milliseconds hello{10'000};  // after it was accepted; then it is closed
  std::chrono::milliseconds linger{2'000};  // for the peer to read what was sent last
  PeerPatience peer;
};

// One connection. Lives on the thread of its IoThread; kept alive by the operations on its socket
// and by the requests that are being carried out for it. Reads as long as its limits allow, hands
// requests on in the order of arrival, and sends whatever answers have gathered in one write.
//
// Life: hello awaited -> open -> draining (reads no more; answers what it has accepted, ends what
// was subscribed) ->
// lingering (everything is sent; waits a moment for the peer to have read it) -> closed.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // `dispatch` and `hub` are used only on the thread.
  Session(boost::asio::ip::tcp::socket socket, std::shared_ptr<IoThread> thread, Dispatch& dispatch,
          Hub& hub, std::shared_ptr<SessionBudget> budget, const SessionTimes& times);
  ~Session();

  void start();
  // Instead of start(): says why and closes.
  void turn_away(wire::ErrorKind kind, const std::string& text);
  // Reads no more, answers what was accepted, closes.
  void stop();
  // Closes at once.
  void abort();

  // For the IoThread: any number of answers, then once that there are no more for now. `cost` is
  // what the request was given to occupy.
  void answer(std::uint64_t id, std::size_t cost, const Fill& fill);
  void push(const Push& push);
  void answers_gathered();

 private:
  enum class Life : std::uint8_t { greeting, open, draining, lingering, closed };

  void read();
  void advance();
  bool may_read() const;
  void take(Frame frame);
  void greet(wire::Request::Reader request);
  Reply reply_to(std::uint64_t id, std::size_t cost);
  void answered(std::size_t cost);
  bool turn_away_if_revoked();
  void take_subscription(wire::Request::Reader request);
  void subscribe(wire::Request::Reader request);
  std::optional<Refusal> refuse_subscription(std::uint64_t id, wire::Subscribe::Reader request);
  void await_heard();
  void count_silence();
  void drain();
  void fail(std::uint64_t id, wire::ErrorKind kind, const std::string& text);
  void encode(std::uint64_t id, const Fill& fill);
  void write();
  void written();
  void settle();
  void linger();
  void discard();
  void close();
  void account_receive_buffer();

  const std::shared_ptr<IoThread> thread_;  // first: it owns what the socket runs on
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer deadline_;  // of the hello, then of lingering
  boost::asio::steady_timer silence_;   // of a peer that does not answer a heartbeat
  Dispatch& dispatch_;
  Hub& hub_;
  const std::shared_ptr<SessionBudget> budget_;
  const SessionTimes times_;
  std::string source_;
  std::optional<Caller> caller_;
  Life life_ = Life::greeting;

  FrameReader reader_;
  bool reading_ = false;
  std::size_t receive_bytes_ = 0;  // of the buffer, as the budget knows it

  std::size_t in_flight_ = 0;
  std::size_t in_flight_bytes_ = 0;

  // What a subscription has in a buffer.
  using Pushed = std::pair<std::shared_ptr<Outlet>, std::size_t>;
  std::unordered_map<std::uint64_t, std::shared_ptr<Outlet>> subscriptions_;
  bool heartbeat_unanswered_ = false;

  std::vector<std::byte> gathered_;
  std::vector<std::byte> writing_;
  std::vector<Pushed> pushes_gathered_;
  std::vector<Pushed> pushes_writing_;
  std::size_t unsent_bytes_ = 0;  // of answers, in both
  bool write_running_ = false;
};

}  // namespace holdfast::api
