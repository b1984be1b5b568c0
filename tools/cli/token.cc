#include "tools/cli/token.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <CLI/CLI.hpp>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "api/caller.h"
#include "ledger/proof/text_bytes.h"
#include "ledger/store/sha256.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

constexpr char kPrefix[] = "hf_";  // by which one is known where it should not be

// base64url without padding, so that no shell and no file needs quotes around it.
std::string url_safe(std::string base64) {
  for (char& c : base64) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  base64.erase(base64.find_last_not_of('=') + 1);
  return base64;
}

boost::json::object line_for(const TokenOptions& options, std::string_view token) {
  boost::json::object line{{"sha256", proof::to_hex(store::sha256(token))},
                           {"actor", options.actor},
                           {"role", options.role}};
  if (options.all_paths) line["all_paths"] = true;
  if (!options.paths.empty()) {
    line["paths"] = boost::json::array(options.paths.begin(), options.paths.end());
  }
  return line;
}

}  // namespace

CLI::App* add_token(CLI::App& app, TokenOptions& token) {
  CLI::App* sub = app.add_subcommand("token", "make a token and the line for the server's file");
  sub->group("Operators");
  sub->add_option("--actor", token.actor, "who has it")
      ->type_name("NAME")
      ->required()
      ->check([](const std::string& text) {
        return api::actor_of_client(text) ? "" : "'" + text + "' cannot be an actor";
      });
  auto* role = sub->add_option("--role", token.role,
                               "app: commands and queries below its paths; auditor: queries and "
                               "proofs; operator: everything");
  role->type_name("ROLE")->required()->check(CLI::IsMember({"app", "auditor", "operator"}));
  auto* paths = sub->add_option("--path", token.paths, "of an app: acts at and below it; repeat");
  paths->type_name("PATH")->check(
      [](const std::string& text) { return is_path(text) ? "" : "'" + text + "' is no path"; });
  sub->add_flag("--all-paths", token.all_paths, "of an app: acts everywhere")->excludes(paths);
  return sub;
}

Exit run_token(const Options& options, const TokenOptions& token) {
  const bool is_app = token.role == "app";
  const bool has_paths = token.all_paths || !token.paths.empty();
  if (is_app != has_paths) {
    return fail(options, "usage",
                is_app ? "an app needs --path PATH, or --all-paths"
                       : "--path and --all-paths are for an app: others see everything");
  }
  std::array<unsigned char, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return fail(options, "token", "the machine has no random numbers to give");
  }
  const std::string secret = kPrefix + url_safe(proof::to_base64(std::as_bytes(std::span(random))));
  const boost::json::object line = line_for(token, secret);
  if (options.json) {
    print_json(boost::json::object{{"token", secret}, {"line", line}});
    return Exit::accepted;
  }
  print(
      fmt::format("the token, which is kept nowhere: give it to {}, as HOLDFAST_TOKEN\n"
                  "  {}\n"
                  "its line, for the file of holdfastd --tokens; then `holdfast reload-tokens`\n"
                  "  {}\n",
                  printable(token.actor), secret, boost::json::serialize(line)));
  return Exit::accepted;
}

}  // namespace holdfast::cli
