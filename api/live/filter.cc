#include "api/live/filter.h"

#include <utility>

#include "ledger/domain/event_type.h"

namespace holdfast::api {
namespace {

std::string_view view(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

tl::unexpected<Refusal> bad_text(const char* field) {
  return tl::unexpected(Refusal{.reason = Reason::bad_text, .field = field});
}

}  // namespace

std::array<std::string_view, 2> paths_of(const Event& event) {
  const Path* second = second_resource(event);
  return {event.resource.view(), second != nullptr ? second->view() : std::string_view{}};
}

bool EventFilter::passes(const Event& event) const {
  if (!passes_otherwise(event)) return false;
  return any_path(event, [&](std::string_view path) { return at_or_below(path, resource); });
}

bool EventFilter::passes_otherwise(const Event& event) const {
  if (!type.empty() && type_name(event.happening) != type) return false;
  if (!any_path(event, [&](std::string_view path) { return scope.covers(path); })) return false;
  if (holder.empty()) return true;
  return event.personal.holder && event.personal.holder->view() == holder;
}

tl::expected<Subscribe, Refusal> to_subscribe(wire::Subscribe::Reader subscribe,
                                              const Scope& scope) {
  Subscribe result;
  result.filter.scope = scope;
  if (subscribe.hasResource()) {
    result.filter.resource = view(subscribe.getResource());
    if (!is_path(result.filter.resource)) {
      return tl::unexpected(Refusal{.reason = Reason::bad_path});
    }
  }
  if (subscribe.hasHolder()) {
    result.filter.holder = view(subscribe.getHolder());
    if (!Holder::make(result.filter.holder)) return bad_text("holder");
  }
  if (subscribe.hasType()) {
    result.filter.type = view(subscribe.getType());
    if (!is_type_name(result.filter.type)) return bad_text("type");
  }
  const bool from_now = subscribe.getFromPosition() == wire::NONE;
  if (!from_now && subscribe.getFromPosition() < 1) {
    return tl::unexpected(Refusal{.reason = Reason::bad_time});
  }
  if (!result.filter.resource.empty() && !scope.reaches(result.filter.resource)) {
    return tl::unexpected(Refusal{.reason = Reason::forbidden});
  }
  if (from_now) return result;
  result.from = Position{static_cast<std::uint64_t>(subscribe.getFromPosition())};
  return result;
}

}  // namespace holdfast::api
