#pragma once

namespace holdfast {

// A bug has been found: says what, where, and stops the process. On in production: an answer from
// a state that cannot be is worse than none.
[[noreturn]] void broken_invariant(const char* what, const char* file, int line);

}  // namespace holdfast

#define HOLDFAST_INVARIANT(condition, what)            \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::holdfast::broken_invariant(what, __FILE__, __LINE__))
