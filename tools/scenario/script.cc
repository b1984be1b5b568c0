#include "tools/scenario/script.h"

#include <boost/json.hpp>
#include <optional>

namespace holdfast::scenario {
namespace {

// The end of a JSON string that begins at `begin`, behind its closing quote.
std::optional<std::size_t> end_of_quoted(std::string_view line, std::size_t begin) {
  for (std::size_t i = begin + 1; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      return i + 1;
    }
  }
  return std::nullopt;
}

tl::expected<std::string, std::string> unquoted(std::string_view quoted) {
  boost::system::error_code failed;
  const boost::json::value value = boost::json::parse(quoted, failed);
  if (failed || !value.is_string()) {
    return tl::unexpected("not a JSON string: " + std::string(quoted));
  }
  return std::string(value.get_string());
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Words up to the end of the line or a comment, which begins with a # that begins a word.
tl::expected<std::vector<std::string>, std::string> split(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size();) {
    if (is_space(line[i])) {
      ++i;
      continue;
    }
    if (line[i] == '#') break;
    std::string word;
    while (i < line.size() && !is_space(line[i])) {
      if (line[i] != '"') {
        word += line[i++];
        continue;
      }
      const auto end = end_of_quoted(line, i);
      if (!end) return tl::unexpected(std::string("a quote that is not closed"));
      auto text = unquoted(line.substr(i, *end - i));
      if (!text) return tl::unexpected(text.error());
      word += *text;
      i = *end;
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

tl::expected<std::vector<Step>, ScriptError> parse_script(std::string_view text) {
  std::vector<Step> steps;
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    auto words = split(line);
    if (!words) return tl::unexpected(ScriptError{number, words.error()});
    if (words->empty()) continue;
    if (words->front() != "=>") {
      steps.push_back({.line = number, .words = *std::move(words), .expected = {}});
      continue;
    }
    if (steps.empty()) return tl::unexpected(ScriptError{number, "=> without a step before it"});
    Step& step = steps.back();
    if (step.expectation_line != 0) {
      return tl::unexpected(ScriptError{number, "a second => for one step"});
    }
    step.expectation_line = number;
    step.expected.assign(words->begin() + 1, words->end());
    if (step.expected.empty()) return tl::unexpected(ScriptError{number, "nothing behind =>"});
  }
  return steps;
}

}  // namespace holdfast::scenario
