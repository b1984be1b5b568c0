#include "api/session.h"

#include <capnp/serialize.h>
#include <kj/debug.h>
#include <kj/exception.h>
#include <spdlog/spdlog.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>

#include "api/endpoint.h"
#include "api/io_thread.h"

namespace holdfast::api {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr int kHeartbeatsToAnswer = 3;  // within so many intervals
constexpr std::size_t kMaxProgramBytes = 200;
constexpr std::size_t kFirstBufferBytes = 16u << 10;
constexpr std::size_t kKeptBufferBytes = 1u << 20;

capnp::ReaderOptions limits_for(Frame frame) {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = traversal_limit_words(frame.size());
  options.nestingLimit = kMaxNesting;
  return options;
}

// What a request may come to occupy until its answer is sent.
std::size_t cost_of(wire::Request::Reader request, std::size_t frame_bytes) {
  constexpr std::size_t kPage = 4u << 20;
  constexpr std::size_t kSmall = 4u << 10;
  switch (request.which()) {
    case wire::Request::BATCH:
    case wire::Request::IMPORT_LINES:
      return kSmall + 4 * frame_bytes;
    case wire::Request::QUERY: {
      const auto query = request.getQuery();
      return query.isClaim() || query.isHead() ? kSmall + frame_bytes : kPage + frame_bytes;
    }
    case wire::Request::PROOF:
    case wire::Request::QUERIES:
      return kPage + frame_bytes;
    default:
      return kSmall + frame_bytes;
  }
}

Fill overloaded() {
  return [](wire::Response::Builder response) {
    response.initRefused().setReason(wire::Reason::OVERLOADED);
  };
}

}  // namespace

Session::Session(asio::ip::tcp::socket socket, std::shared_ptr<IoThread> thread, Dispatch& dispatch,
                 Hub& hub, std::shared_ptr<SessionBudget> budget, const SessionTimes& times)
    : thread_(std::move(thread)),
      socket_(std::move(socket)),
      deadline_(socket_.get_executor()),
      silence_(socket_.get_executor()),
      dispatch_(dispatch),
      hub_(hub),
      budget_(std::move(budget)),
      times_(times),
      reader_(kFirstBufferBytes) {
  account_receive_buffer();
}

Session::~Session() { budget_->give_back(receive_bytes_ + in_flight_bytes_ + unsent_bytes_); }

void Session::start() {
  if (life_ != Life::greeting) return;
  error_code error;
  const auto peer = socket_.remote_endpoint(error);
  if (!error) tune(socket_, times_.peer, error);
  if (error) return close();
  source_ = to_text(peer);
  deadline_.expires_after(times_.hello);
  deadline_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && self->life_ == Life::greeting) self->close();
  });
  read();
}

void Session::turn_away(wire::ErrorKind kind, const std::string& text) {
  fail(0, kind, text);
  answers_gathered();
}

void Session::stop() {
  if (life_ != Life::greeting && life_ != Life::open) return;
  drain();
  answers_gathered();
}

// The hub sends what ends a subscription; the connection is not done before that.
void Session::drain() {
  life_ = Life::draining;
  for (const auto& [id, outlet] : subscriptions_) outlet->end(wire::SubscriptionEnd::STOPPING);
}

void Session::abort() { close(); }

bool Session::may_read() const {
  const SessionLimits& limits = budget_->limits();
  return (life_ == Life::greeting || life_ == Life::open) &&
         in_flight_ < limits.in_flight_requests && in_flight_bytes_ < limits.in_flight_bytes &&
         unsent_bytes_ < limits.unsent_bytes;
}

void Session::read() {
  if (reading_ || !may_read()) return;
  reading_ = true;
  const auto space = reader_.space();
  account_receive_buffer();
  if (budget_->exhausted() && reader_.pending_bytes() > kFirstBufferBytes) {
    fail(0, wire::ErrorKind::UNAVAILABLE, "the server is short of memory for requests");
    return answers_gathered();
  }
  socket_.async_read_some(asio::buffer(space.data(), space.size()),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            self->reading_ = false;
                            if (self->life_ == Life::lingering)
                              return error ? self->close() : self->discard();
                            if (self->life_ == Life::closed) return;
                            if (error == asio::error::eof) return self->stop();
                            if (error) return self->close();
                            self->reader_.filled(bytes);
                            self->advance();
                          });
}

// Takes the frames that are there, then reads on. Answers that a request brought at once are sent
// together.
void Session::advance() {
  while (may_read()) {
    const auto frame = reader_.next();
    if (!frame) {
      fail(0, wire::ErrorKind::BAD_MESSAGE, std::string(describe(frame.error())));
    } else if (*frame) {
      take(**frame);
    } else {
      break;
    }
  }
  if (!gathered_.empty()) write();
  read();
  settle();
}

