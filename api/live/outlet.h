#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/holdfast.capnp.h"
#include "api/session_budget.h"

namespace holdfast::api {

class Outlet;

// Messages of a subscription on their way to its connection.
struct Push {
  enum class Kind : std::uint8_t { plain, heartbeat, last };
  std::shared_ptr<Outlet> outlet;
  std::vector<std::byte> frames;
  Kind kind;
};

// What the hub and a connection share of a subscription: the way for its messages, and how much of
// them is not sent yet.
class Outlet : public std::enable_shared_from_this<Outlet> {
 public:
  // `post` hands over to the connection's thread; `wake` lets the hub look at its outlets. Both are
  // called from any thread.
  Outlet(std::uint64_t id, std::shared_ptr<SessionBudget> budget, std::function<void(Push)> post,
         std::function<void()> wake)
      : id_(id), budget_(std::move(budget)), post_(std::move(post)), wake_(std::move(wake)) {}
  ~Outlet() { budget_->give_back(unsent_.load()); }
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  std::uint64_t id() const { return id_; }  // of the request that subscribed

  // -- the hub
  void send(std::vector<std::byte> frames, Push::Kind kind);
  // No more than `bytes` of it wait to be sent, and the server has memory for more.
  bool has_room(std::size_t bytes) const {
    return unsent_.load() <= bytes && !budget_->exhausted();
  }
  // The same; if not, the hub is woken when some of it was sent.
  bool wait_for_room(std::size_t bytes);
  bool closed() const { return closed_.load(); }
  std::optional<wire::SubscriptionEnd> asked_to_end() const;

  // -- the connection
  void sent(std::size_t bytes);
  // The hub is to send what is left and the mark that it has ended. The first reason counts.
  void end(wire::SubscriptionEnd why);
  // The connection is gone: nothing can be sent any more.
  void close();

 private:
  static constexpr int kNotAsked = -1;

  const std::uint64_t id_;
  const std::shared_ptr<SessionBudget> budget_;
  const std::function<void(Push)> post_;
  const std::function<void()> wake_;
  std::atomic<std::size_t> unsent_{0};
  std::atomic<bool> hub_waits_{false};
  std::atomic<bool> closed_{false};
  std::atomic<int> asked_to_end_{kNotAsked};
};

}  // namespace holdfast::api
