#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/domain/command.h"
#include "ledger/domain/decide.h"
#include "ledger/domain/state.h"
#include "tests/ledger/domain/text.h"

// A ledger without shell: a state, the events it came from and an instant, driven by commands as
// values or as lines of text.
namespace holdfast::testing {

struct Outcome {
  std::optional<Refusal> refusal;
  Accepted accepted;
  std::vector<Event> events;
};
std::string text_of(const Outcome& outcome);  // of the answer; events aside

class World {
 public:
  Instant now = kT0;
  Policy policy;
  State state;
  std::vector<Event> log;
  std::size_t lapsed_at_once = State::kLapsedAtOnce;  // before a command

  Outcome run(const Command& command);
  // A single claim's or resource's command; nothing is changed.
  bool would_accept(const Command& command);
  std::vector<Event> sweep(std::size_t limit);
  // The connection of all bound holds ends.
  std::vector<Event> disconnect();

  // A line in the language of scenario files, cut down to the domain. Answers as text.
  //   at 60s | sweep 10 | forget 12 | policy strict=true max_ttl=1h default_ttl=10m
  //   define P capacity=2 turnaround=30m max_ttl=1h default_ttl=1m   (likewise change)
  //   close P | open P | retire P force=true
  //   hold P key=K holder=H from=T until=T quantity=N ttl=D expires=T capacity=N cart=C label=L
  //   extend K holder=H version=N ttl=D expires=T shorten=true
  //   release | commit | cancel K holder=H version=N quantity=N label=L
  //   steal K from-holder=H key=K2 holder=H version=N ttl=D expires=T capacity=N
  // and on every command actor=A (left out: app), scope=PATH, request=, correlation=, reason=,
  // on-behalf-of=, source=, content=N (the first byte of the digest).
  std::string run(std::string_view line);
  // Several; each must be accepted, what is not is a failure of the test.
  void given(const std::vector<std::string>& lines);

  std::string show(std::string_view key) const;  // the claim as text, "none" if unknown
  // The events from the position on.
  std::string events_from(std::uint64_t position) const;

 private:
  void recall_last_events(const std::vector<Path>& paths);

  std::uint64_t fresh_ = 0;
};

// An expectation of a table: what was there, one command, its answer, the events that it wrote.
struct Row {
  const char* name;
  std::vector<std::string> given;
  std::string command;
  std::string answer;
  std::vector<std::string> events = {};
};
void check(const std::vector<Row>& rows);

Command command_of(std::string_view line);

}  // namespace holdfast::testing
