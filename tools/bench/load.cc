#include "tools/bench/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace holdfast::tools {

namespace {

constexpr std::chrono::milliseconds kProgressEvery{500};
constexpr std::size_t kPreparedAhead = 8;  // requests

api::ClientOptions client_options(const BenchOptions& options) {
  api::ClientOptions client;
  client.server = options.server;
  client.actor = "bench";
  client.token = options.token;
  client.program = "holdfast-bench " HOLDFAST_VERSION;
  // A lost connection ends the measurement of its lanes.
  client.give_up_after = std::chrono::milliseconds(0);
  return client;
}

bool all_accepted(wire::Response::Reader response) {
  if (!response.isOutcomes()) return false;
  for (const auto outcome : response.getOutcomes()) {
    if (!outcome.isAccepted()) return false;
  }
  return true;
}

}  // namespace

Load::Load(const BenchOptions& options)
    : options_(options),
      shows_progress_(::isatty(STDERR_FILENO) != 0),
      workload_(options),
      watchers_(client_options(options)),
      end_(io_),
      due_(io_),
      second_(io_),
      progress_(io_) {}

Load::~Load() {
  if (acks_ >= 0) ::close(acks_);
}

tl::expected<LoadResult, std::string> Load::run() {
  if (auto prepared = prepare(); !prepared) return tl::unexpected(prepared.error());
  if (auto opened = open_acks(); !opened) return tl::unexpected(opened.error());
  if (auto started = start_watchers(); !started) return tl::unexpected(started.error());
  connect();
  watch_ = {};
  if (options_.seconds) {
    end_.expires_after(
        std::chrono::microseconds(static_cast<std::int64_t>(*options_.seconds * 1e6)));
    end_.async_wait([this](boost::system::error_code error) { time_is_up_ = !error; });
  }
  second_.expires_after(std::chrono::seconds(1));
  every_second();
  if (shows_progress_) show_progress();
  send_what_is_due();
  while (under_way_ > 0 || (more() && !idle_.empty())) io_.run_one();
  result_.seconds = static_cast<double>(watch_.nanoseconds()) / 1e9;
  if (shows_progress_) fmt::print(stderr, "\r\033[K");
  if (options_.rate && options_.seconds) {
    const auto due = static_cast<std::uint64_t>(*options_.rate * *options_.seconds);
    result_.unsent = due > sent_ + options_.batch ? due - sent_ : 0;
  }
  const auto watched = watchers_.stop();
  if (!watched) return tl::unexpected(watched.error());
  result_.watched = *watched;
  return result_;
}

tl::expected<void, std::string> Load::start_watchers() {
  std::vector<std::string> paths;
  for (unsigned i = 0; i < options_.watchers; ++i) paths.push_back(workload_.part(i));
  return watchers_.start(paths);
}

tl::expected<void, std::string> Load::prepare() {
  api::BlockingClient client(client_options(options_));
  api::Request head;  // to say at once that there is no server
  head.root().initQuery().initHead();
  if (const auto answer = client.call(std::move(head)); !answer) {
    return tl::unexpected(answer.error().text);
  }
  std::string failure;
  const auto look = [&](const api::Client::Answer& answer) {
    if (!answer) {
      failure = answer.error().text;
    } else if (!all_accepted(answer->root())) {
      failure = "the server refused what is to stand before the run";
    }
  };
  if (shows_progress_) fmt::print(stderr, "preparing ...");
  while (auto request = workload_.preparation()) {
    client.send(std::move(*request), look);
    client.wait(kPreparedAhead);
    if (!failure.empty()) break;
  }
  client.wait();
  if (shows_progress_) fmt::print(stderr, "\r\033[K");
  if (!failure.empty()) return tl::unexpected(failure);
  return {};
}

