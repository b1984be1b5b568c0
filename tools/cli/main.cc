#include <pwd.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>

#include "api/client.h"
#include "api/endpoint.h"
#include "api/text/time_text.h"
#include "tools/cli/ask.h"
#include "tools/cli/backup.h"
#include "tools/cli/end_all.h"
#include "tools/cli/explain.h"
#include "tools/cli/export.h"
#include "tools/cli/import.h"
#include "tools/cli/load.h"
#include "tools/cli/prove.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/cli/token.h"
#include "tools/cli/transact.h"
#include "tools/cli/verify.h"
#include "tools/cli/verify_export.h"
#include "tools/cli/watch.h"

// holdfast: the client on the command line. One subcommand for every command and query, made from
// the schema; answers on stdout, faults on stderr; exit 0 accepted, 1 refused, 2 error.
namespace holdfast::cli {
namespace {

constexpr char kFooter[] =
    "Times are RFC 3339 with their offset, 2026-01-01T09:00:00Z; durations 60s, 1d2h30m.\n"
    "Exit: 0 accepted, 1 refused, 2 error. `holdfast SUBCOMMAND --help` says more.";

// Shows options by their first name: the others are spellings of it.
class Help : public CLI::Formatter {
 public:
  Help() { column_width(34); }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return option->get_name(true, false);
    const auto& names = option->get_lnames();
    std::string name = names.empty() ? option->get_name(false, true) : "--" + names.front();
    if (!option->get_snames().empty()) name = "-" + option->get_snames().front() + "," + name;
    return name;
  }
  // A value that is a positional and an option has its line as a positional.
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const bool both = !option->get_name(true, false).empty() && !option->get_lnames().empty();
    if (!is_positional && both) return "";
    return CLI::Formatter::make_option(option, is_positional);
  }
};

std::string login_name() {
  const passwd* user = getpwuid(geteuid());
  return user && user->pw_name[0] != '\0' ? user->pw_name : "anonymous";
}

void add_common(CLI::App& app, Options& options, std::string& timeout) {
  app.add_option("--server", options.server, "the server")
      ->envname("HOLDFAST_SERVER")
      ->type_name("HOST:PORT")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return api::parse_endpoint(text) ? "" : "'" + text + "' is not HOST:PORT";
      });
  app.add_option("--actor", options.actor, "who asks, where the server has no tokens")
      ->envname("HOLDFAST_ACTOR")
      ->type_name("NAME")
      ->default_str(options.actor);
  app.add_option("--token", options.token,
                 "token, where the server has them; best given as HOLDFAST_TOKEN")
      ->envname("HOLDFAST_TOKEN")
      ->type_name("TEXT");
  app.add_option("--timeout", timeout, "longest wait for an answer")
      ->type_name("DURATION")
      ->default_str(api::to_text(options.timeout))
      ->check([](const std::string& text) -> std::string {
        const auto duration = api::parse_duration(text);
        if (!duration) return duration.error();
        const bool possible = duration->ms > 0 && *duration <= kDay;
        return possible ? "" : "'" + text + "' is not from 1ms to 1d";
      });
  app.add_flag("--json", options.json, "answers as JSON, one object a line");
  app.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
}

// An option's text that could not be read: as a refusal where the contract has one.
Exit bad_words(const Options& options, const api::WordError& error) {
  if (!error.bad_time) return fail(options, "usage", error.what);
  if (options.json) {
    print_json(boost::json::object{
        {"refused", {{"reason", "bad_time"}, {"text", boost::json::string(error.what)}}}});
  } else {
    print("refused: bad_time: " + printable(error.what) + "\n");
  }
  return Exit::refused;
}

struct Program {
  explicit Program(CLI::App& app)
      : commands(app, capnp::Schema::from<wire::Command>(), "Commands"),
        queries(app, capnp::Schema::from<wire::Query>(), "Queries"),
        admin(app, capnp::Schema::from<wire::Admin>(), "Operators"),
        watch(add_watch(app, watch_options)),
        import(add_import(app, import_options)),
        explain(add_explain(app, explained)),
        prove(add_prove(app, prove_options)),
        verify(add_verify(app, verify_options)),
        token(add_token(app, token_options)),
        exporting(add_export(app, export_options)),
        verify_export(add_verify_export(app, verify_export_options)),
        load(add_load(app, load_options)),
        backup(add_backup(app, backup_options)),
        restore(add_restore(app, restore_options)),
        end_all_limit(app.get_subcommand("end-all")->get_option("--limit")) {
    add_steps(*app.get_subcommand("transact"), steps);
  }

