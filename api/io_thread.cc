#include "api/io_thread.h"

#include <boost/asio/post.hpp>
#include <cstring>
#include <utility>

#include "api/session.h"

namespace holdfast::api {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kScratchWords = 64u << 10;
constexpr int kRound = 64;  // handlers

}  // namespace

IoThread::IoThread(std::function<void()> after_round)
    : after_round_(std::move(after_round)),
      work_(asio::make_work_guard(context_)),
      scratch_(kj::heapArray<capnp::word>(kScratchWords)) {
  std::memset(scratch_.begin(), 0, scratch_.asBytes().size());
}

IoThread::~IoThread() { join(); }

void IoThread::start() {
  thread_ = std::thread([this] { run(); });
}

// In rounds: whatever sockets have brought is handed on before anybody is told of it.
void IoThread::run() {
  while (context_.run_one() != 0) {
    for (int more = kRound; more > 0 && context_.poll_one() != 0; --more) {
    }
    if (after_round_) after_round_();
  }
}

void IoThread::deliver(std::shared_ptr<Session> session, std::uint64_t id, std::size_t cost,
                       Fill fill) {
  put(mailbox_, Letter{std::move(session), id, cost, std::move(fill)});
}

void IoThread::deliver(std::shared_ptr<Session> session, Push push) {
  put(parcels_, Parcel{std::move(session), std::move(push)});
}

void IoThread::put(auto& box, auto mail) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    first = mailbox_.empty() && parcels_.empty();
    box.push_back(std::move(mail));
  }
  if (first) asio::post(context_, [this] { open_mailbox(); });
}

void IoThread::open_mailbox() {
  {
    const std::lock_guard lock(mutex_);
    std::swap(mailbox_, opened_);
    std::swap(parcels_, opened_parcels_);
  }
  for (const Letter& letter : opened_) {
    letter.session->answer(letter.id, letter.cost, letter.fill);
  }
  for (const Parcel& parcel : opened_parcels_) parcel.session->push(parcel.push);
  for (const Letter& letter : opened_) letter.session->answers_gathered();
  for (const Parcel& parcel : opened_parcels_) parcel.session->answers_gathered();
  opened_.clear();
  opened_parcels_.clear();
}

void IoThread::add(const std::shared_ptr<Session>& session) {
  sessions_.insert(session);
  session_count_.store(sessions_.size());
  if (stopping_) session->stop();
}

void IoThread::remove(const std::shared_ptr<Session>& session) {
  sessions_.erase(session);
  session_count_.store(sessions_.size());
}

void IoThread::stop_sessions() {
  asio::post(context_, [this] {
    stopping_ = true;
    const auto sessions = sessions_;  // which remove themselves
    for (const auto& session : sessions) session->stop();
  });
}

void IoThread::join() {
  if (!thread_.joinable()) return;
  asio::post(context_, [this] {
    const auto sessions = sessions_;
    for (const auto& session : sessions) session->abort();
    work_.reset();  // the thread ends once the handlers of what was closed have run
  });
  thread_.join();
  std::vector<Letter> unread;
  std::vector<Parcel> undelivered;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    std::swap(unread, mailbox_);
    std::swap(undelivered, parcels_);
  }
}

}  // namespace holdfast::api
