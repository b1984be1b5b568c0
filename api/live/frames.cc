#include "api/live/frames.h"

#include <capnp/message.h>
#include <cstring>
#include <variant>

#include "api/convert_answer.h"
#include "api/framing.h"

namespace holdfast::api {
namespace {

constexpr std::size_t kFrameWords = 64u << 10;

template <class Name>
std::size_t bytes_of(const std::optional<Name>& name) {
  return name ? name->view().size() : 0;
}

std::size_t bytes_of(const Attributes& attributes) {
  constexpr std::size_t kPointers = 32;
  std::size_t bytes = 0;
  for (const auto& [name, value] : attributes) {
    bytes += kPointers + name.view().size() + value.view().size();
  }
  return bytes;
}

// Of what its type may have at any length.
std::size_t bytes_of(const Happening& happening) {
  if (const auto* defined = std::get_if<Defined>(&happening)) {
    return bytes_of(defined->definition.attributes);
  }
  if (const auto* changed = std::get_if<Changed>(&happening)) {
    return bytes_of(changed->definition.attributes);
  }
  return 0;
}

}  // namespace

std::size_t wire_bytes(const Event& event) {
  constexpr std::size_t kNumbers = 512;
  const Personal& personal = event.personal;
  return kNumbers + event.resource.view().size() + bytes_of(event.key) + event.actor.view().size() +
         bytes_of(event.request_id) + bytes_of(event.correlation_id) + bytes_of(personal.holder) +
         bytes_of(personal.cart) + bytes_of(personal.label) + bytes_of(personal.on_behalf_of) +
         bytes_of(personal.reason) + personal.source.size() + bytes_of(event.happening);
}

FrameMaker::FrameMaker() : scratch_(kj::heapArray<capnp::word>(kFrameWords)) {
  std::memset(scratch_.begin(), 0, scratch_.asBytes().size());
}

std::vector<std::byte> FrameMaker::frame(std::uint64_t id, Position reached,
                                         const std::function<void(wire::Response::Builder)>& fill) {
  capnp::MallocMessageBuilder message(scratch_);
  auto response = message.initRoot<wire::Response>();
  response.setId(id);
  response.setPosition(reached.value);
  fill(response);
  std::vector<std::byte> bytes;
  append_framed(message, bytes);
  return bytes;
}

std::vector<std::byte> FrameMaker::events(std::uint64_t id, Position reached,
                                          std::span<const Event* const> events) {
  return frame(id, reached, [&](wire::Response::Builder response) {
    auto list = response.initEvents(static_cast<unsigned>(events.size()));
    for (unsigned i = 0; i < list.size(); ++i) put(*events[i], list[i]);
  });
}

std::vector<std::byte> FrameMaker::mark(std::uint64_t id, Position reached,
                                        const std::function<void(wire::Mark::Builder)>& fill) {
  return frame(id, reached, [&](wire::Response::Builder response) { fill(response.initMark()); });
}

}  // namespace holdfast::api
