#pragma once

#include <optional>
#include <string>

#include "api/live/hub.h"
#include "api/server.h"
#include "ledger/domain/ids.h"
#include "ledger/ledger.h"

// What holdfastd is told on the command line, in a file and in the environment.
namespace holdfast::tools {

struct ServerProgram {
  std::string data;
  api::ServerOptions server;
  api::HubOptions hub;
  LedgerOptions ledger;
  std::optional<Duration> past_horizon;  // State's
  std::optional<Position> accept_loss_from;
  bool record_refusals = false;
  std::uint32_t access_per_minute = 600;  // records in the access log, of an actor and kind
  std::optional<Position> accept_access_loss_from;
  std::string tokens;         // file; empty: every client is an operator
  std::string publish_heads;  // file; empty: nowhere
  Duration publish_every{60'000};
  std::optional<api::Endpoint> metrics;
  std::string log_level = "info";
  bool json_logs = false;
};

// Prints help, the version or what is wrong, and gives the exit code, where the program is not to
// run.
struct Parsed {
  ServerProgram program;
  std::optional<int> exit_code;
};
Parsed parse_server_options(int argc, char** argv);

}  // namespace holdfast::tools
