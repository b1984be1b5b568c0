#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "api/client.h"

namespace holdfast::api {

// The client's end of one subscription: tells the subscriber what comes, and where to go on after
// the connection was lost.
class Stream {
 public:
  explicit Stream(Subscriber subscriber) : subscriber_(std::move(subscriber)) {}

  // Before the request is sent, also once more: it asks for what has not come yet.
  void go_on(wire::Request::Builder request) const;

  // What is to be done after a message; over: nothing more will come.
  enum class Next : std::uint8_t { nothing, say_heard, subscribe_again, over };
  // The subscriber may end the subscription while it is called; the stream must live on meanwhile.
  Next take(wire::Response::Reader message);

  void interrupted(const std::string& why) const;
  // The subscriber is told nothing more.
  void silence() { silent_ = true; }
  // Between two heartbeats; none before the server has said.
  std::optional<std::chrono::milliseconds> heartbeat() const { return heartbeat_; }

 private:
  void take_events(wire::Response::Reader message);
  Next take_mark(wire::Mark::Reader mark);
  void reached(std::uint64_t position);

  const Subscriber subscriber_;
  std::optional<std::uint64_t> reached_;  // everything up to here has come
  std::optional<std::chrono::milliseconds> heartbeat_;
  bool caught_up_ = false;
  bool silent_ = false;
};

}  // namespace holdfast::api
