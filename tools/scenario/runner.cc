#include "tools/scenario/runner.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "tools/scenario/answers.h"
#include "tools/scenario/world.h"

namespace holdfast::scenario {
namespace {

using api::Word;

class Runner {
 public:
  Runner(SweepMode mode, const Run* as_written) : mode_(mode), as_written_(as_written) {}

  Run run(const std::vector<Step>& steps) {
    bool go_on = take(world_.open());
    for (const Step& step : steps) {
      if (!go_on) break;
      step_ = &step;
      go_on = execute();
    }
    return std::move(run_);
  }

 private:
  bool checks() const { return mode_ == SweepMode::as_written; }

  void fail(int line, std::string what) { run_.failures.push_back({line, std::move(what)}); }

  // A fault of the ledger ends the run, in every mode.
  bool take(const tl::expected<void, std::string>& done) {
    if (!done) fail(step_ == nullptr ? 1 : step_->line, done.error());
    return done.has_value();
  }

  // False: the run cannot go on.
  bool execute() {
    const std::string& verb = step_->verb;
    if (verb == "count") {
      count();
    } else if (api::has_verb(capnp::Schema::from<wire::Command>(), verb)) {
      command();
    } else if (api::has_verb(capnp::Schema::from<wire::Query>(), verb)) {
      query();
    } else {
      if (step_->expectation_line != 0) {
        fail(step_->expectation_line, "nothing can be expected of " + verb);
      }
      return directive();
    }
    return true;
  }

  std::string argument() const {
    return step_->words.size() == 1 && !step_->words[0].name ? step_->words[0].value : "";
  }

  bool directive() {
    const std::string& verb = step_->verb;
    if (verb == "at") return at();
    if (verb == "clock") {
      const auto by = api::parse_duration(argument());
      if (!by) return wrong("clock wants a duration: " + by.error());
      world_.time().step_wall(*by);
      return true;
    }
    if (verb == "sweep") return sweep();
    if (verb == "past-horizon") {
      const auto horizon = api::parse_duration(argument());
      if (!horizon) return wrong("past-horizon wants a duration: " + horizon.error());
      world_.close();
      world_.set_past_horizon(*horizon);
      return take(world_.open());
    }
    if (!step_->words.empty()) return wrong("unknown step, or too many words: " + verb);
    if (verb == "restart") {
      world_.close();
      return take(world_.open());
    }
    if (verb == "crash") {
      world_.crash();
      return take(world_.open());
    }
    if (verb == "rebuild") return rebuild();
    if (verb == "disconnect") {
      world_.disconnect();
      return true;
    }
    return wrong("unknown step: " + verb);
  }

  bool wrong(std::string what) {
    fail(step_->line, std::move(what));
    return true;
  }

  bool at() {
    const auto instant = api::parse_instant(argument(), base_);
    if (!instant) return wrong("at wants an instant: " + instant.error());
    if (!in_range(*instant)) return wrong("at wants an instant that the ledger knows");
    if (*instant < world_.ledger_now()) {
      return wrong("the ledger's clock never goes back; it shows " +
                   api::to_text(world_.ledger_now(), base_));
    }
    world_.time().pass_to(*instant);
    if (sweeping()) world_.sweep_all();
    return true;
  }

  bool sweeping() const {
    return mode_ == SweepMode::always_on || (mode_ == SweepMode::as_written && sweep_is_on_);
  }

  bool sweep() {
    const std::string what = argument();
    if (what != "on" && what != "off" && what != "now") return wrong("sweep on, off or now");
    if (!checks()) return true;
    if (what != "now") sweep_is_on_ = what == "on";
    if (what != "off") world_.sweep_all();
    return true;
  }

  bool rebuild() {
    const auto differences = world_.rebuild();
    if (!differences) return take(tl::unexpected(differences.error()));
    for (const std::string& difference : *differences) {
      fail(step_->line, "the rebuilt projections differ: " + difference);
    }
    return true;
  }

  void count() {
    if (!checks() || step_->expectation_line == 0) return;
    ++run_.expectations;
    const std::string got = std::to_string(world_.events());
    const Word& word = step_->expected.front();
    if (word.name || word.value != got || step_->expected.size() != 1) {
      fail(step_->expectation_line, "expected " + word.value + ", got " + got);
    }
  }

  // Takes a word out that is the runner's own.
  static std::optional<std::string> take_word(std::vector<Word>& words, std::string_view name) {
    const auto it =
        std::find_if(words.begin(), words.end(), [&](const Word& w) { return w.name == name; });
    if (it == words.end()) return std::nullopt;
    std::string value = std::move(it->value);
    words.erase(it);
    return value;
  }

  void command() {
    capnp::MallocMessageBuilder message;
    auto request = message.initRoot<wire::Request>();
    std::vector<Word> words = step_->words;
    const std::string actor = take_word(words, "actor").value_or("scenario");
    if (!Actor::make(actor)) return fail(step_->line, "not an actor: " + actor);
    if (auto wrong = fill(*step_, std::move(words), request.initBatch(1)[0])) {
      return refuse_or_fail(*wrong);
    }
    judge(world_.ask(request, actor), true);
  }

