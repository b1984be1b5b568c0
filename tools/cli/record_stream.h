#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/domain/ids.h"
#include "tools/cli/connection.h"

namespace holdfast::cli {

// The stored bytes of a range of positions, in order. A few answers are under way at once, each as
// large as the server makes them, and no more are asked for before these are used: memory is
// bounded on both sides however slowly they are.
class RecordStream {
 public:
  RecordStream(const Options& options, Connection& connection, Position from, Position until)
      : options_(options), connection_(connection), next_(from), until_(until) {}

  // What the server answers wrongly, or not at all, ends the program and is printed. So does
  // what `visit` gives as an error.
  using Visit = std::function<tl::expected<void, Exit>(Position, std::string_view record)>;
  tl::expected<void, Exit> run(const Visit& visit);

 private:
  struct Stretch {
    Position from;
    Position until;
    std::optional<api::Client::Answer> answer = {};
  };

  void ask(const std::shared_ptr<Stretch>& stretch);
  void ask_ahead();
  tl::expected<void, Exit> use(const api::Client::Answer& answer, const Visit& visit);

  const Options& options_;
  Connection& connection_;
  Position next_;  // to be asked for
  const Position until_;
  std::deque<std::shared_ptr<Stretch>> asked_;
  std::uint64_t length_ = 4'096;  // of a stretch: by the size that events have had
};

}  // namespace holdfast::cli
