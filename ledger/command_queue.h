#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "ledger/ledger.h"

namespace holdfast {

// What waits for the writer.
struct SubmitItem {
  std::vector<Submission> commands;
  Ledger::Outcomes done;
};
struct ReadItem {
  Ledger::Read read;
};
struct SweepItem {
  std::size_t limit;
  std::function<void(SweepReport)> done;
};
struct DisconnectItem {
  std::uint64_t connection;
};
struct ConfirmClockItem {
  std::function<void()> done;
};
struct ImportBeginItem {
  Digest file;
  std::function<void(tl::expected<std::uint64_t, Refusal>)> done;
};
struct ImportLinesItem {
  std::vector<ImportLine> lines;
  Ledger::Outcomes done;
};
struct ImportEndItem {
  bool more;
  std::function<void(tl::expected<void, Refusal>)> done;
};
using Item = std::variant<SubmitItem, ReadItem, SweepItem, DisconnectItem, ConfirmClockItem,
                          ImportBeginItem, ImportLinesItem, ImportEndItem>;

// First in, first out, bounded by the number of commands; many threads put, one takes. Other items
// than submitted commands are not refused: who asks bounds them (a session's budget).
class CommandQueue {
 public:
  explicit CommandQueue(std::size_t max_commands) : max_commands_(max_commands) {}

  static constexpr std::size_t kWorthWaking = 64;

  enum class Put { done, full, ended };
  // Moves from the item only when done. One submission larger than the bound enters an empty queue.
  // Without `wake` the item may wait until the next wake(), or until there are kWorthWaking
  // commands.
  Put put(Item& item, bool wake = true);

  // Waits for items, interrupt() or the end, at most `patience` (none: for ever). Moves out the
  // first items, of `max_commands` commands or just over. False: ended, and nothing is left.
  bool take(std::size_t max_commands, std::optional<Duration> patience, std::vector<Item>& items);

  std::size_t commands() const;

  // Lets take() return with what is queued.
  void wake();
  // Lets take() return although nothing is queued.
  void interrupt();
  // Nothing more comes in; what is there is still taken, or dropped.
  void end();
  void drop();

 private:
  const std::size_t max_commands_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::size_t commands_ = 0;
  bool asleep_ = false;  // take() waits and has not been told of what is there
  bool interrupted_ = false;
  bool ended_ = false;
};

}  // namespace holdfast
