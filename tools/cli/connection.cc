#include "tools/cli/connection.h"

#include "api/text/time_text.h"

namespace holdfast::cli {

api::ClientOptions client_options(const Options& options) {
  api::ClientOptions client;
  client.server = options.server;
  client.actor = options.actor;
  client.token = options.token;
  client.program = "holdfast " HOLDFAST_VERSION;
  client.connect_timeout =
      std::min(client.connect_timeout, std::chrono::milliseconds(options.timeout.ms));
  // Somebody is waiting at the terminal: no server is an answer too.
  client.give_up_after = std::chrono::milliseconds(0);
  return client;
}

Connection::Connection(const Options& options)
    : options_(options), deadline_(io_), client_(io_, client_options(options)) {}

tl::expected<api::Response, std::string> Connection::call(api::Request request) {
  std::optional<api::Client::Answer> answer;
  client_.send(std::move(request), [&](api::Client::Answer a) { answer = std::move(a); });
  if (!wait_until([&] { return answer.has_value(); })) {
    client_.close();
    io_.restart();
    io_.run();
    return tl::unexpected(too_late() +
                          ": whether it was carried out is not known; ask again (a command with "
                          "--request is safe to repeat), or wait longer with --timeout");
  }
  if (!*answer) return tl::unexpected(explain(answer->error()));
  return std::move(**answer);
}

bool Connection::wait_until(const std::function<bool()>& done) {
  bool timed_out = false;
  deadline_.expires_after(std::chrono::milliseconds(options_.timeout.ms));
  deadline_.async_wait([&](const boost::system::error_code& error) { timed_out = !error; });
  io_.restart();
  while (!done() && !timed_out) io_.run_one();
  deadline_.cancel();
  io_.restart();
  io_.poll();
  return done();
}

void Connection::send(api::Request request, api::Client::Handler handler) {
  client_.send(std::move(request), std::move(handler));
}

void Connection::wait(std::size_t unanswered) {
  io_.restart();
  while (client_.unanswered() > unanswered) io_.run_one();
}

void Connection::wait_for(std::chrono::milliseconds time) {
  bool over = false;
  deadline_.expires_after(time);
  deadline_.async_wait([&](const boost::system::error_code& error) { over = !error; });
  io_.restart();
  while (client_.unanswered() > 0 && !over) io_.run_one();
  deadline_.cancel();
  io_.restart();
  io_.poll();
}

std::string Connection::explain(const api::ClientError& error) const {
  switch (error.kind) {
    case api::ClientError::Kind::not_sent:
      return "no server at " + options_.server +
             ": start one with holdfastd or tools/up, or name another with --server (" +
             error.text + ")";
    case api::ClientError::Kind::unknown:
      return error.text +
             ": whether it was carried out is not known; ask again (a command with --request is "
             "safe to repeat)";
    case api::ClientError::Kind::server:
      return error.text;
  }
  return error.text;
}

std::string Connection::too_late() const {
  return "no answer from " + options_.server + " within " + api::to_text(options_.timeout);
}

}  // namespace holdfast::cli