  Exit run(const Options& options) {
    if (import->parsed()) return run_import(options, import_options);
    if (token->parsed()) return run_token(options, token_options);
    if (verify->parsed()) return run_verify(options, verify_options);
    if (explain->parsed()) return run_explain(options, explained);
    if (prove->parsed()) return run_prove(options, prove_options);
    if (exporting->parsed()) return run_export(options, export_options);
    if (verify_export->parsed()) return run_verify_export(options, verify_export_options);
    if (load->parsed()) return run_load(options, load_options);
    if (backup->parsed()) return run_backup(options, backup_options);
    if (restore->parsed()) return run_restore(options, restore_options);
    api::Request request;
    if (watch->parsed()) {
      auto into = request.root().initSubscription().initSubscribe();
      if (auto done = watch_options.subscribe->fill(into); !done) {
        return bad_words(options, done.error());
      }
      return run_watch(options, std::move(request), watch_options.until_caught_up);
    }
    const auto ask = [&](const Subcommands& subcommands, capnp::DynamicStruct::Builder into,
                         const auto& run_it) {
      if (auto done = subcommands.fill(into); !done) return bad_words(options, done.error());
      return run_it(options, std::move(request));
    };
    if (commands.chosen()) {
      auto command = request.root().initBatch(1)[0];
      return ask(commands, command, [&](const Options&, api::Request filled) {
        if (command.isTransact()) return run_transact(options, std::move(filled), steps);
        if (command.isEndAll()) {
          return run_end_all(options, command.asReader(), end_all_limit->count() > 0);
        }
        return run_command(options, std::move(filled));
      });
    }
    if (queries.chosen()) return ask(queries, request.root().initQuery(), run_query);
    return ask(admin, request.root().initAdmin(), run_admin);
  }

  WatchOptions watch_options;
  ImportOptions import_options;
  std::string explained;  // key
  ProveOptions prove_options;
  VerifyOptions verify_options;
  TokenOptions token_options;
  ExportOptions export_options;
  VerifyExportOptions verify_export_options;
  LoadOptions load_options;
  BackupOptions backup_options;
  RestoreOptions restore_options;
  Subcommands commands;
  Subcommands queries;
  Subcommands admin;
  CLI::App* watch;
  CLI::App* import;
  CLI::App* explain;
  CLI::App* prove;
  CLI::App* verify;
  CLI::App* token;
  CLI::App* exporting;
  CLI::App* verify_export;
  CLI::App* load;
  CLI::App* backup;
  CLI::App* restore;
  CLI::Option* end_all_limit;
  std::string steps;  // the file of a transaction's
};

Exit run(int argc, char** argv) {
  Options options;
  options.actor = login_name();
  std::string timeout;
  CLI::App app("Asks a Holdfast server, for people and, with --json, for programs.", "holdfast");
  app.formatter(std::make_shared<Help>());
  app.footer(kFooter);
  app.require_subcommand(1);
  add_common(app, options, timeout);
  Program program(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    app.exit(wanted);
    return Exit::accepted;
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    // What is no subcommand counts for CLI11 as left over, and the missing one comes first.
    const auto left_over = app.remaining();
    if (app.get_subcommands().empty() && !left_over.empty()) {
      what = "'" + left_over.front() + "' is no subcommand";
    }
    return fail(options, "usage", what + " (see holdfast --help)");
  }
  if (!timeout.empty()) options.timeout = api::parse_duration(timeout).value();
  return program.run(options);
}

}  // namespace
}  // namespace holdfast::cli

int main(int argc, char** argv) {
  const auto exit = holdfast::cli::run(argc, argv);
  // What was asked for and could not be written is an error, whatever the answer was.
  if (std::fflush(stdout) != 0) {
    std::perror("holdfast: cannot write to stdout");
    return static_cast<int>(holdfast::cli::Exit::error);
  }
  return static_cast<int>(exit);
}
