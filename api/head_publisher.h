#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/time.h"
#include "ledger/proof/path_proof.h"
#include "ledger/proof/signing_key.h"
#include "ledger/store/log.h"
#include "projections/projections.h"

namespace holdfast::api {

// A head with a root over the last positions of all paths, and the proofs of those asked for.
struct StatedHead {
  proof::Head head;
  std::string note;
  std::vector<proof::PathProof> proofs;
};
// Of the position that the projections have reached. `now` is the ledger's instant. Takes as long
// as there are paths. From any thread.
tl::expected<StatedHead, store::StorageError> state_head(
    const store::Log& log, const projections::Projections& projections,
    const proof::SigningKey& key, std::span<const std::string> asked, Instant now);

// Appends signed heads to a file outside of DATA, every so often while the log grows, and at the
// end: whoever keeps a copy can show that the log was shortened or changed later.
class HeadPublisher {
 public:
  // `failed` is told why a head could not be published; the next is tried all the same. All outlive
  // the publisher.
  HeadPublisher(const store::Log& log, const projections::Projections& projections,
                const proof::SigningKey& key, std::string file, std::chrono::milliseconds every,
                std::function<void(const std::string& why)> failed);
  ~HeadPublisher();  // stop()

  // Publishes the last head. Before the projections stop. Idempotent.
  void stop();

 private:
  void run();
  void publish();

  const store::Log& log_;
  const projections::Projections& projections_;
  const proof::SigningKey& key_;
  const std::string file_;
  const std::chrono::milliseconds every_;
  const std::function<void(const std::string&)> failed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;

  Position published_;  // the thread's own
  bool ever_ = false;
  std::thread thread_;
};

}  // namespace holdfast::api
