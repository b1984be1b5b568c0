#pragma once

#include <gtest/gtest.h>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/client.h"

namespace holdfast::api {

// What to see; empty: everything, from now on.
struct Sight {
  std::optional<std::int64_t> from = {};
  std::string resource = {};
  std::string holder = {};
  std::string type = {};
};

inline Request subscribe_request(const Sight& sight) {
  Request request;
  auto subscribe = request.root().initSubscription().initSubscribe();
  if (sight.from) subscribe.setFromPosition(*sight.from);
  if (!sight.resource.empty()) subscribe.setResource(sight.resource);
  if (!sight.holder.empty()) subscribe.setHolder(sight.holder);
  if (!sight.type.empty()) subscribe.setType(sight.type);
  return request;
}

// A subscription through the client library, on a thread of its own.
class Watcher {
 public:
  Watcher(ClientOptions options, const Sight& sight) : client_(io_, std::move(options)) {
    subscription_ = client_.subscribe(
        subscribe_request(sight),
        {.event = [this](wire::Event::Reader event) { put(event); },
         .reached = [this](std::uint64_t position) { change([&] { reached_ = position; }); },
         .caught_up = [this](std::uint64_t) { change([&] { ++caught_up_; }); },
         .interrupted = [this](const std::string&) { change([&] { ++interrupted_; }); },
         .ended = [this](Client::Answer answer) { change([&] { ended_ = std::move(answer); }); }});
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Watcher() {
    boost::asio::post(io_, [this] { client_.close(); });
    work_.reset();
    thread_.join();
  }

  void unsubscribe() {
    boost::asio::post(io_, [this] { client_.unsubscribe(subscription_); });
  }

  bool wait_for_position(std::uint64_t position) {
    return wait([&] { return reached_ >= position; });
  }
  bool wait_until_caught_up() {
    return wait([&] { return caught_up_ > 0; });
  }
  bool wait_until_interrupted() {
    return wait([&] { return interrupted_ > 0; });
  }
  // How it ended.
  Client::Answer wait_until_ended() {
    wait([&] { return ended_.has_value(); });
    return ended_.value();
  }

  std::vector<std::uint64_t> positions() const {
    const std::lock_guard lock(mutex_);
    return positions_;
  }
  std::vector<std::string> resources() const {
    const std::lock_guard lock(mutex_);
    return resources_;
  }
  int times_caught_up() const {
    const std::lock_guard lock(mutex_);
    return caught_up_;
  }

 private:
  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  void put(wire::Event::Reader event) {
    change([&] {
      positions_.push_back(event.getPosition());
      resources_.push_back(event.getResource().cStr());
    });
  }
  template <class Done>
  bool wait(Done done) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, std::chrono::seconds(60), done);
    EXPECT_TRUE(came) << "waited in vain; reached " << reached_;
    return came;
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  Client client_;
  std::uint64_t subscription_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint64_t> positions_;
  std::vector<std::string> resources_;
  std::uint64_t reached_ = 0;
  int caught_up_ = 0;
  int interrupted_ = 0;
  std::optional<Client::Answer> ended_;
  std::thread thread_;
};

}  // namespace holdfast::api
