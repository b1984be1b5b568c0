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

}  // namespace

Load::Load(const BenchOptions& options)
    : options_(options),
      workload_(options),
      watchers_(client_options(options)),
      end_(io_),
      progress_(io_) {}

Load::~Load() {
  if (acks_ >= 0) ::close(acks_);
}

tl::expected<LoadResult, std::string> Load::run() {
  if (auto prepared = prepare(); !prepared) return tl::unexpected(prepared.error());
  if (auto opened = open_acks(); !opened) return tl::unexpected(opened.error());
  if (auto started = start_watchers(); !started) return tl::unexpected(started.error());
  for (unsigned i = 0; i < options_.connections; ++i) {
    clients_.push_back(std::make_unique<api::Client>(io_, client_options(options_)));
    for (unsigned j = 0; j < options_.pipeline; ++j) {
      lanes_.push_back(std::make_unique<Lane>(Lane{clients_.back().get(), {}}));
    }
  }
  watch_ = {};
  if (options_.seconds) {
    end_.expires_after(
        std::chrono::microseconds(static_cast<std::int64_t>(*options_.seconds * 1e6)));
    end_.async_wait([this](boost::system::error_code error) { time_is_up_ = !error; });
  }
  if (::isatty(STDERR_FILENO) != 0) show_progress();
  for (const auto& lane : lanes_) send(*lane);
  while (under_way_ > 0) io_.run_one();
  result_.seconds = static_cast<double>(watch_.nanoseconds()) / 1e9;
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
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
  auto requests = workload_.preparation();
  if (requests.empty()) requests.emplace_back().root().initQuery().initHead();
  for (api::Request& request : requests) {
    const auto answer = client.call(std::move(request));
    if (!answer) return tl::unexpected(answer.error().text);
    if (!answer->root().isOutcomes()) continue;
    for (const auto outcome : answer->root().getOutcomes()) {
      if (outcome.isRefused()) return tl::unexpected(std::string("the server refused to prepare"));
    }
  }
  return {};
}

tl::expected<void, std::string> Load::open_acks() {
  if (options_.acks.empty()) return {};
  acks_ = ::open(options_.acks.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (acks_ < 0) return tl::unexpected(options_.acks + ": " + std::strerror(errno));
  return {};
}

bool Load::more() const {
  return options_.operations ? sent_ < *options_.operations : !time_is_up_;
}

void Load::send(Lane& lane) {
  if (!more()) return;
  const std::uint64_t at_most = options_.operations ? *options_.operations - sent_ : options_.batch;
  api::Request request = workload_.next(lane.work, at_most);
  lane.commands = lane.work.keys.size();
  sent_ += lane.commands;
  ++under_way_;
  lane.sent_ns = watch_.nanoseconds();
  lane.client->send(std::move(request), [this, &lane](api::Client::Answer answer) {
    answered(lane, std::move(answer));
  });
}

void Load::answered(Lane& lane, api::Client::Answer answer) {
  --under_way_;
  if (!answer) {
    if (result_.errors++ == 0) result_.first_error = answer.error().text;
    return;  // the lane ends
  }
  result_.latency_ns.record(watch_.nanoseconds() - lane.sent_ns);
  ++result_.requests;
  const auto response = answer->root();
  if (acks_ >= 0) acknowledge(lane, response);
  count(lane, response);
  send(lane);
}

void Load::count(Lane& lane, wire::Response::Reader response) {
  if (!response.isOutcomes()) {
    (response.isRefused() ? result_.refused : result_.accepted) += lane.commands;
    return;
  }
  for (const auto outcome : response.getOutcomes()) {
    ++(outcome.isAccepted() ? result_.accepted : result_.refused);
  }
}

// One write an answer: what is in the file was acknowledged even if this program is killed next.
void Load::acknowledge(Lane& lane, wire::Response::Reader response) {
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
    if (written < 0) {
      if (result_.errors++ == 0) result_.first_error = options_.acks + ": " + std::strerror(errno);
      return;
    }
    at += static_cast<std::size_t>(written);
  }
}

void Load::show_progress() {
  progress_.expires_after(kProgressEvery);
  progress_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    const double rate = static_cast<double>(result_.accepted - shown_) * 1'000 /
                        static_cast<double>(kProgressEvery.count());
    shown_ = result_.accepted;
    fmt::print(stderr, "\r\033[K{} accepted, {:.0f}/s, {} refused", result_.accepted, rate,
               result_.refused);
    std::fflush(stderr);
    show_progress();
  });
}

}  // namespace holdfast::tools
