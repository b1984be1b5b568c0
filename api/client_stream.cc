#include "api/client_stream.h"

namespace holdfast::api {

void Stream::go_on(wire::Request::Builder request) const {
  if (!reached_) return;
  request.getSubscription().getSubscribe().setFromPosition(
      static_cast<std::int64_t>(*reached_ + 1));
}

Stream::Next Stream::take(wire::Response::Reader message) {
  if (message.isEvents()) {
    take_events(message);
  } else if (message.isMark()) {
    reached(message.getPosition());
    return take_mark(message.getMark());
  }
  return Next::nothing;
}

void Stream::take_events(wire::Response::Reader message) {
  for (const auto event : message.getEvents()) {
    if (!silent_ && subscriber_.event) subscriber_.event(event);
  }
  reached(message.getPosition());
}

void Stream::reached(std::uint64_t position) {
  reached_ = position;
  if (!silent_ && subscriber_.reached) subscriber_.reached(position);
}

Stream::Next Stream::take_mark(wire::Mark::Reader mark) {
  switch (mark.which()) {
    case wire::Mark::BEGUN:
      heartbeat_ = std::chrono::milliseconds(mark.getBegun().getHeartbeat());
      return Next::nothing;
    case wire::Mark::CAUGHT_UP:
      if (!caught_up_ && !silent_ && subscriber_.caught_up) subscriber_.caught_up(*reached_);
      caught_up_ = true;
      return Next::nothing;
    case wire::Mark::HEARTBEAT:
      return Next::say_heard;
    case wire::Mark::ENDED:
      break;
  }
  if (mark.getEnded() == wire::SubscriptionEnd::UNAVAILABLE) return Next::over;
  if (mark.getEnded() != wire::SubscriptionEnd::SLOW) return Next::nothing;  // the connection ends
  interrupted("more was waiting to be sent than the server keeps");
  return Next::subscribe_again;
}

void Stream::interrupted(const std::string& why) const {
  if (!silent_ && subscriber_.interrupted) subscriber_.interrupted(why);
}

}  // namespace holdfast::api
