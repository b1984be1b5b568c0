#pragma once

#include <memory>
#include <string_view>

#include "ledger/domain/ids.h"

namespace holdfast::store {

// SHA-256 of bytes that come piece by piece. One thread at a time.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  ~Sha256Stream();

  void add(std::string_view piece);
  // Of what was added so far; more may follow.
  Digest digest() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace holdfast::store
