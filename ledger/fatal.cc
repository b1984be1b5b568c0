#include "ledger/fatal.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace holdfast {
namespace {

// Without destructors: they would wait for threads that will answer no more.
[[noreturn]] void print_and_exit(const store::StorageError& error) {
  std::fprintf(stderr, "fatal: %s\n", error.what.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

Fatal::Fatal() : handler_(print_and_exit) {}

void Fatal::set_handler(Handler handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

void Fatal::raise(const store::StorageError& error) {
  if (over_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  handler_(error);
}

}  // namespace holdfast
