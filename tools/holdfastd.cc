#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "api/access_recorder.h"
#include "api/dispatch.h"
#include "api/head_publisher.h"
#include "api/live/hub.h"
#include "api/metrics.h"
#include "api/server.h"
#include "api/status_server.h"
#include "api/tokens.h"
#include "ledger/access/access_log.h"
#include "ledger/clock.h"
#include "ledger/ledger.h"
#include "ledger/proof/signing_key.h"
#include "ledger/store/log.h"
#include "projections/projections.h"
#include "tools/holdfastd_options.h"
#include "tools/server_log.h"

// The server: opens the ledger, serves it until it is told to stop.
namespace holdfast::tools {

namespace {

constexpr rlim_t kFilesOfTheStore = 1'024;

// The signals that the server is told by, blocked in every thread and waited for in the main one.
class Signals {
 public:
  Signals() {
    std::signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  int wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
    return signal;
  }

 private:
  sigset_t set_;
};

// Raises the limit of open files as far as it goes; connections get what the store leaves.
void fit_connections(std::size_t& max_connections) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t most = files.rlim_cur > 2 * kFilesOfTheStore ? files.rlim_cur - kFilesOfTheStore
                                                            : files.rlim_cur / 2;
  if (max_connections <= most) return;
  max_connections = most;
  spdlog::warn("at most {} connections: the limit of open files is {}", most, files.rlim_cur);
}

std::string hexadecimal(const store::LedgerId& id) {
  std::string text;
  for (const std::byte byte : id) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

int refuse(const std::string& why) {
  spdlog::error("{}", why);
  return 1;
}

tl::expected<std::unique_ptr<access::AccessLog>, store::StorageError> open_access_log(
    const ServerProgram& program, const TimeSource& time) {
  access::Options options;
  options.dir = program.data;
  options.accept_loss_from = program.accept_access_loss_from;
  options.per_minute = program.access_per_minute;
  return access::AccessLog::open(options, time, [](const std::string& why) {
    spdlog::error("the access log: {}; queries are not answered until a restart", why);
  });
}

access::Entry started(const ServerProgram& program, const std::string& address,
                      const store::Log& log) {
  std::string settings =
      fmt::format("listen={} record-refusals={} access-per-minute={}", address,
                  program.record_refusals ? "all" : "off", program.access_per_minute);
  const auto add = [&](std::string_view name, const std::optional<Position>& from) {
    if (from) settings += fmt::format(" {}={}", name, from->value);
  };
  add("accept-loss-from", program.accept_loss_from);
  add("accept-access-loss-from", program.accept_access_loss_from);
  return {.ledger_position = log.head(),
          .what = access::Started{HOLDFAST_VERSION, log.id(), std::move(settings)}};
}

// Null: every client is an operator. The error is a sentence.
tl::expected<std::unique_ptr<api::Tokens>, std::string> open_tokens(const std::string& file) {
  if (!file.empty()) return api::Tokens::open(file);
  spdlog::warn("no --tokens: every client on this machine is an operator");
  return nullptr;
}

// Null: nobody watches.
tl::expected<std::unique_ptr<api::StatusServer>, std::string> open_status_server(
    const std::optional<api::Endpoint>& endpoint) {
  if (!endpoint) return nullptr;
  auto server = api::StatusServer::listen(*endpoint);
  if (server) spdlog::info("metrics, health and readiness on http://{}", (*server)->address());
  return server;
}

// On SIGHUP.
void reload_tokens(api::Dispatch& dispatch) {
  if (const auto said = dispatch.reload_tokens()) {
    spdlog::info("tokens read again: {}", *said);
  } else {
    spdlog::error("the tokens stay as they were: {}", said.error());
  }
}

int serve(const ServerProgram& program, const Signals& signals) {
  const MachineTime time;
  const std::int64_t began_ms = time.steady_ms();
  const auto status_server = open_status_server(program.metrics);
  if (!status_server) return refuse(status_server.error());
  store::OpenOptions log_options;
  log_options.dir = program.data;
  log_options.accept_loss_from = program.accept_loss_from;
  auto log = store::Log::open(log_options);
  if (!log) return refuse(log.error().what);
  const auto key = proof::SigningKey::open(program.data + "/signing-key");
  if (!key) return refuse(key.error().what);
  const auto tokens = open_tokens(program.tokens);
  if (!tokens) return refuse(tokens.error());
  auto accesses = open_access_log(program, time);
  if (!accesses) return refuse(accesses.error().what);
  State state(program.past_horizon);
  projections::Options projection_options;
  projection_options.dir = program.data;
  auto projections = projections::Projections::open(projection_options, **log, state);
  if (!projections) return refuse(projections.error().what);
  const projections::OpenReport& opened = (*projections)->opened();
  if (opened.rebuilt_because && (*log)->head())
    spdlog::warn("projections rebuilt: {}", *opened.rebuilt_because);

  api::Hub hub(**log, **projections, time, program.hub);
  LedgerOptions ledger_options = program.ledger;
  ledger_options.wake_on_submit = false;
  Ledger ledger(**log, std::move(state), time, **projections, hub, ledger_options);
  const api::AccessRecorder recorder(**accesses, program.record_refusals);
  api::Dispatch dispatch(ledger, **projections, *key, &recorder, tokens->get());
  api::ServerOptions server_options = program.server;
  server_options.loopback_only = *tokens == nullptr;
  server_options.after_round = [&ledger] { ledger.wake(); };
  auto server = api::Server::listen(server_options, dispatch, hub);
  if (!server) return refuse(server.error());
  (*accesses)->record(started(program, (*server)->address(), **log));
  std::printf("holdfastd listens on %s, ledger %s at position %llu, started in %.3f s\n",
              (*server)->address().c_str(), hexadecimal((*log)->id()).c_str(),
              static_cast<unsigned long long>((*log)->head().value),
              static_cast<double>(time.steady_ms() - began_ms) / 1'000);
  std::fflush(stdout);

  std::optional<api::HeadPublisher> publisher;
  if (!program.publish_heads.empty()) {
    publisher.emplace(**log, **projections, *key, program.publish_heads,
                      std::chrono::milliseconds(program.publish_every.ms),
                      [](const std::string& why) { spdlog::error("no head published: {}", why); });
  }

  const api::Metrics metrics(ledger, **projections, hub, **server, program.data);
  if (*status_server) (*status_server)->show(&metrics);
  int signal = signals.wait();
  for (; signal == SIGHUP; signal = signals.wait()) reload_tokens(dispatch);
  spdlog::info("{}: stopping", strsignal(signal));
  if (*status_server) (*status_server)->show(nullptr, "the server is stopping");
  (*server)->stop();
  ledger.stop();
  publisher.reset();
  (*projections)->stop();
  (*accesses)->record({.ledger_position = (*log)->head(), .what = access::Stopped{}});
  (*accesses)->stop();
  spdlog::info("stopped at position {}", (*log)->head().value);
  return 0;
}

}  // namespace

}  // namespace holdfast::tools

int main(int argc, char** argv) {
  using namespace holdfast::tools;
  ::umask(S_IRWXG | S_IRWXO);  // what it writes is nobody else's to read
  auto parsed = parse_server_options(argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  set_up_log(parsed.program.log_level, parsed.program.json_logs);
  const Signals signals;
  try {
    fit_connections(parsed.program.server.max_connections);
    return serve(parsed.program, signals);
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}
