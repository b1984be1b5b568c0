#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "ledger/domain/ids.h"
#include "tools/cli/options.h"

// What is written where: answers on stdout, everything else on stderr.
namespace holdfast::cli {

// Control characters become \n, \u001b: nothing that others wrote can steer the terminal.
std::string printable(std::string_view text);

// Columns it takes, roughly: one a code point.
std::size_t width_of(std::string_view text);

void print(std::string_view text);                 // as it is
void print_json(const boost::json::value& value);  // a line
bool stderr_is_terminal();

// What was checked does not hold: the first thing that does not. `position` 0: it is about none.
Exit unsound(const Options& options, std::string_view kind, Position position,
             const std::string& what);

// A fault, not a refusal: a sentence on stderr; with --json an object on stdout too.
Exit fail(const Options& options, std::string_view kind, std::string_view text);

}  // namespace holdfast::cli
