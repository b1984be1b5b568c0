#include "tools/scenario/script.h"

#include <utility>

namespace holdfast::scenario {
namespace {

bool is_plain(const api::Word& word, std::string_view text) {
  return !word.name && word.value == text;
}

tl::expected<void, std::string> expect(std::vector<Step>& steps, int line,
                                       std::vector<api::Word> words) {
  if (steps.empty()) return tl::unexpected(std::string("=> without a step before it"));
  Step& step = steps.back();
  if (step.expectation_line != 0) return tl::unexpected(std::string("a second => for one step"));
  if (words.size() == 1) return tl::unexpected(std::string("nothing behind =>"));
  step.expectation_line = line;
  step.expected.assign(std::make_move_iterator(words.begin() + 1),
                       std::make_move_iterator(words.end()));
  return {};
}

}  // namespace

tl::expected<std::vector<Step>, ScriptError> parse_script(std::string_view text) {
  std::vector<Step> steps;
  bool inside = false;  // of a transact
  for (int line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    std::string_view content = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (content.ends_with('\r')) content.remove_suffix(1);
    auto words = api::split_words(content);
    if (!words) return tl::unexpected(ScriptError{line, words.error().what});
    if (words->empty()) continue;
    if (is_plain(words->front(), "=>")) {
      if (inside)
        return tl::unexpected(ScriptError{line, "=> inside a transact: it comes behind end"});
      if (auto taken = expect(steps, line, *std::move(words)); !taken) {
        return tl::unexpected(ScriptError{line, taken.error()});
      }
      continue;
    }
    if (words->front().name) {
      return tl::unexpected(ScriptError{
          line, "a step begins with what to do, not with " + *words->front().name + "="});
    }
    Step step{.line = line, .verb = words->front().value, .words = {}, .inner = {}, .expected = {}};
    step.words.assign(std::make_move_iterator(words->begin() + 1),
                      std::make_move_iterator(words->end()));
    if (step.verb == "end") {
      if (!inside) return tl::unexpected(ScriptError{line, "end without a transact before it"});
      inside = false;
    } else if (inside) {
      steps.back().inner.push_back(std::move(step));
    } else {
      inside = step.verb == "transact";
      steps.push_back(std::move(step));
    }
  }
  if (inside) return tl::unexpected(ScriptError{steps.back().line, "transact without an end"});
  return steps;
}

}  // namespace holdfast::scenario
