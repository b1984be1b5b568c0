#include "ledger/domain/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace holdfast {

void broken_invariant(const char* what, const char* file, int line) {
  std::fprintf(stderr, "holdfast: broken invariant: %s (%s:%d)\n", what, file, line);
  std::abort();
}

}  // namespace holdfast
