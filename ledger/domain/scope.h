#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ledger/domain/ids.h"

namespace holdfast {

// The part of the tree that an asker may see: all of it, or what lies at and below some paths.
// Cheap to copy; any thread.
class Scope {
 public:
  Scope() = default;  // all of it
  explicit Scope(std::vector<Path> paths)
      : paths_(std::make_shared<const std::vector<Path>>(std::move(paths))) {}

  bool covers(std::string_view path) const {
    return any([&](std::string_view own) { return at_or_below(path, own); });
  }
  // Covers the path or something below it.
  bool reaches(std::string_view path) const {
    return any(
        [&](std::string_view own) { return at_or_below(path, own) || at_or_below(own, path); });
  }
  bool operator==(const Scope& other) const {
    return paths_ && other.paths_ ? *paths_ == *other.paths_ : paths_ == other.paths_;
  }

 private:
  template <class Test>
  bool any(const Test& test) const {
    if (!paths_) return true;
    for (const Path& path : *paths_) {
      if (test(path.view())) return true;
    }
    return false;
  }

  std::shared_ptr<const std::vector<Path>> paths_;
};

}  // namespace holdfast
