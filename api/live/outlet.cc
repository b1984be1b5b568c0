#include "api/live/outlet.h"

#include <utility>

namespace holdfast::api {

void Outlet::send(std::vector<std::byte> frames, Push::Kind kind) {
  unsent_.fetch_add(frames.size());
  budget_->take(frames.size());
  post_({shared_from_this(), std::move(frames), kind});
}

bool Outlet::wait_for_room(std::size_t bytes) {
  if (has_room(bytes)) return true;
  hub_waits_.store(true);
  return has_room(bytes);  // what was sent meanwhile may not have seen that the hub waits
}

std::optional<wire::SubscriptionEnd> Outlet::asked_to_end() const {
  const int why = asked_to_end_.load();
  if (why == kNotAsked) return std::nullopt;
  return static_cast<wire::SubscriptionEnd>(why);
}

void Outlet::sent(std::size_t bytes) {
  unsent_.fetch_sub(bytes);
  budget_->give_back(bytes);
  if (hub_waits_.exchange(false)) wake_();
}

void Outlet::end(wire::SubscriptionEnd why) {
  int not_asked = kNotAsked;
  if (asked_to_end_.compare_exchange_strong(not_asked, static_cast<int>(why))) wake_();
}

void Outlet::close() {
  if (!closed_.exchange(true)) wake_();
}

}  // namespace holdfast::api