  // Nothing where the words were understood.
  std::optional<api::WordError> fill(const Step& step, std::vector<Word> words,
                                     wire::Command::Builder into) {
    map_version(step.line, words);
    const auto filled = api::fill_from_words(step.verb, words, capnp::toDynamic(into), base_);
    if (!filled) return filled.error();
    if (step.verb != "transact") return std::nullopt;
    auto steps = into.getTransact().initSteps(static_cast<unsigned>(step.inner.size()));
    for (unsigned i = 0; i < steps.size(); ++i) {
      if (auto wrong = fill(step.inner[i], step.inner[i].words, steps[i])) return wrong;
    }
    return std::nullopt;
  }

  void query() {
    capnp::MallocMessageBuilder message;
    auto request = message.initRoot<wire::Request>();
    auto query = request.initQuery();
    std::vector<Word> words = step_->words;
    const auto filled = api::fill_from_words(step_->verb, words, capnp::toDynamic(query), base_);
    if (!filled) return refuse_or_fail(filled.error());
    // Positions differ with the sweep, and with them what `as-of=@P` means.
    const bool by_position = std::any_of(words.begin(), words.end(), [](const Word& word) {
      return word.name && word.value.starts_with('@');
    });
    const bool limited = std::any_of(words.begin(), words.end(),
                                     [](const Word& word) { return word.name == "limit"; });
    judge(limited ? world_.ask(request, "scenario") : world_.ask_whole(request, "scenario"),
          !by_position);
  }

  void refuse_or_fail(const api::WordError& error) {
    if (!error.bad_time) return fail(step_->line, error.what);
    Answer answer;
    answer.builder().initRefused().setReason(wire::Reason::BAD_TIME);
    judge(answer, true);
  }

  void judge(const Answer& answer, bool comparable) {
    if (comparable) run_.answers[step_->line] = without_sweep(answer.root());
    if (!checks()) return;
    if (step_->expectation_line == 0) {
      const auto root = answer.root();
      const bool refused = root.isRefused() || root.isError() ||
                           (root.isOutcomes() && root.getOutcomes()[0].isRefused());
      if (refused) fail(step_->line, "expected ok, got " + as_text(root, base_));
      return;
    }
    ++run_.expectations;
    if (auto what = mismatch(answer.root(), step_->expected, base_)) {
      fail(step_->expectation_line, *std::move(what));
    }
  }

  std::optional<std::uint64_t> current_version(const std::string& key) {
    capnp::MallocMessageBuilder message;
    auto request = message.initRoot<wire::Request>();
    request.initQuery().initClaim().setKey(key);
    const Answer answer = world_.ask(request, "scenario");
    if (!answer.root().isClaim()) return std::nullopt;
    return answer.root().getClaim().getVersion();
  }

  // Positions differ with the sweep, so a version written in the file is another number in the
  // other modes: the current one if it was the current one; as far ahead of the log's head if it
  // was yet to come (in the same transaction); else one that is not.
  void map_version(int line, std::vector<Word>& words) {
    const auto version =
        std::find_if(words.begin(), words.end(), [](const Word& w) { return w.name == "version"; });
    auto key = std::find_if(words.begin(), words.end(), [](const Word& w) { return !w.name; });
    if (key == words.end()) {
      key = std::find_if(words.begin(), words.end(), [](const Word& w) { return w.name == "key"; });
    }
    if (version == words.end() || key == words.end()) return;
    const auto current = current_version(key->value);
    const std::uint64_t head = world_.events();
    if (checks()) {
      run_.versions[line] = version->value == std::to_string(current.value_or(0))
                                ? WrittenVersion{.was_current = true}
                                : WrittenVersion{.ahead = ahead_of(head, version->value)};
      return;
    }
    const auto it = as_written_->versions.find(line);
    if (it == as_written_->versions.end()) return;
    constexpr std::uint64_t kNotYet = 1'000'000'000;
    const std::uint64_t ahead = it->second.ahead != 0 ? it->second.ahead : kNotYet;
    version->value = std::to_string(it->second.was_current ? current.value_or(0) : head + ahead);
  }

  static std::uint64_t ahead_of(std::uint64_t head, const std::string& version) {
    std::uint64_t number = 0;
    std::from_chars(version.data(), version.data() + version.size(), number);
    return number > head ? number - head : 0;
  }

  const SweepMode mode_;
  const Run* as_written_;
  const api::TimeBase base_{.t0 = kT0};
  World world_;
  const Step* step_ = nullptr;
  bool sweep_is_on_ = true;
  Run run_;
};

}  // namespace

Run run_script(const std::vector<Step>& steps, SweepMode mode, const Run* as_written) {
  return Runner(mode, as_written).run(steps);
}

}  // namespace holdfast::scenario
