#pragma once

#include <capnp/common.h>
#include <kj/array.h>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "api/dispatch.h"
#include "api/live/outlet.h"

namespace holdfast::api {

class Session;

// One thread that serves its share of the connections, and the mailbox through which the ledger's
// threads hand it answers: it is woken once for all that have gathered, and sends all answers of a
// connection in one write.
class IoThread {
 public:
  // `after_round`: called on the thread when it has handed on the requests that had arrived.
  explicit IoThread(std::function<void()> after_round);
  ~IoThread();  // join()
  void start();

  boost::asio::io_context& context() { return context_; }

  // -- from any thread
  // Nothing happens once the thread has ended.
  void deliver(std::shared_ptr<Session> session, std::uint64_t id, std::size_t cost, Fill fill);
  void deliver(std::shared_ptr<Session> session, Push push);
  std::size_t sessions() const { return session_count_.load(); }
  // Sessions stop reading, answer what they have accepted and close.
  void stop_sessions();
  // Closes what is left and ends the thread. Idempotent.
  void join();

  // -- on this thread
  void add(const std::shared_ptr<Session>& session);
  void remove(const std::shared_ptr<Session>& session);
  // Zeroed memory to build a message in, one at a time.
  kj::ArrayPtr<capnp::word> scratch() { return scratch_; }

 private:
  struct Letter {
    std::shared_ptr<Session> session;
    std::uint64_t id;
    std::size_t cost;
    Fill fill;
  };
  struct Parcel {
    std::shared_ptr<Session> session;
    Push push;
  };
  // Puts it in; wakes the thread for the first one.
  void put(auto& box, auto mail);
  void run();
  void open_mailbox();

  const std::function<void()> after_round_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unordered_set<std::shared_ptr<Session>> sessions_;
  std::atomic<std::size_t> session_count_{0};
  bool stopping_ = false;
  std::mutex mutex_;
  std::vector<Letter> mailbox_;  // under mutex_
  std::vector<Parcel> parcels_;  // under mutex_
  bool ended_ = false;           // under mutex_
  std::vector<Letter> opened_;
  std::vector<Parcel> opened_parcels_;
  kj::Array<capnp::word> scratch_;
  std::thread thread_;
};

}  // namespace holdfast::api
