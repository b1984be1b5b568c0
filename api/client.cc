#include "api/client.h"

#include <capnp/serialize.h>
#include <algorithm>
#include <boost/asio/post.hpp>

#include "api/client_impl.h"

namespace holdfast::api {

namespace asio = boost::asio;
using boost::system::error_code;

Client::Impl::Impl(asio::io_context& io, ClientOptions options)
    : io_(io),
      options_(std::move(options)),
      ledger_id_(options_.ledger_id),
      socket_(io),
      resolver_(io),
      attempt_timer_(io),
      outage_timer_(io),
      silence_timer_(io),
      random_(std::random_device{}()) {}

void Client::Impl::send(Request request, Handler handler) {
  put(std::move(request), std::move(handler), nullptr);
}

std::uint64_t Client::Impl::put(Request request, Handler handler, std::shared_ptr<Stream> stream) {
  const std::uint64_t id = ++last_id_;
  request.root().setId(id);
  if (capnp::computeSerializedSizeInWords(request.message()) * sizeof(capnp::word) >
      kMaxMessageBytes) {
    asio::post(io_, [handler = std::move(handler)] {
      handler(tl::unexpected(ClientError{ClientError::Kind::not_sent, wire::ErrorKind::BAD_MESSAGE,
                                         "the request is larger than 8 MiB"}));
    });
    return id;
  }
  const Repeat repeat = repeat_of(request.root().asReader());
  if (stream) ++streams_;
  pending_.emplace(id, Pending{std::move(request), std::move(handler), repeat, std::move(stream)});
  to_send_.push_back(id);
  if (link_ == Link::none) {
    connect();
  } else {
    flush_soon();
  }
  return id;
}

void Client::Impl::received(Response response) {
  const auto root = response.root();
  const std::uint64_t id = root.getId();
  if (link_ == Link::connecting && (id == hello_id_ || id == 0)) return greeted(response);
  const auto at = pending_.find(id);
  if (at == pending_.end()) {
    if (!root.isError()) return;
    // The server closes after an error that it cannot assign; asking again would bring it again,
    // but where the token has changed: the next hello says what it gives now, if anything.
    return lost(root.getError().getText().cStr(),
                root.getError().getKind() == wire::ErrorKind::BAD_TOKEN);
  }
  if (root.isError()) {
    const auto error = root.getError();
    return answer(at, tl::unexpected(ClientError{ClientError::Kind::server, error.getKind(),
                                                 error.getText().cStr()}));
  }
  if (at->second.stream && !root.isRefused()) return streamed(id, response);
  if (retry_overloaded(id, at->second, response)) return;
  answer(at, std::move(response));
}

std::uint64_t Client::Impl::subscribe(Request request, Subscriber subscriber) {
  Handler ended = [tell = subscriber.ended](Answer answer) {
    if (tell) tell(std::move(answer));
  };
  return put(std::move(request), std::move(ended), std::make_shared<Stream>(std::move(subscriber)));
}

void Client::Impl::unsubscribe(std::uint64_t subscription) {
  const auto at = pending_.find(subscription);
  if (at == pending_.end() || !at->second.stream) return;
  at->second.stream->silence();
  const bool sent = at->second.sent;
  --streams_;
  pending_.erase(at);
  if (sent) say([&](wire::Subscription::Builder to) { to.setUnsubscribe(subscription); });
}

void Client::Impl::streamed(std::uint64_t id, const Response& response) {
  const std::shared_ptr<Stream> stream = pending_.at(id).stream;
  const auto next = stream->take(response.root());
  if (stream->heartbeat() && !watching_silence_) watch_silence(*stream->heartbeat());
  const auto at = pending_.find(id);
  if (at == pending_.end()) return;  // its subscriber has ended it
  switch (next) {
    case Stream::Next::nothing:
      return;
    case Stream::Next::say_heard:
      return say([&](wire::Subscription::Builder to) { to.setHeard(id); });
    case Stream::Next::subscribe_again:
      at->second.sent = false;
      to_send_.push_back(id);
      return flush_soon();
    case Stream::Next::over:
      return answer(
          at, tl::unexpected(ClientError{ClientError::Kind::server, wire::ErrorKind::UNAVAILABLE,
                                         server() + " cannot read its log"}));
  }
}

// What is not answered, or whose answer nobody waits for.
void Client::Impl::say(const std::function<void(wire::Subscription::Builder)>& fill) {
  if (link_ != Link::ready) return;
  Request request;
  request.root().setId(++last_id_);
  fill(request.root().initSubscription());
  append(request);
  flush_soon();
}

bool Client::Impl::retry_overloaded(std::uint64_t id, Pending& pending, const Response& response) {
  if (!overloaded_whole(response.root())) return false;
  if (pending.overloaded >= options_.overloaded_retries) return false;
  pending.sent = false;
  auto timer = std::make_shared<asio::steady_timer>(io_, backoff(pending.overloaded++));
  timer->async_wait([self = shared_from_this(), id, timer](error_code) {
    const auto at = self->pending_.find(id);
    // After a lost connection it may have been queued already.
    if (at == self->pending_.end() || at->second.sent ||
        std::ranges::find(self->to_send_, id) != self->to_send_.end()) {
      return;
    }
    self->to_send_.push_back(id);
    self->flush_soon();
  });
  return true;
}

void Client::Impl::fail_all(const ClientError& error) {
  outage_ = false;
  outage_timer_.cancel();
  attempts_ = 0;
  to_send_.clear();
  auto failed = std::move(pending_);
  pending_.clear();
  streams_ = 0;
  for (auto& [id, pending] : failed) {
    ClientError own = error;
    // Whatever stopped this connection, an earlier one may have carried it out.
    if (pending.sent) own.kind = ClientError::Kind::unknown;
    asio::post(io_, [handler = std::move(pending.handler), own = std::move(own)] {
      handler(tl::unexpected(own));
    });
  }
}

void Client::Impl::answer(std::map<std::uint64_t, Pending>::iterator at, Answer answer) {
  const Handler handler = std::move(at->second.handler);
  if (at->second.stream) --streams_;
  pending_.erase(at);
  if (answer) return handler(std::move(answer));
  // A failure may come while requests are gone through: the handler must not send meanwhile.
  asio::post(io_, [handler, answer = std::move(answer)] { handler(answer); });
}

void Client::Impl::close() {
  drop_connection();
  fail_all({ClientError::Kind::not_sent, wire::ErrorKind::BAD_MESSAGE, "the client was closed"});
}

Client::Client(asio::io_context& io, ClientOptions options)
    : impl_(std::make_shared<Impl>(io, std::move(options))) {}
Client::~Client() { impl_->close(); }
void Client::send(Request request, Handler handler) {
  impl_->send(std::move(request), std::move(handler));
}
std::uint64_t Client::subscribe(Request request, Subscriber subscriber) {
  return impl_->subscribe(std::move(request), std::move(subscriber));
}
void Client::unsubscribe(std::uint64_t subscription) { impl_->unsubscribe(subscription); }
std::size_t Client::unanswered() const { return impl_->unanswered(); }
std::optional<LedgerId> Client::ledger_id() const { return impl_->ledger_id(); }
void Client::close() { impl_->close(); }

BlockingClient::BlockingClient(ClientOptions options) : client_(io_, std::move(options)) {}
BlockingClient::~BlockingClient() = default;

Client::Answer BlockingClient::call(Request request) {
  std::optional<Client::Answer> answer;
  client_.send(std::move(request), [&](Client::Answer a) { answer = std::move(a); });
  if (io_.stopped()) io_.restart();
  while (!answer) io_.run_one();
  return std::move(*answer);
}

void BlockingClient::send(Request request, Client::Handler handler) {
  client_.send(std::move(request), std::move(handler));
}

void BlockingClient::wait(std::size_t unanswered) {
  if (io_.stopped()) io_.restart();
  while (client_.unanswered() > unanswered) io_.run_one();
  io_.poll();  // failures are told from the io_context
}

Client& BlockingClient::client() { return client_; }

}  // namespace holdfast::api
