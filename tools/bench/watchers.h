#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "api/client.h"

namespace holdfast::tools {

// Subscribers beside the load, each on a connection and with a path of its own, on one thread.
class Watchers {
 public:
  explicit Watchers(const api::ClientOptions& options);
  ~Watchers();  // stop()

  // Returns once all of them are live. The error is a sentence.
  tl::expected<void, std::string> start(const std::vector<std::string>& paths);
  // How many events they saw, all together, since they were live.
  tl::expected<std::uint64_t, std::string> stop();

 private:
  void add(const std::string& path);

  const api::ClientOptions options_;
  boost::asio::io_context io_{1};
  std::vector<std::unique_ptr<api::Client>> clients_;
  std::size_t live_ = 0;
  std::uint64_t seen_ = 0;
  std::optional<std::string> failed_;
  std::thread thread_;
};

}  // namespace holdfast::tools
