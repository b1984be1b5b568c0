#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "ledger/domain/command.h"
#include "ledger/domain/state.h"
#include "ledger/recall.h"
#include "ledger/store/log.h"

namespace holdfast {

// What a command names, of which the state must know what the ledger knows before it is decided.
// Views into the command.
struct Named {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> paths;
  std::deque<std::string> made;  // names that no command spells out
};
void name(const Command& command, Named& named);

// Puts back into the state what it has forgotten and commands name: ended claims, last positions
// of paths, answers given under request ids. The writer's.
class Recollection {
 public:
  using Done = tl::expected<void, store::StorageError>;

  // References outlive it.
  Recollection(const Recall& recall, const store::Log& log, State& state)
      : recall_(recall), log_(log), state_(state) {}

  // Commands of the next fetch(), which must stay where they are until then.
  void expect(const Command& command);
  // One call each for the ended claims and the last positions of all that is expected.
  Done fetch();
  // For the sweep: the paths of the first `limit` lapsed holds.
  Done fetch_lapsed(std::size_t limit);
  // What a decision found missing (Judged::unknown), or is to write on.
  Done fetch_paths_of(std::span<const Path> paths);

 private:
  Done fetch_claims();
  Done fetch_paths();
  Done fetch_named_paths();
  Done fetch_requests();

  const Recall& recall_;
  const store::Log& log_;
  State& state_;
  std::vector<const Command*> requests_;  // with a request id
  Named named_;
};

}  // namespace holdfast
