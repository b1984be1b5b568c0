#pragma once

#include <string>

namespace holdfast::store {

// A fault of storage. `what` is a sentence for an operator: what is wrong, and what to do.
struct StorageError {
  std::string what;
};

}  // namespace holdfast::store
