#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/holdfast.capnp.h"
#include "ledger/domain/event.h"
#include "ledger/domain/refusal.h"
#include "ledger/domain/scope.h"

namespace holdfast::api {

// The paths of the resources that an event is about: one, or two; the second is empty otherwise.
std::array<std::string_view, 2> paths_of(const Event& event);

// Which events a subscription is to see: those that pass everything that is not empty.
struct EventFilter {
  std::string resource = {};  // at and below; of an event about two resources, either
  std::string holder = {};
  std::string type = {};
  Scope scope = {};  // of an event about two resources, either

  bool passes(const Event& event) const;
  // But for the resource.
  bool passes_otherwise(const Event& event) const;
};

// What a subscription asks for, checked in form; forbidden where none of it is in the scope.
struct Subscribe {
  EventFilter filter;
  std::optional<Position> from;  // the first to see; none: from now on
};
tl::expected<Subscribe, Refusal> to_subscribe(wire::Subscribe::Reader subscribe,
                                              const Scope& scope);

}  // namespace holdfast::api
