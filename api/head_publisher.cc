#include "api/head_publisher.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ledger/proof/signed_head.h"

namespace holdfast::api {
namespace {

// Appends durably. What a crash has cut off before is left, and an empty line put behind it.
tl::expected<void, std::string> append(const std::string& path, const std::string& note) {
  const auto failed = [&](const char* what) {
    return tl::unexpected(std::string("cannot ") + what + " " + path + ": " + std::strerror(errno));
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return failed("open");
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file, &last, 1, size - 1) != 1) last = '\n';
  const std::string text = (size > 0 ? last == '\n' ? "\n" : "\n\n" : "") + note;
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  errno = error;
  if (!written) return failed("write");
  return {};
}

}  // namespace

tl::expected<StatedHead, store::StorageError> state_head(
    const store::Log& log, const projections::Projections& projections,
    const proof::SigningKey& key, std::span<const std::string> asked, Instant now) {
  auto ends = projections.path_ends(asked);
  if (!ends) return tl::unexpected(ends.error());
  const auto root = store::merkle_root(
      ends->at.value, [&](store::MerkleNode node) { return log.records().node(node); });
  if (!root) return tl::unexpected(root.error());
  const proof::Head head{log.id(), ends->at.value, *root, now, ends->proofs.root};
  return StatedHead{head, proof::sign_head(head, key), std::move(ends->proofs.proofs)};
}

HeadPublisher::HeadPublisher(const store::Log& log, const projections::Projections& projections,
                             const proof::SigningKey& key, std::string file,
                             std::chrono::milliseconds every,
                             std::function<void(const std::string& why)> failed)
    : log_(log),
      projections_(projections),
      key_(key),
      file_(std::move(file)),
      every_(every),
      failed_(std::move(failed)),
      thread_([this] { run(); }) {}

HeadPublisher::~HeadPublisher() { stop(); }

void HeadPublisher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void HeadPublisher::run() {
  std::unique_lock lock(mutex_);
  for (bool last = false; !last;) {
    last = changed_.wait_for(lock, every_, [this] { return stopping_; });
    lock.unlock();
    publish();
    lock.lock();
  }
}

void HeadPublisher::publish() {
  const Position head = log_.head();
  if (ever_ && head == published_) return;
  if (!projections_.wait_for(head)) return failed_("the projections have stopped");
  const auto stated = state_head(log_, projections_, key_, {}, log_.latest());
  if (!stated) return failed_(stated.error().what);
  if (const auto appended = append(file_, stated->note); !appended)
    return failed_(appended.error());
  published_ = {stated->head.size};
  ever_ = true;
}

}  // namespace holdfast::api
