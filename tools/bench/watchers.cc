#include "tools/bench/watchers.h"

#include <boost/asio/post.hpp>

namespace holdfast::tools {

Watchers::Watchers(const api::ClientOptions& options) : options_(options) {}

Watchers::~Watchers() { stop(); }

tl::expected<void, std::string> Watchers::start(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) add(path);
  while (live_ < clients_.size() && !failed_) io_.run_one();
  if (failed_) return tl::unexpected(*failed_);
  if (!clients_.empty()) thread_ = std::thread([this] { io_.run(); });
  return {};
}

void Watchers::add(const std::string& path) {
  clients_.push_back(std::make_unique<api::Client>(io_, options_));
  api::Request request;
  request.root().initSubscription().initSubscribe().setResource(path);
  const auto fail = [this](const std::string& why) {
    if (!failed_) failed_ = "a watcher: " + why;
  };
  clients_.back()->subscribe(std::move(request),
                             {.event = [this](wire::Event::Reader) { ++seen_; },
                              .caught_up = [this](std::uint64_t) { ++live_; },
                              .interrupted = fail,
                              .ended =
                                  [fail](const api::Client::Answer& answer) {
                                    fail(answer ? "refused" : answer.error().text);
                                  }});
}

tl::expected<std::uint64_t, std::string> Watchers::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
  if (failed_) return tl::unexpected(*failed_);
  return seen_;
}

}  // namespace holdfast::tools
