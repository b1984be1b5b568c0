#pragma once

#include <cstdint>
#include <string>

#include "ledger/domain/ids.h"

namespace holdfast::api {

// Who is at the other end of a connection, as its hello said.
struct Caller {
  Actor actor;
  bool is_operator;
  std::string source;            // address of the connection
  std::uint64_t connection = 0;  // a number of its own, for bound holds; 0: none
};

}  // namespace holdfast::api
