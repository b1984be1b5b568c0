#pragma once

#include <random>

#include "ledger/domain/ids.h"
#include "ledger/domain/time.h"

namespace holdfast {

// Keys for claims whose command names none: UUIDs of version 7 (RFC 9562), the ledger's instant in
// front, random bits behind. One thread at a time.
class FreshKeys {
 public:
  FreshKeys();

  Key make(Instant now);

 private:
  std::mt19937_64 random_;
};

}  // namespace holdfast
