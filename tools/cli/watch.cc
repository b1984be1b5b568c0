#include "tools/cli/watch.h"

#include <fmt/format.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "api/text/json.h"
#include "tools/cli/answer_text.h"
#include "tools/cli/ask.h"
#include "tools/cli/connection.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

// Whoever watches goes on watching when the server comes back.
constexpr std::chrono::hours kGiveUpAfter{24 * 366};

api::ClientOptions watch_options(const Options& options) {
  api::ClientOptions client = client_options(options);
  client.give_up_after = kGiveUpAfter;
  return client;
}

class Watch {
 public:
  Watch(const Options& options, bool until_caught_up)
      : options_(options),
        until_caught_up_(until_caught_up),
        client_(io_, watch_options(options)),
        interrupts_(io_, SIGINT, SIGTERM),
        table_(history_table()) {}

  Exit run(api::Request request) {
    interrupts_.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) finish(Exit::accepted);
    });
    client_.subscribe(
        std::move(request),
        {.event = [this](wire::Event::Reader event) { show(event); },
         .reached = [this](std::uint64_t) { flush(); },
         .caught_up = [this](std::uint64_t position) { caught_up(position); },
         .interrupted = [](const std::string& why) { note("interrupted, going on: " + why); },
         .ended = [this](api::Client::Answer answer) { ended(std::move(answer)); }});
    io_.run();
    return exit_;
  }

 private:
  static void note(const std::string& text) {
    fmt::print(stderr, "holdfast: {}\n", printable(text));
  }

  void show(wire::Event::Reader event) {
    if (options_.json) {
      print_json(api::to_json(event));
    } else {
      add_row(table_, event);
    }
  }

  void flush() {
    table_.flush();
    if (std::fflush(stdout) != 0) finish(Exit::error);  // said by main
  }

  void caught_up(std::uint64_t position) {
    if (options_.json) {
      print_json(boost::json::object{{"caught_up", true}, {"position", position}});
      flush();
    } else {
      note(fmt::format("caught up at position {}", position));
    }
    if (until_caught_up_) finish(Exit::accepted);
  }

  void ended(api::Client::Answer answer) {
    if (!answer) {
      finish(fail(options_, "connection", answer.error().text));
    } else if (answer->root().isRefused()) {
      finish(print_refusal(options_, answer->root().getRefused()));
    } else {
      finish(fail(options_, "server", "the server gave an answer to another question"));
    }
  }

  void finish(Exit exit) {
    exit_ = exit;
    io_.stop();
  }

  const Options& options_;
  const bool until_caught_up_;
  boost::asio::io_context io_;
  api::Client client_;
  boost::asio::signal_set interrupts_;
  Table table_;
  Exit exit_ = Exit::accepted;
};

}  // namespace

CLI::App* add_watch(CLI::App& app, WatchOptions& watch) {
  CLI::App* sub = app.add_subcommand("watch", "print events as they happen, until interrupted")
                      ->group("Queries")
                      ->fallthrough();
  watch.subscribe = std::make_unique<FieldOptions>(*sub, capnp::Schema::from<wire::Subscribe>());
  sub->add_flag("--until-caught-up", watch.until_caught_up,
                "end once everything that has happened so far is printed");
  return sub;
}

Exit run_watch(const Options& options, api::Request request, bool until_caught_up) {
  {
    api::Request head;
    head.root().initQuery().initHead();
    Connection connection(options);
    const auto answer = connection.call(std::move(head));
    if (!answer) return fail(options, "connection", answer.error());
  }
  return Watch(options, until_caught_up).run(std::move(request));
}

}  // namespace holdfast::cli
