#include "tools/cli/ask.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "api/text/json.h"
#include "api/text/pages.h"
#include "tools/cli/answer_text.h"
#include "tools/cli/listing.h"
#include "tools/cli/progress.h"
#include "tools/cli/refusal_text.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr std::chrono::milliseconds kLookAtProgress{200};

// {"position": ..., and the answer's own fields}
void print_fields(wire::Response::Reader response, capnp::DynamicStruct::Reader fields) {
  boost::json::object object{{"position", response.getPosition()}};
  for (auto& [name, value] : api::to_json(fields)) object[name] = std::move(value);
  print_json(object);
}

void print_claim(const Options& options, wire::Response::Reader response) {
  if (options.json) {
    print_json(boost::json::object{{"position", response.getPosition()},
                                   {"claim", api::to_json(response.getClaim())}});
  } else {
    print(label_lines(claim_lines(response.getClaim())));
  }
}

void print_availability(const Options& options, wire::Response::Reader response) {
  const auto answer = response.getAvailability();
  if (options.json) {
    print_fields(response, answer);
  } else if (answer.getFree() != wire::NONE) {
    print(fmt::format("{} free now\n", answer.getFree()));
  } else if (answer.getPieces().size() == 0) {
    print("nothing free\n");
  } else {
    Table table = pieces_table();
    for (const auto piece : answer.getPieces()) add_row(table, piece);
    table.flush();
  }
}

void print_rebuild(wire::RebuildAnswer::Reader answer) {
  if (answer.getDifferences().size() == 0) {
    print(fmt::format("rebuilt up to position {}: no difference\n", answer.getPosition()));
    return;
  }
  print(fmt::format("rebuilt up to position {}: {} differences\n", answer.getPosition(),
                    answer.getDifferences().size()));
  for (const auto difference : answer.getDifferences()) {
    print("  " + printable({difference.cStr(), difference.size()}) + "\n");
  }
}

Exit print_admin(const Options& options, wire::Response::Reader response) {
  switch (response.which()) {
    case wire::Response::REFUSED:
      return print_refusal(options, response.getRefused());
    case wire::Response::SWEEP:
      if (options.json) {
        print_fields(response, response.getSweep());
      } else {
        print(fmt::format("{} lapsed holds recorded, {} left\n", response.getSweep().getRecorded(),
                          response.getSweep().getLeft()));
      }
      return Exit::accepted;
    case wire::Response::REBUILD:
      if (options.json) {
        print_fields(response, response.getRebuild());
      } else {
        print_rebuild(response.getRebuild());
      }
      return response.getRebuild().getDifferences().size() == 0 ? Exit::accepted : Exit::refused;
    case wire::Response::DONE:
      if (options.json) {
        print_json(boost::json::object{{"position", response.getPosition()}, {"done", true}});
      } else {
        print("done\n");
      }
      return Exit::accepted;
    default:
      return fail(options, "server", "the server gave an answer to another question");
  }
}

// As long as it takes; the head says meanwhile how far it has come.
tl::expected<api::Response, std::string> wait_for_rebuild(Connection& connection,
                                                          api::Request rebuild) {
  std::optional<api::Client::Answer> rebuilt;
  connection.send(std::move(rebuild),
                  [&](api::Client::Answer answer) { rebuilt = std::move(answer); });
  std::optional<Progress> progress;
  bool asking = false;
  const auto show = [&](api::Client::Answer answer) {
    asking = false;
    if (!answer || !answer->root().isHead() || rebuilt) return;
    const auto head = answer->root().getHead();
    if (head.getRebuilt() == wire::NONE) return;
    const auto reached = static_cast<std::uint64_t>(head.getRebuilt());
    if (!progress) progress.emplace("rebuilding", head.getSize(), "events");
    progress->show(reached, reached);
  };
  while (!rebuilt) {
    if (!std::exchange(asking, true)) {
      api::Request request;
      request.root().initQuery().initHead();
      connection.send(std::move(request), show);
    }
    connection.wait_for(kLookAtProgress);
  }
  if (!*rebuilt) return tl::unexpected(connection.explain(rebuilt->error()));
  return std::move(**rebuilt);
}

}  // namespace

Exit print_refusal(const Options& options, wire::Refusal::Reader refusal) {
  if (options.json) {
    print_json(boost::json::object{{"refused", api::to_json(refusal)}});
  } else {
    print("refused: " + printable(refusal_text(refusal)) + "\n");
  }
  return Exit::refused;
}

tl::expected<api::Response, Exit> ask(const Options& options, Connection& connection,
                                      api::Request request) {
  auto answer = connection.call(std::move(request));
  if (!answer) return tl::unexpected(fail(options, "connection", answer.error()));
  const auto response = answer->root();
  if (response.isRefused()) return tl::unexpected(print_refusal(options, response.getRefused()));
  return std::move(*answer);
}

tl::expected<api::Response, Exit> ask_command(const Options& options, Connection& connection,
                                              api::Request request) {
  auto answer = ask(options, connection, std::move(request));
  if (!answer) return answer;
  const auto response = answer->root();
  if (!response.isOutcomes() || response.getOutcomes().size() != 1) {
    return tl::unexpected(fail(options, "server", "the server gave an answer to another question"));
  }
  return answer;
}

void print_outcome(wire::Response::Reader response) {
  print_fields(response, response.getOutcomes()[0]);
}

Exit run_command(const Options& options, api::Request request) {
  Connection connection(options);
  const auto answer = ask_command(options, connection, std::move(request));
  if (!answer) return answer.error();
  const auto outcome = answer->root().getOutcomes()[0];
  if (options.json) {
    print_outcome(answer->root());
  } else if (outcome.isAccepted()) {
    print_accepted(outcome.getAccepted());
  } else {
    return print_refusal(options, outcome.getRefused());
  }
  return outcome.isAccepted() ? Exit::accepted : Exit::refused;
}

Exit run_query(const Options& options, api::Request request) {
  const auto query = request.root().getQuery().asReader();
  if (api::is_paged(query)) return run_listing(options, query);
  Connection connection(options);
  const auto answer = connection.call(std::move(request));
  if (!answer) return fail(options, "connection", answer.error());
  const auto response = answer->root();
  switch (response.which()) {
    case wire::Response::REFUSED:
      return print_refusal(options, response.getRefused());
    case wire::Response::CLAIM:
      print_claim(options, response);
      return Exit::accepted;
    case wire::Response::AVAILABILITY:
      print_availability(options, response);
      return Exit::accepted;
    case wire::Response::HEAD:
      if (options.json) {
        print_fields(response, response.getHead());
      } else {
        print(label_lines(head_lines(response.getHead())));
      }
      return Exit::accepted;
    default:
      return fail(options, "server", "the server gave an answer to another question");
  }
}

Exit run_admin(const Options& options, api::Request request) {
  Connection connection(options);
  const auto answer = request.root().getAdmin().isRebuild()
                          ? wait_for_rebuild(connection, std::move(request))
                          : connection.call(std::move(request));
  if (!answer) return fail(options, "connection", answer.error());
  return print_admin(options, answer->root());
}

}  // namespace holdfast::cli
