#pragma once

#include <capnp/common.h>
#include <kj/array.h>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "api/holdfast.capnp.h"
#include "ledger/domain/event.h"

namespace holdfast::api {

// About what an event takes on the wire, in bytes.
std::size_t wire_bytes(const Event& event);

// Makes the messages of subscriptions. One thread.
class FrameMaker {
 public:
  FrameMaker();

  // All that subscription `id` is to see up to `reached`.
  std::vector<std::byte> events(std::uint64_t id, Position reached,
                                std::span<const Event* const> events);
  std::vector<std::byte> mark(std::uint64_t id, Position reached,
                              const std::function<void(wire::Mark::Builder)>& fill);

 private:
  std::vector<std::byte> frame(std::uint64_t id, Position reached,
                               const std::function<void(wire::Response::Builder)>& fill);

  kj::Array<capnp::word> scratch_;  // zeroed between messages
};

}  // namespace holdfast::api
