#include "tools/cli/transact.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <vector>

#include "api/text/fields.h"
#include "api/text/json.h"
#include "api/text/words.h"
#include "tools/cli/answer_text.h"
#include "tools/cli/ask.h"
#include "tools/cli/import_file.h"
#include "tools/cli/refusal_text.h"
#include "tools/cli/table.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

// Every line but empty ones, numbered from 1.
struct StepLine {
  std::size_t number;
  std::string text;
};

tl::expected<std::vector<StepLine>, std::string> read_lines(std::istream& in,
                                                            const std::string& name) {
  std::vector<StepLine> lines;
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (text.size() > kMaxLineBytes) {
      return tl::unexpected(fmt::format("{}:{}: is longer than 1 MiB", name, number));
    }
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back({number, std::move(text)});
  }
  if (in.bad()) return tl::unexpected(name + ": cannot be read to its end");
  return lines;
}

tl::expected<std::vector<StepLine>, std::string> read_file(const std::string& path) {
  if (path == "-") return read_lines(std::cin, "stdin");
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected(path + ": " + std::strerror(errno));
  return read_lines(file, path);
}

tl::expected<void, std::string> fill_steps(wire::Transact::Builder transact,
                                           const std::string& path) {
  const auto lines = read_file(path);
  if (!lines) return tl::unexpected(lines.error());
  auto steps = transact.initSteps(static_cast<unsigned>(lines->size()));
  for (unsigned i = 0; i < steps.size(); ++i) {
    const StepLine& line = (*lines)[i];
    if (const auto done = api::from_json(line.text, steps[i]); !done) {
      return tl::unexpected(
          fmt::format("{}:{}: {}", path == "-" ? "stdin" : path, line.number, done.error().text()));
    }
  }
  return {};
}

// "hold bikes/7": the word for the command and what it is about.
std::string title(const capnp::DynamicStruct::Reader& command) {
  KJ_IF_MAYBE (field, command.which()) {
    const auto* member =
        api::find_name(command.getSchema(), api::snake_case(field->getProto().getName().cStr()));
    const auto inner = command.get(*field).as<capnp::DynamicStruct>();
    std::string text = member->word;
    for (const char* name : {"resource", "key", "cart"}) {
      const auto* about = api::find_name(inner.getSchema(), name);
      if (about != nullptr && api::is_given(inner, *about)) {
        return text + " " + std::string(inner.get(about->field).as<capnp::Text>().cStr());
      }
    }
    return text;
  }
  return "";
}

std::vector<std::string> titles(capnp::List<wire::Command>::Reader steps) {
  std::vector<std::string> all;
  for (const auto step : steps) all.push_back(title(step));
  return all;
}

// What an accepted step did: "position 7: h1 held until 2026-01-01T00:08:00Z".
std::string done_text(wire::Accepted::Reader step) {
  std::string text = step.getPositions() == 0 ? "nothing to write" : "";
  if (step.getPositions() == 1) text = fmt::format("position {}", step.getFirstPosition());
  if (step.getPositions() > 1) {
    text = fmt::format("positions {} to {}", step.getFirstPosition(),
                       step.getFirstPosition() + step.getPositions() - 1);
  }
  if (step.hasParts()) return text + fmt::format(": {} claims", step.getParts().size());
  if (!step.hasClaim()) return text;
  const auto claim = step.getClaim();
  const auto field = [&](const char* word) {
    return api::field_text(claim, word, {}).value_or("");
  };
  text += ": " + field("key") + " " + field("state");
  if (claim.getState() == wire::ClaimState::HELD) text += " until " + field("expires");
  return text;
}

void print_done(wire::Accepted::Reader accepted, const std::vector<std::string>& steps) {
  print(accepted_text(accepted));
  // A repeated request gets its original answer, which has no parts where nothing was written.
  if (accepted.getParts().size() != steps.size()) return;
  Table table({{"STEP", true}, {"COMMAND"}, {"OUTCOME"}});
  for (unsigned i = 0; i < steps.size(); ++i) {
    table.add({std::to_string(i + 1), steps[i], done_text(accepted.getParts()[i])});
  }
  table.flush();
}

Exit print_refused(const Options& options, wire::Refusal::Reader refusal,
                   const std::vector<std::string>& steps) {
  const auto positions = refusal.getPositions();
  if (steps.empty() || positions.size() != steps.size()) return print_refusal(options, refusal);
  const auto refused = std::count_if(positions.begin(), positions.end(),
                                     [](auto position) { return position.isRefused(); });
  print(fmt::format("refused: {} of {} steps, and so all of them: nothing was written\n", refused,
                    steps.size()));
  Table table({{"STEP", true}, {"COMMAND"}, {"OUTCOME"}});
  for (unsigned i = 0; i < steps.size(); ++i) {
    table.add({std::to_string(i + 1), steps[i],
               positions[i].isNone() ? "passes" : refusal_text(positions[i].getRefused())});
  }
  table.flush();
  return Exit::refused;
}

}  // namespace

void add_steps(CLI::App& transact, std::string& file) {
  transact.add_option("FILE", file, "one command or check a line, as JSON; - is stdin")->required();
}

Exit run_transact(const Options& options, api::Request request, const std::string& file) {
  auto transact = request.root().getBatch()[0].getTransact();
  if (const auto filled = fill_steps(transact, file); !filled) {
    return fail(options, "file", filled.error());
  }
  const auto steps = titles(transact.getSteps().asReader());
  Connection connection(options);
  const auto answer = ask_command(options, connection, std::move(request));
  if (!answer) return answer.error();
  const auto outcome = answer->root().getOutcomes()[0];
  if (options.json) {
    print_outcome(answer->root());
  } else if (outcome.isAccepted()) {
    print_done(outcome.getAccepted(), steps);
  } else {
    return print_refused(options, outcome.getRefused(), steps);
  }
  return outcome.isAccepted() ? Exit::accepted : Exit::refused;
}

}  // namespace holdfast::cli
