#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "ledger/store/storage_error.h"

namespace holdfast {

// The end of a ledger that storage failed, or that was abandoned: from then on nothing is answered.
// Any thread.
class Fatal {
 public:
  using Handler = std::function<void(const store::StorageError&)>;

  Fatal();

  void set_handler(Handler handler);
  // The first error goes to the handler; later ones follow from it.
  void raise(const store::StorageError& error);
  // Without an error: nobody wants to hear of any.
  void silence() { over_.store(true); }
  bool over() const { return over_.load(); }

 private:
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  Handler handler_;
};

}  // namespace holdfast
