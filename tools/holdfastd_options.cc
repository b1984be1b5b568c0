#include "tools/holdfastd_options.h"

#include <CLI/CLI.hpp>
#include <functional>

#include "api/endpoint.h"
#include "api/text/time_text.h"
#include "ledger/domain/resource.h"

namespace holdfast::tools {

namespace {

constexpr char kFooter[] =
    "Options can be given in the environment too (HOLDFAST_DATA, HOLDFAST_LISTEN, ...: the name\n"
    "in capitals, with _ for -) and in a file (--config, lines `data = \"DIR\"`), but for\n"
    "--accept-loss-from and --accept-access-loss-from, the operator's word for one time;\n"
    "the command line comes first, then the file, then the environment.\n"
    "Durations are written 1d2h30m, 90s, 250ms. SIGTERM and SIGINT stop the server cleanly.";

std::string environment_name(std::string option) {
  for (char& c : option) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return "HOLDFAST_" + option;
}

class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  template <class T>
  CLI::Option* add(const std::string& name, T& value, const std::string& about) {
    return app_.add_option("--" + name, value, about)
        ->envname(environment_name(name))
        ->capture_default_str();
  }

  // Text that `take` makes something of, or says what is wrong with it.
  CLI::Option* add_text(const std::string& name, const std::string& type,
                        const std::string& standard, const std::string& about,
                        std::function<std::string(const std::string&)> take) {
    return app_
        .add_option_function<std::string>(
            "--" + name,
            [name, take = std::move(take)](const std::string& text) {
              const std::string wrong = take(text);
              if (!wrong.empty()) throw CLI::ValidationError("--" + name, wrong);
            },
            about)
        ->envname(environment_name(name))
        ->type_name(type)
        ->default_str(standard);
  }

  CLI::Option* add_duration(const std::string& name, Duration& value, Duration most,
                            const std::string& about) {
    return add_text(name, "DURATION", api::to_text(value), about,
                    [&value, most](const std::string& text) -> std::string {
                      const auto duration = api::parse_duration(text);
                      if (!duration) return duration.error();
                      if (duration->ms <= 0 || *duration > most) {
                        return "must be more than 0s and at most " + api::to_text(most);
                      }
                      value = *duration;
                      return {};
                    });
  }

