#include "tools/cli/event_filter.h"

namespace holdfast::cli {
namespace {

template <class Name>
bool is(const std::optional<Name>& name, const std::string& wanted) {
  return wanted.empty() || (name && name->view() == wanted);
}

}  // namespace

bool EventFilter::passes(const Event& event) const {
  const auto asked_for = [&](std::string_view path) { return at_or_below(path, resource); };
  return any_path(event, asked_for) && is(event.key, key) && is(event.personal.holder, holder) &&
         (actor.empty() || event.actor.view() == actor) &&
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
