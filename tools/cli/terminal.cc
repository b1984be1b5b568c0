#include "tools/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cstdio>

namespace holdfast::cli {

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (byte == 0xC2 && i + 1 < text.size() &&
               static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      // U+0080 to U+009F, control characters in two bytes.
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return width;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const boost::json::value& value) { print(boost::json::serialize(value) + "\n"); }

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

Exit unsound(const Options& options, std::string_view kind, Position position,
             const std::string& what) {
  if (options.json) {
    boost::json::object answer{{"sound", false}, {"kind", kind}, {"what", what}};
    if (position) answer["position"] = position.value;
    print_json(answer);
  } else {
    const std::string where = position ? " at position " + std::to_string(position.value) : "";
    print(fmt::format("not sound: {}{}: {}\n", kind, where, printable(what)));
  }
  return Exit::refused;
}

Exit fail(const Options& options, std::string_view kind, std::string_view text) {
  if (options.json) {
    boost::json::object error;
    error["kind"] = boost::json::string(kind.data(), kind.size());
    error["text"] = boost::json::string(text.data(), text.size());
    print_json(boost::json::object{{"error", std::move(error)}});
  }
  std::fflush(stdout);
  fmt::print(stderr, "holdfast: {}\n", printable(text));
  return Exit::error;
}

}  // namespace holdfast::cli