 private:
  CLI::App& app_;
};

// The operator's word for one time: never in a file or in the environment.
void add_accepted_loss(CLI::App& app, const std::string& name, std::optional<Position>& from,
                       const std::string& about) {
  app.add_option_function<std::uint64_t>(
         name, [&from](std::uint64_t position) { from = Position{position}; }, about)
      ->type_name("POSITION")
      ->check(CLI::PositiveNumber)
      ->configurable(false);
}

void describe_evidence(Options& options, ServerProgram& program) {
  options.add_text("record-refusals", "off|all", "off",
                   "whether the access log holds refused commands too, with what stood in the way",
                   [&](const std::string& text) -> std::string {
                     if (text != "off" && text != "all") return "must be off or all";
                     program.record_refusals = text == "all";
                     return {};
                   });
  options
      .add("access-per-minute", program.access_per_minute,
           "records in the access log of one actor and kind (query, proof, refused ...); what is "
           "beyond is counted in one more")
      ->check(CLI::PositiveNumber);
  options.add("publish-heads", program.publish_heads,
              "file, best on another machine's disk, to which signed heads are appended");
  options.add_duration("publish-every", program.publish_every, kDay,
                       "time between two of them, while the log grows");
}

void describe_watching(Options& options, ServerProgram& program) {
  options.add_text("metrics", "HOST:PORT", "none",
                   "also serve /metrics (for Prometheus), /healthz and /readyz there, over HTTP",
                   [&](const std::string& text) -> std::string {
                     program.metrics = api::parse_endpoint(text);
                     return program.metrics ? "" : "'" + text + "' is not HOST:PORT";
                   });
  options.add("log-level", program.log_level, "what is written to standard error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  options.add_text("log-format", "text|json", "text", "how: as lines, or a JSON object a line",
                   [&](const std::string& text) -> std::string {
                     if (text != "text" && text != "json") return "must be text or json";
                     program.json_logs = text == "json";
                     return {};
                   });
}

void describe(CLI::App& app, ServerProgram& program) {
  Options options(app);
  options.add("data", program.data, "folder of the ledger; made if missing")->required();
  options.add_text("listen", "HOST:PORT", "127.0.0.1:7420",
                   "address to listen on; port 0 picks a free one. Without --tokens one of this "
                   "machine only: every client is an operator then",
                   [&](const std::string& text) -> std::string {
                     const auto endpoint = api::parse_endpoint(text);
                     if (!endpoint) return "'" + text + "' is not HOST:PORT";
                     program.server.listen = *endpoint;
                     return {};
                   });
  options.add("tokens", program.tokens,
              "file of tokens, which say who may do what where; read again on SIGHUP and by "
              "`holdfast reload-tokens`");
  options.add_duration("max-ttl", program.ledger.policy.max_ttl, kMaxMaxTtl,
                       "longest time to expiry of a hold, where no resource says otherwise");
  options.add_duration("default-ttl", program.ledger.policy.default_ttl, kMaxMaxTtl,
                       "time to expiry of a hold that names none");
  app.add_flag("--strict-resources", program.ledger.policy.strict_resources,
               "refuse to hold paths that nobody defined")
      ->envname(environment_name("strict-resources"));
  options.add_duration("max-clock-leap", program.ledger.max_clock_leap, Duration{366 * kDay.ms},
                       "a wall clock that leaps further while the server runs stops commands");
  options.add_text(
      "past-horizon", "DURATION", "none",
      "bookings that ended longer ago leave the server's memory (they can still be seen "
      "and cancelled), and spans that begin earlier cannot be held",
      [&](const std::string& text) -> std::string {
        const auto horizon = api::parse_duration(text);
        if (!horizon) return horizon.error();
        if (horizon->ms <= 0) return "must be more than 0s";
        program.past_horizon = *horizon;
        return {};
      });
  options
      .add("disk-reserve", program.ledger.min_free_disk_bytes,
           "free disk space below which commands are refused (512MiB, 1GiB)")
      ->transform(CLI::AsSizeValue(false));
  options
      .add("max-queued", program.ledger.max_queued_commands,
           "commands waiting to be decided; beyond it the answer is `overloaded`")
      ->check(CLI::PositiveNumber);
  options.add("max-connections", program.server.max_connections, "connections at a time")
      ->check(CLI::PositiveNumber);
  options.add_duration("heartbeat", program.hub.heartbeat, kHour,
                       "time between two heartbeats to a subscriber; one that leaves them "
                       "unanswered for three times as long is dropped");
  options.add("io-threads", program.server.io_threads, "threads that serve connections")
      ->check(CLI::Range(1, 64));
  describe_evidence(options, program);
  describe_watching(options, program);
  add_accepted_loss(app, "--accept-loss-from", program.accept_loss_from,
                    "positions from this one on are lost and will be missed: serve what is left, "
                    "under a new ledger id");
  add_accepted_loss(app, "--accept-access-loss-from", program.accept_access_loss_from,
                    "the same of the access log");
}

}  // namespace

Parsed parse_server_options(int argc, char** argv) {
  Parsed parsed;
  CLI::App app{"holdfastd, the server of Holdfast, an event-sourced ledger for bookings",
               "holdfastd"};
  app.footer(kFooter);
  app.set_version_flag("--version", "holdfastd " HOLDFAST_VERSION);
  app.set_config("--config", "", "file with options")->envname("HOLDFAST_CONFIG");
  app.allow_config_extras(CLI::config_extras_mode::error);
  describe(app, parsed.program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
    return parsed;
  }
  Policy& policy = parsed.program.ledger.policy;
  if (policy.default_ttl > policy.max_ttl) policy.default_ttl = policy.max_ttl;
  return parsed;
}

}  // namespace holdfast::tools
