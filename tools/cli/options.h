#pragma once

#include <string>

#include "ledger/domain/time.h"

namespace holdfast::cli {

// How the program ends, whatever it was asked.
enum class Exit : int { accepted = 0, refused = 1, error = 2 };

// What every subcommand takes.
struct Options {
  std::string server = "127.0.0.1:7420";
  std::string actor;
  std::string token;
  bool json = false;
  Duration timeout{30'000};  // for one answer
};

}  // namespace holdfast::cli