tl::expected<void, std::string> Load::open_acks() {
  if (options_.acks.empty()) return {};
  acks_ = ::open(options_.acks.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (acks_ < 0) return tl::unexpected(options_.acks + ": " + std::strerror(errno));
  return {};
}

// The lanes of one connection are not neighbours: at a low rate all connections have work.
void Load::connect() {
  for (unsigned i = 0; i < options_.connections; ++i) {
    clients_.push_back(std::make_unique<api::Client>(io_, client_options(options_)));
  }
  for (unsigned i = 0; i < options_.pipeline; ++i) {
    for (const auto& client : clients_) {
      lanes_.push_back(std::make_unique<Lane>(Lane{client.get(), {}}));
      idle_.push_back(lanes_.back().get());
    }
  }
}

bool Load::more() const {
  return options_.operations ? sent_ < *options_.operations : !time_is_up_;
}

void Load::send_what_is_due() {
  while (!idle_.empty() && more()) {
    const std::uint64_t now = watch_.nanoseconds();
    if (options_.rate && next_due_ns_ > now) break;
    Lane& lane = *idle_.front();
    idle_.pop_front();
    send(lane, options_.rate ? next_due_ns_ : now);
  }
  if (!options_.rate || idle_.empty() || !more()) return;
  due_.expires_after(std::chrono::nanoseconds(static_cast<std::int64_t>(next_due_ns_) -
                                              static_cast<std::int64_t>(watch_.nanoseconds())));
  due_.async_wait([this](boost::system::error_code error) {
    if (!error) send_what_is_due();
  });
}

void Load::send(Lane& lane, std::uint64_t due_ns) {
  const std::uint64_t at_most = options_.operations ? *options_.operations - sent_ : options_.batch;
  api::Request request = workload_.next(lane.work, at_most);
  const std::uint64_t operations = lane.work.operations();
  sent_ += operations;
  if (options_.rate) {
    next_due_ns_ +=
        static_cast<std::uint64_t>(static_cast<double>(operations) * 1e9 / *options_.rate);
  }
  ++under_way_;
  lane.due_ns = due_ns;
  lane.client->send(std::move(request), [this, &lane](api::Client::Answer answer) {
    answered(lane, std::move(answer));
  });
}

void Load::answered(Lane& lane, api::Client::Answer answer) {
  --under_way_;
  if (!answer) return failed(answer.error().text);  // the lane ends
  const std::uint64_t latency = watch_.nanoseconds() - lane.due_ns;
  (lane.work.commands > 0 ? result_.command_ns : result_.query_ns).record(latency);
  this_second_ns_.record(latency);
  const auto response = answer->root();
  if (acks_ >= 0) acknowledge(lane, response);
  count(lane, response);
  idle_.push_back(&lane);
  send_what_is_due();
}

void Load::failed(const std::string& why) {
  if (result_.errors++ == 0) result_.first_error = why;
}

void Load::count(const Lane& lane, wire::Response::Reader response) {
  if (response.isAnswers()) {
    for (const auto one : response.getAnswers()) {
      ++(one.isRefused() ? result_.refused : result_.queries);
    }
    return;
  }
  if (!response.isOutcomes()) {
    (response.isRefused() ? result_.refused : result_.queries) += lane.work.operations();
    return;
  }
  for (const auto outcome : response.getOutcomes()) {
    ++(outcome.isAccepted() ? result_.accepted : result_.refused);
  }
}

// One write an answer: what is in the file was acknowledged even if this program is killed next.
void Load::acknowledge(const Lane& lane, wire::Response::Reader response) {
  if (!response.isOutcomes()) return;
  const auto outcomes = response.getOutcomes();
  ack_lines_.clear();
  for (unsigned i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].isAccepted() || outcomes[i].getAccepted().getFirstPosition() == 0) continue;
    fmt::format_to(std::back_inserter(ack_lines_), "{} {}\n", lane.work.keys[i],
                   outcomes[i].getAccepted().getFirstPosition());
  }
  for (std::size_t at = 0; at < ack_lines_.size();) {
    const auto written = ::write(acks_, ack_lines_.data() + at, ack_lines_.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(options_.acks + ": " + std::strerror(errno));
    at += static_cast<std::size_t>(written);
  }
}

void Load::every_second() {
  second_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    const std::uint64_t accepted = result_.operations();
    result_.by_second.push_back({accepted - before_second_, this_second_ns_.percentile(0.99)});
    before_second_ = accepted;
    this_second_ns_.clear();
    second_.expires_at(second_.expiry() + std::chrono::seconds(1));
    every_second();
  });
}

void Load::show_progress() {
  progress_.expires_after(kProgressEvery);
  progress_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    const std::uint64_t accepted = result_.operations();
    const double rate = static_cast<double>(accepted - shown_) * 1'000 /
                        static_cast<double>(kProgressEvery.count());
    shown_ = accepted;
    fmt::print(stderr, "\r\033[K{:.0f} s: {} accepted, {:.0f}/s, {} refused",
               static_cast<double>(watch_.nanoseconds()) / 1e9, accepted, rate, result_.refused);
    std::fflush(stderr);
    show_progress();
  });
}

}  // namespace holdfast::tools
