#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ledger/domain/event.h"

namespace holdfast::cli {

// The events that `holdfast history` finds with the same filters; what is empty lets all through.
struct EventFilter {
  std::string resource = {};  // at and below; of an event about two resources, either
  std::string key = {};
  std::string holder = {};
  std::string actor = {};
  std::string type = {};
  std::string correlation = {};

  bool passes(const Event& event) const;
  // Those that are not empty, by the words of the command line.
  std::vector<std::pair<std::string, std::string>> given() const;
};

}  // namespace holdfast::cli
