#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace holdfast::store {

// A fault of storage. `what` is a sentence for an operator: what is wrong, and what to do.
struct StorageError {
  std::string what;
};

inline tl::unexpected<StorageError> fail(std::string what) {
  return tl::unexpected(StorageError{std::move(what)});
}

}  // namespace holdfast::store
