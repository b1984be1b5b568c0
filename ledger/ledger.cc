#include "ledger/ledger.h"

#include <mutex>
#include <thread>
#include <utility>

#include "ledger/command_queue.h"
#include "ledger/committer.h"
#include "ledger/domain/invariant.h"
#include "ledger/fatal.h"
#include "ledger/writer.h"

namespace holdfast {

class Ledger::Impl {
 public:
  Impl(store::Log& log, State state, const TimeSource& source, const Recall& recall,
       CommittedSink& sink, LedgerOptions options)
      : log_(log),
        options_(std::move(options)),
        queue_(options_.max_queued_commands),
        committer_(log, sink, source, fatal_, counts_, options_.max_group_commands,
                   options_.min_free_disk_bytes),
        writer_(log, std::move(state), source, recall, queue_, committer_, fatal_, counts_,
                options_),
        thread_([this] { writer_.run(); }) {}

  void put(Item item) { queue_.put(item); }

  void submit(std::vector<Submission> commands, Outcomes done) {
    const std::size_t count = commands.size();
    Item item = SubmitItem{std::move(commands), std::move(done)};
    if (queue_.put(item, options_.wake_on_submit) != CommandQueue::Put::full) return;
    counts_.refusals[static_cast<std::size_t>(Reason::overloaded)].add(count);
    const Outcome overloaded = tl::unexpected(Refusal{.reason = Reason::overloaded});
    std::get<SubmitItem>(item).done(std::vector<Outcome>(count, overloaded), log_.head());
  }

  void set_sweep(bool on) {
    writer_.set_sweep(on);
    queue_.interrupt();
  }

  void wake() { queue_.wake(); }

  void end(bool cleanly) {
    const std::lock_guard lock(ending_);
    if (!thread_.joinable()) return;
    if (cleanly) {
      queue_.end();
    } else {
      fatal_.silence();
      queue_.drop();
      committer_.abandon();
    }
    thread_.join();
    committer_.finish();
  }

  Fatal& fatal() { return fatal_; }
  Ledger::Status status() const {
    Ledger::Status status = writer_.status();
    status.queued_commands = queue_.commands();
    status.unwritten_commands = committer_.waiting();
    return status;
  }
  const LedgerCounts& counts() const { return counts_; }
  const store::Log& log() const { return log_; }
  const Policy& policy() const { return options_.policy; }

 private:
  store::Log& log_;
  const LedgerOptions options_;
  LedgerCounts counts_;
  Fatal fatal_;
  CommandQueue queue_;
  Committer committer_;
  Writer writer_;
  std::mutex ending_;
  std::thread thread_;
};

Ledger::Ledger(store::Log& log, State state, const TimeSource& source, const Recall& recall,
               CommittedSink& sink, LedgerOptions options) {
  HOLDFAST_INVARIANT(state.head() == log.head(), "the state is the fold of the whole log");
  impl_ = std::make_unique<Impl>(log, std::move(state), source, recall, sink, std::move(options));
}

Ledger::~Ledger() { stop(); }

void Ledger::submit(std::vector<Submission> commands, Outcomes done) {
  impl_->submit(std::move(commands), std::move(done));
}

void Ledger::wake() { impl_->wake(); }

void Ledger::read(Read read) { impl_->put(ReadItem{std::move(read)}); }

void Ledger::disconnect(std::uint64_t connection) { impl_->put(DisconnectItem{connection}); }

void Ledger::sweep(std::size_t limit, std::function<void(SweepReport)> done) {
  impl_->put(SweepItem{limit, std::move(done)});
}

void Ledger::set_sweep(bool on) { impl_->set_sweep(on); }

void Ledger::confirm_clock(std::function<void()> done) {
  impl_->put(ConfirmClockItem{std::move(done)});
}

void Ledger::import_begin(Digest file,
                          std::function<void(tl::expected<std::uint64_t, Refusal>)> done) {
  impl_->put(ImportBeginItem{file, std::move(done)});
}

void Ledger::import_lines(std::vector<ImportLine> lines, Outcomes done) {
  impl_->put(ImportLinesItem{std::move(lines), std::move(done)});
}

void Ledger::import_end(bool more, std::function<void(tl::expected<void, Refusal>)> done) {
  impl_->put(ImportEndItem{more, std::move(done)});
}

Ledger::Status Ledger::status() const { return impl_->status(); }

const LedgerCounts& Ledger::counts() const { return impl_->counts(); }

const store::Log& Ledger::log() const { return impl_->log(); }

const Policy& Ledger::policy() const { return impl_->policy(); }

void Ledger::stop() { impl_->end(true); }

void Ledger::abandon() { impl_->end(false); }

void Ledger::on_fatal(std::function<void(const store::StorageError&)> handler) {
  impl_->fatal().set_handler(std::move(handler));
}

}  // namespace holdfast
