#include "tools/cli/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "api/text/scalar.h"
#include "ledger/store/log.h"
#include "tools/cli/progress.h"
#include "tools/cli/terminal.h"

namespace holdfast::cli {
namespace {

Exit damaged(const Options& options, const std::string& what) {
  if (options.json) {
    print_json(boost::json::object{{"sound", false}, {"what", boost::json::string(what)}});
  } else {
    print("damaged: " + printable(what) + "\n");
  }
  return Exit::refused;
}

std::string hex(const Digest& digest) {
  return api::to_hex({reinterpret_cast<const kj::byte*>(digest.data()), digest.size()});
}

}  // namespace

CLI::App* add_verify(CLI::App& app, std::string& data) {
  CLI::App* sub = app.add_subcommand("verify", "check every byte of a log against its hashes")
                      ->group("Operators")
                      ->fallthrough();
  sub->add_option("--data", data, "folder of the ledger")->required()->type_name("DIR");
  return sub;
}

Exit run_verify(const Options& options, const std::string& data) {
  std::error_code error;
  if (!std::filesystem::is_directory(data + "/ledger", error)) {
    return fail(options, "data", data + ": there is no ledger here");
  }
  const auto log =
      store::Log::open({.fs = {}, .dir = data, .read_only = true, .accept_loss_from = {}});
  if (!log) return damaged(options, log.error().what);
  const store::Log& opened = **log;
  const auto verified = [&] {
    Progress progress("verifying", opened.head().value, "events");
    return opened.verify([&](Position reached) { progress.show(reached.value, reached.value); });
  }();
  if (!verified) return damaged(options, verified.error().what);
  if (options.json) {
    print_json(boost::json::object{{"sound", true},
                                   {"position", opened.head().value},
                                   {"root", boost::json::string(hex(opened.root()))}});
  } else {
    print(fmt::format("sound: {} events, root {}\n", opened.head().value, hex(opened.root())));
  }
  return Exit::accepted;
}

}  // namespace holdfast::cli
