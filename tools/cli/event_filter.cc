#include "tools/cli/event_filter.h"

namespace holdfast::cli {
namespace {

template <class Name>
bool is(const std::optional<Name>& name, const std::string& wanted) {
  return wanted.empty() || (name && name->str() == wanted);
}

bool is_at_or_below(const Event& event, const std::string& path) {
  const Path* second = second_resource(event);
  return at_or_below(event.resource.view(), path) ||
         (second != nullptr && at_or_below(second->view(), path));
}

}  // namespace

bool EventFilter::passes(const Event& event) const {
  return is_at_or_below(event, resource) && is(event.key, key) &&
         is(event.personal.holder, holder) && (actor.empty() || event.actor.str() == actor) &&
         (type.empty() || type_name(event.happening) == type) &&
         is(event.correlation_id, correlation);
}

std::vector<std::pair<std::string, std::string>> EventFilter::given() const {
  std::vector<std::pair<std::string, std::string>> given;
  const auto add = [&](const char* word, const std::string& value) {
    if (!value.empty()) given.emplace_back(word, value);
  };
  add("resource", resource);
  add("key", key);
  add("holder", holder);
  add("actor", actor);
  add("type", type);
  add("correlation", correlation);
  return given;
}

}  // namespace holdfast::cli