void Session::take(Frame frame) {
  std::uint64_t id = 0;
  std::size_t cost = 0;
  const std::size_t in_flight_before = in_flight_;
  try {
    capnp::FlatArrayMessageReader message(kj::arrayPtr(frame.data(), frame.size()),
                                          limits_for(frame));
    const auto request = message.getRoot<wire::Request>();
    id = request.getId();
    if (turn_away_if_revoked()) return;
    if (request.isHello() || life_ == Life::greeting) return greet(request);
    if (request.isSubscription()) return take_subscription(request);
    if (budget_->exhausted()) return encode(id, overloaded());
    cost = cost_of(request, frame.size_bytes());
    dispatch_.handle(request, *caller_, reply_to(id, cost));
  } catch (const kj::Exception& malformed) {
    if (in_flight_ > in_flight_before) answered(cost);  // there will be no answer
    fail(id, wire::ErrorKind::BAD_MESSAGE,
         std::string("malformed message: ") + malformed.getDescription().cStr());
  }
}

void Session::greet(wire::Request::Reader request) {
  if (life_ != Life::greeting || !request.isHello()) {
    const char* text = life_ == Life::greeting ? "the first message must be a hello"
                                               : "only the first message may be a hello";
    return fail(request.getId(), wire::ErrorKind::BAD_MESSAGE, text);
  }
  // Read before the hello is handed on, since it may be malformed.
  const std::string_view program = request.getHello().getProgram().cStr();
  auto caller = dispatch_.greet(request.getHello(), source_, reply_to(request.getId(), 0));
  if (!caller) {
    answered(0);
    encode(request.getId(), caller.error());
    drain();
    return;
  }
  caller_ = std::move(*caller);
  spdlog::debug("{}: actor '{}', program '{}'", source_, caller_->actor().view(),
                is_name(program, kMaxProgramBytes) ? program : "not named");
  life_ = Life::open;
  deadline_.cancel();
}

// What the token gave is looked at again whenever something is asked or about to be told.
bool Session::turn_away_if_revoked() {
  if (!caller_ || dispatch_.is_still_granted(*caller_)) return false;
  for (const auto& [id, outlet] : subscriptions_) outlet->close();
  subscriptions_.clear();
  fail(0, wire::ErrorKind::BAD_TOKEN, "the token was taken back or changed");
  return true;
}

Reply Session::reply_to(std::uint64_t id, std::size_t cost) {
  struct Ticket {
    std::shared_ptr<Session> session;
    std::uint64_t id;
    std::size_t cost;
  };
  ++in_flight_;
  in_flight_bytes_ += cost;
  budget_->take(cost);
  return [ticket = Ticket{shared_from_this(), id, cost}](Fill fill) {
    ticket.session->thread_->deliver(ticket.session, ticket.id, ticket.cost, std::move(fill));
  };
}

void Session::take_subscription(wire::Request::Reader request) {
  const auto subscription = request.getSubscription();
  switch (subscription.which()) {
    case wire::Subscription::SUBSCRIBE:
      return subscribe(request);
    case wire::Subscription::UNSUBSCRIBE: {
      const auto at = subscriptions_.find(subscription.getUnsubscribe());
      if (at != subscriptions_.end()) at->second->end(wire::SubscriptionEnd::UNSUBSCRIBED);
      return encode(request.getId(), done_answer(hub_.head()));
    }
    case wire::Subscription::HEARD:
      heartbeat_unanswered_ = false;
      silence_.cancel();
      return;
  }
  KJ_FAIL_REQUIRE("about a subscription, but what, this server does not know");
}

void Session::subscribe(wire::Request::Reader request) {
  const std::uint64_t id = request.getId();
  KJ_REQUIRE(!subscriptions_.contains(id), "a subscription has this id already", id);
  if (budget_->exhausted()) return encode(id, overloaded());
  const AccessRecorder* const recorder = dispatch_.recorder();
  if (recorder != nullptr) {
    if (const auto error = recorder->unrecordable(request)) return encode(id, *error);
  }
  const auto asking = recorder != nullptr ? recorder->asking(request, *caller_) : nullptr;
  const Position at = hub_.head();
  auto refusal = refuse_subscription(id, request.getSubscription().getSubscribe());
  if (!refusal) {
    if (asking) asking->begun(at);
    return;
  }
  const Fill refused = refused_answer(std::move(*refusal), hub_.head());
  encode(id, [&](wire::Response::Builder response) {
    refused(response);
    if (asking) asking->answered(response);
  });
}

// Begins it, unless it is refused.
std::optional<Refusal> Session::refuse_subscription(std::uint64_t id,
                                                    wire::Subscribe::Reader request) {
  const auto asked = to_subscribe(request, caller_->grant.scope);
  if (!asked) return asked.error();
  const std::size_t most = budget_->limits().subscriptions;
  if (subscriptions_.size() >= most) {
    Refusal refusal{Reason::limit};
    refusal.name = "subscriptions";
    refusal.max = static_cast<std::int64_t>(most);
    return refusal;
  }
  auto outlet = std::make_shared<Outlet>(
      id, budget_,
      [thread = thread_, self = weak_from_this()](Push push) {
        if (auto session = self.lock()) thread->deliver(std::move(session), std::move(push));
      },
      [hub = &hub_] { hub->wake(); });
  if (const auto done = hub_.subscribe(*asked, outlet); !done) return done.error();
  subscriptions_.emplace(id, std::move(outlet));
  return std::nullopt;
}

