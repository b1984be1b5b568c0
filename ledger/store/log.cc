#include "ledger/store/log.h"

#include <utility>

#include "ledger/domain/invariant.h"
#include "ledger/store/event_codec.h"

namespace holdfast::store {
namespace {

tl::expected<Event, StorageError> decode_at(Position position, std::string_view bytes) {
  auto event = decode(bytes);
  if (!event) return fail(at_position(position) + ": " + event.error());
  if (event->position != position) {
    return fail(at_position(position) + ": the event there says " + at_position(event->position));
  }
  return std::move(*event);
}

}  // namespace

tl::expected<std::unique_ptr<Log>, StorageError> Log::open(const OpenOptions& options) {
  auto records = RecordLog::open(options);
  if (!records) return tl::unexpected(records.error());
  return std::unique_ptr<Log>(new Log(std::move(*records)));
}

tl::expected<void, StorageError> Log::append(std::span<const Event> events, const GroupNote& note) {
  return append_pieces(std::span(&events, 1), note);
}

tl::expected<void, StorageError> Log::append_pieces(std::span<const std::span<const Event>> pieces,
                                                    const GroupNote& note) {
  if (auto usable = records_->check_usable(); !usable) return usable;
  for (const std::span<const Event> events : pieces) {
    for (const Event& event : events) {
      HOLDFAST_INVARIANT(event.position == records_->next(), "positions are dense");
      encode(event, bytes_);
      records_->add(bytes_);
    }
  }
  return records_->write(note);
}

tl::expected<Event, StorageError> Log::read(Position position) const {
  auto events = read(std::span(&position, 1));
  if (!events) return tl::unexpected(events.error());
  return std::move(events->front());
}

tl::expected<std::vector<Event>, StorageError> Log::read(
    std::span<const Position> positions) const {
  std::vector<Event> events;
  events.reserve(positions.size());
  auto done = records_->read(
      positions,
      [&](Position position, std::string_view record) -> tl::expected<bool, StorageError> {
        auto event = decode_at(position, record);
        if (!event) return tl::unexpected(event.error());
        events.push_back(std::move(*event));
        return true;
      });
  if (!done) return tl::unexpected(done.error());
  return events;
}

tl::expected<void, StorageError> Log::scan(Position from, Position until,
                                           const std::function<bool(Event&&)>& visit) const {
  return records_->scan(
      from, until,
      [&](Position position, std::string_view record) -> tl::expected<bool, StorageError> {
        auto event = decode_at(position, record);
        if (!event) return tl::unexpected(event.error());
        return visit(std::move(*event));
      });
}

}  // namespace holdfast::store
