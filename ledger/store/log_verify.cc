#include "ledger/store/log_verify.h"

#include <string>
#include <utility>

#include "ledger/domain/text_hash.h"

namespace holdfast::store {
namespace {

tl::unexpected<StorageError> wrong(const Event& event, const std::string& what) {
  return tl::unexpected(StorageError{"position " + std::to_string(event.position.value) + " (" +
                                     std::string(type_name(event.happening)) + "): " + what});
}

}  // namespace

tl::expected<void, StorageError> ChainCheck::check(const Event& event) {
  if (event.recorded_at < recorded_at_) {
    return wrong(event, "it was recorded before the event at the position before it");
  }
  recorded_at_ = event.recorded_at;
  if (auto whole = check_transaction(event); !whole) return whole;
  if (auto linked = follow(event, Chain::resource); !linked) return linked;
  if (event.key) return follow(event, Chain::claim);
  if (event.previous_of_claim) return wrong(event, "it has no key but names a claim's event");
  return {};
}

tl::expected<void, StorageError> ChainCheck::check_transaction(const Event& event) {
  if (transaction_left_ == 0) {
    transaction_ = event.position;
    transaction_left_ = event.transaction_count;
  }
  if (event.transaction != transaction_) {
    return wrong(event, "it names transaction " + std::to_string(event.transaction.value) +
                            " amid transaction " + std::to_string(transaction_.value));
  }
  --transaction_left_;
  return {};
}

tl::expected<void, StorageError> ChainCheck::follow(const Event& event, Chain chain) {
  const bool resource = chain == Chain::resource;
  const std::string_view name = resource ? event.resource.view() : event.key->view();
  const Position named = resource ? event.previous_on_resource : event.previous_of_claim;
  Position& last = (resource ? on_resource_ : of_claim_)[TextHash{}(name)];
  const auto is_of_name = [&](const Event& e) {
    return resource ? e.resource.view() == name : e.key && e.key->view() == name;
  };
  if (named != last) {
    // Unless the last one with this hash belongs to another name, an event was left out.
    const auto names_it = [&](Position position) {
      const auto found = read_(position);
      return found && is_of_name(*found);
    };
    if (!last || names_it(last) || (named && !names_it(named))) {
      return wrong(event, "it names position " + std::to_string(named.value) +
                              " as the one before it of " + std::string(name) + " instead of " +
                              std::to_string(last.value));
    }
  }
  last = event.position;
  return {};
}

}  // namespace holdfast::store