void Session::push(const Push& push) {
  if (life_ == Life::closed || push.outlet->closed()) return;
  if (life_ == Life::open && turn_away_if_revoked()) return;
  gathered_.insert(gathered_.end(), push.frames.begin(), push.frames.end());
  pushes_gathered_.emplace_back(push.outlet, push.frames.size());
  if (push.kind == Push::Kind::last) subscriptions_.erase(push.outlet->id());
  if (push.kind == Push::Kind::heartbeat) await_heard();
}

// A peer whose kernel takes the bytes and that never answers is gone all the same. Held back from
// reading by its limits, the server cannot know, and goes on waiting.
void Session::await_heard() {
  if (heartbeat_unanswered_) return;
  heartbeat_unanswered_ = true;
  count_silence();
}

void Session::count_silence() {
  silence_.expires_after(
      std::chrono::milliseconds(kHeartbeatsToAnswer * hub_.options().heartbeat.ms));
  silence_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (cancelled || !self->heartbeat_unanswered_) return;
    if (!self->may_read()) return self->count_silence();
    spdlog::info("{}: does not answer heartbeats; closing", self->source_);
    self->close();
  });
}

void Session::answered(std::size_t cost) {
  --in_flight_;
  in_flight_bytes_ -= cost;
  budget_->give_back(cost);
}

void Session::answer(std::uint64_t id, std::size_t cost, const Fill& fill) {
  answered(cost);
  if (life_ == Life::closed || life_ == Life::lingering) return;
  encode(id, fill);
}

void Session::answers_gathered() {
  if (!gathered_.empty()) write();
  if (!reading_ && may_read()) return advance();
  settle();
}

void Session::encode(std::uint64_t id, const Fill& fill) {
  capnp::MallocMessageBuilder message(thread_->scratch());
  auto response = message.initRoot<wire::Response>();
  response.setId(id);
  fill(response);
  const std::size_t gathered_before = gathered_.size();
  append_framed(message, gathered_);
  unsent_bytes_ += gathered_.size() - gathered_before;
  budget_->take(gathered_.size() - gathered_before);
}

void Session::fail(std::uint64_t id, wire::ErrorKind kind, const std::string& text) {
  if (life_ == Life::closed || life_ == Life::lingering) return;
  spdlog::info("{}: {}; closing", source_, text);
  encode(id, error_answer(kind, text));
  drain();
}

void Session::write() {
  if (write_running_ || life_ == Life::closed) return;
  write_running_ = true;
  std::swap(writing_, gathered_);
  std::swap(pushes_writing_, pushes_gathered_);
  asio::async_write(socket_, asio::buffer(writing_),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->write_running_ = false;
                      if (error) return self->close();
                      self->written();
                      self->answers_gathered();
                    });
}

void Session::written() {
  std::size_t answers = writing_.size();
  for (const auto& [outlet, bytes] : pushes_writing_) {
    outlet->sent(bytes);
    answers -= bytes;
  }
  pushes_writing_.clear();
  // The heartbeat waits behind what a slow reader takes bit by bit.
  if (heartbeat_unanswered_ && !pushes_gathered_.empty()) count_silence();
  unsent_bytes_ -= answers;
  budget_->give_back(answers);
  writing_.clear();
  // A buffer that grew for one large answer is not kept by a connection that falls silent.
  if (writing_.capacity() > kKeptBufferBytes) writing_ = {};
}

// A connection that drains is done once everything was answered and sent.
void Session::settle() {
  if (life_ != Life::draining || in_flight_ > 0 || !subscriptions_.empty()) return;
  if (write_running_ || !gathered_.empty()) return;
  linger();
}

// Closing with unread bytes in the socket would reset the connection and take from the peer the
// answers it has not read yet.
void Session::linger() {
  life_ = Life::lingering;
  error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error) return close();
  deadline_.expires_after(times_.linger);
  deadline_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled) self->close();
  });
  discard();
}

void Session::discard() {
  if (reading_ || life_ != Life::lingering) return;
  reading_ = true;
  reader_ = FrameReader(kFirstBufferBytes);
  const auto space = reader_.space();
  socket_.async_read_some(asio::buffer(space.data(), space.size()),
                          [self = shared_from_this()](error_code error, std::size_t) {
                            self->reading_ = false;
                            if (error) return self->close();
                            self->discard();
                          });
}

void Session::close() {
  if (life_ == Life::closed) return;
  life_ = Life::closed;
  if (caller_) dispatch_.farewell(*caller_);
  error_code ignored;
  deadline_.cancel();
  silence_.cancel();
  for (const auto& [id, outlet] : subscriptions_) outlet->close();
  subscriptions_.clear();
  socket_.close(ignored);
  thread_->remove(shared_from_this());
}

void Session::account_receive_buffer() {
  const std::size_t now = reader_.capacity_bytes();
  if (now > receive_bytes_) budget_->take(now - receive_bytes_);
  if (now < receive_bytes_) budget_->give_back(receive_bytes_ - now);
  receive_bytes_ = now;
}

}  // namespace holdfast::api
