#pragma once

#include <capnp/serialize.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "api/live/outlet.h"

namespace holdfast::api {

// The connection's end of a subscription, in the hands of a test: keeps the messages, and says that
// they are sent, or lets them wait. The hub may know it longer than the test.
class Listener {
 public:
  struct Message {
    std::uint64_t position;  // what has been reached
    std::vector<std::uint64_t> events;
    std::optional<wire::Mark::Which> mark;
    std::optional<wire::SubscriptionEnd> end;
  };

  explicit Listener(std::function<void()> wake, bool reading = true,
                    std::size_t all_bytes = std::size_t{1} << 30)
      : inbox_(std::make_shared<Inbox>(reading)),
        outlet_(std::make_shared<Outlet>(
            1, std::make_shared<SessionBudget>(SessionLimits{.all_bytes = all_bytes}),
            [inbox = inbox_](Push push) { inbox->take(push); }, std::move(wake))) {}

  const std::shared_ptr<Outlet>& outlet() const { return outlet_; }

  // From now on everything is sent at once, what waits first.
  void read() {
    std::size_t bytes = 0;
    {
      const std::lock_guard lock(inbox_->mutex);
      inbox_->reading = true;
      bytes = std::exchange(inbox_->waiting_bytes, 0);
    }
    outlet_->sent(bytes);
  }
  std::size_t most_waiting_bytes() const {
    const std::lock_guard lock(inbox_->mutex);
    return inbox_->most_waiting_bytes;
  }

  std::size_t largest_bytes() const {
    const std::lock_guard lock(inbox_->mutex);
    return inbox_->largest_bytes;
  }

  std::vector<Message> messages() const {
    const std::lock_guard lock(inbox_->mutex);
    return inbox_->messages;
  }
  std::vector<std::uint64_t> events() const {
    std::vector<std::uint64_t> all;
    for (const Message& message : messages()) {
      all.insert(all.end(), message.events.begin(), message.events.end());
    }
    return all;
  }
  std::size_t count(wire::Mark::Which mark) const {
    std::size_t count = 0;
    for (const Message& message : messages()) count += message.mark == mark ? 1 : 0;
    return count;
  }

  // False, and a failure: it did not come true within half a minute.
  bool wait_until(const std::function<bool(const Message&)>& there_is) const {
    std::unique_lock lock(inbox_->mutex);
    const bool came = inbox_->changed.wait_for(lock, std::chrono::seconds(30), [&] {
      return std::any_of(inbox_->messages.begin(), inbox_->messages.end(), there_is);
    });
    EXPECT_TRUE(came) << "waited in vain";
    return came;
  }
  bool wait_for(wire::Mark::Which mark) const {
    return wait_until([&](const Message& message) { return message.mark == mark; });
  }
  bool wait_for_position(std::uint64_t position) const {
    return wait_until([&](const Message& message) { return message.position >= position; });
  }

 private:
  struct Inbox {
    explicit Inbox(bool is_reading) : reading(is_reading) {}
    void take(const Push& push) {
      std::vector<capnp::word> words(push.frames.size() / sizeof(capnp::word));
      std::memcpy(words.data(), push.frames.data(), push.frames.size());
      capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()));
      const auto response = reader.getRoot<wire::Response>();
      Message message{.position = response.getPosition(), .events = {}, .mark = {}, .end = {}};
      if (response.isEvents()) {
        for (const auto event : response.getEvents()) message.events.push_back(event.getPosition());
      } else {
        message.mark = response.getMark().which();
        if (response.getMark().isEnded()) message.end = response.getMark().getEnded();
      }
      bool sent = false;
      {
        const std::lock_guard lock(mutex);
        messages.push_back(std::move(message));
        sent = reading;
        largest_bytes = std::max(largest_bytes, push.frames.size());
        if (!sent) waiting_bytes += push.frames.size();
        most_waiting_bytes = std::max(most_waiting_bytes, waiting_bytes);
        changed.notify_all();
      }
      if (sent) push.outlet->sent(push.frames.size());
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Message> messages;
    bool reading;
    std::size_t largest_bytes = 0;
    std::size_t waiting_bytes = 0;
    std::size_t most_waiting_bytes = 0;
  };

  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<Outlet> outlet_;
};

}  // namespace holdfast::api
