#include "api/answer.h"

#include <utility>

#include "api/convert_answer.h"
#include "api/convert_query.h"
#include "api/framing.h"

namespace holdfast::api {

namespace {

// Leaves room for what every outcome needs, 8,192 of them.
constexpr std::size_t kMaxItemBytes = kMaxMessageBytes / 2;

std::size_t wire_bytes(const Claim& claim) {
  constexpr std::size_t kNumbers = 192;
  std::size_t bytes = kNumbers + claim.key.view().size() + claim.resource.view().size() +
                      claim.holder.view().size();
  if (claim.cart) bytes += claim.cart->view().size();
  if (claim.label) bytes += claim.label->view().size();
  if (claim.stolen_from) bytes += claim.stolen_from->view().size();
  if (claim.stolen_by) bytes += claim.stolen_by->view().size();
  return bytes;
}

std::size_t wire_bytes(const ListedResource& resource) {
  constexpr std::size_t kNumbers = 256;
  constexpr std::size_t kPointers = 32;
  std::size_t bytes = kNumbers + resource.path.view().size();
  for (const auto& [name, value] : resource.definition.attributes) {
    bytes += kPointers + name.view().size() + value.view().size();
  }
  return bytes;
}

// Leaves out claims once there are too many bytes of them.
class Shortening {
 public:
  explicit Shortening(bool one_blocker) : one_blocker_(one_blocker) {}

  void shorten(Accepted& accepted) {
    keep(accepted.claim);
    for (Accepted& part : accepted.parts) shorten(part);
  }

  // A refusal in a batch names one blocker.
  void shorten(Refusal& refusal) {
    if (one_blocker_ && refusal.blockers.size() > 1) {
      refusal.blockers.erase(refusal.blockers.begin() + 1, refusal.blockers.end());
    }
    for (const Claim& blocker : refusal.blockers) bytes_ += wire_bytes(blocker);
    if (bytes_ > kMaxItemBytes) refusal.blockers.clear();
    keep(refusal.claim);
    for (Refusal& one : refusal.refused) shorten(one);
  }

 private:
  void keep(std::optional<Claim>& claim) {
    if (!claim) return;
    bytes_ += wire_bytes(*claim);
    if (bytes_ > kMaxItemBytes) claim.reset();
  }

  bool one_blocker_;
  std::size_t bytes_ = 0;
};

}  // namespace

Fill error_answer(wire::ErrorKind kind, std::string text) {
  return [kind, text = std::move(text)](wire::Response::Builder response) {
    auto error = response.initError();
    error.setKind(kind);
    error.setText(text);
  };
}

Fill storage_answer(const store::StorageError& error) {
  return error_answer(wire::ErrorKind::STORAGE, error.what);
}

Fill refused_answer(Refusal refusal, Position at) {
  return [refusal = std::move(refusal), at](wire::Response::Builder response) {
    response.setPosition(at.value);
    put(refusal, response.initRefused());
  };
}

Fill outcomes_answer(std::vector<Outcome> outcomes, Position at) {
  Shortening shortening(outcomes.size() > 1);
  for (Outcome& outcome : outcomes) {
    if (outcome) {
      shortening.shorten(*outcome);
    } else {
      shortening.shorten(outcome.error());
    }
  }
  return [outcomes = std::move(outcomes), at](wire::Response::Builder response) {
    response.setPosition(at.value);
    auto list = response.initOutcomes(static_cast<unsigned>(outcomes.size()));
    for (unsigned i = 0; i < list.size(); ++i) put(outcomes[i], list[i]);
  };
}

Fill claim_answer(Claim claim, Position at) {
  return [claim = std::move(claim), at](wire::Response::Builder response) {
    response.setPosition(at.value);
    put(claim, response.initClaim());
  };
}

Fill claims_answer(projections::Page<Claim> page) {
  return [page = std::move(page)](wire::Response::Builder response) {
    response.setPosition(page.at.value);
    auto answer = response.initClaims();
    auto list = answer.initClaims(static_cast<unsigned>(page.items.size()));
    for (unsigned i = 0; i < list.size(); ++i) put(page.items[i], list[i]);
    if (page.more) answer.setCursor(cursor_behind(page.items.back()));
  };
}

Fill history_answer(projections::HistoryPage page) {
  return [page = std::move(page)](wire::Response::Builder response) {
    response.setPosition(page.at.value);
    auto answer = response.initHistory();
    auto list = answer.initEvents(static_cast<unsigned>(page.items.size()));
    for (unsigned i = 0; i < list.size(); ++i) put(page.items[i], list[i]);
    if (page.more) answer.setCursor(std::to_string(page.more->value));
  };
}

Fill free_answer(std::int64_t units, Position at) {
  return [units, at](wire::Response::Builder response) {
    response.setPosition(at.value);
    response.initAvailability().setFree(units);
  };
}

Fill pieces_answer(AvailabilityPage page, Position at) {
  return [page = std::move(page), at](wire::Response::Builder response) {
    response.setPosition(at.value);
    auto answer = response.initAvailability();
    auto list = answer.initPieces(static_cast<unsigned>(page.pieces.size()));
    for (unsigned i = 0; i < list.size(); ++i) put(page.pieces[i], list[i]);
    if (page.rest) answer.setCursor(cursor_at(*page.rest));
  };
}

Fill tallies_answer(projections::TallyPage page) {
  return [page = std::move(page)](wire::Response::Builder response) {
    response.setPosition(page.at.value);
    auto answer = response.initTallies();
    auto list = answer.initTallies(static_cast<unsigned>(page.items.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      const auto& [resource, day, counts] = page.items[i];
      list[i].setResource(resource.str());
      list[i].setDay(projections::begin_of(day).ms);
      list[i].setHolds(counts.holds);
      list[i].setCommits(counts.commits);
      list[i].setExpiries(counts.expiries);
      list[i].setReleases(counts.releases);
      list[i].setSteals(counts.steals);
      list[i].setCancellations(counts.cancellations);
    }
    if (page.more) answer.setCursor(cursor_behind(*page.more));
  };
}

Fill resources_answer(ResourceList list, Position at) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < list.resources.size(); ++i) {
    bytes += wire_bytes(list.resources[i]);
    if (bytes <= kMaxItemBytes) continue;
    list.more = list.resources[i - 1].path.str();
    list.resources.erase(list.resources.begin() + static_cast<std::ptrdiff_t>(i),
                         list.resources.end());
  }
  return [list = std::move(list), at](wire::Response::Builder response) {
    response.setPosition(at.value);
    auto answer = response.initResources();
    auto items = answer.initResources(static_cast<unsigned>(list.resources.size()));
    for (unsigned i = 0; i < items.size(); ++i) put(list.resources[i], items[i]);
    if (!list.more.empty()) answer.setCursor(list.more);
  };
}

Fill answers_answer(std::vector<Fill> answers, Position at) {
  return [answers = std::move(answers), at](wire::Response::Builder response) {
    response.setPosition(at.value);
    auto list = response.initAnswers(static_cast<unsigned>(answers.size()));
    for (unsigned i = 0; i < list.size(); ++i) answers[i](list[i]);
  };
}

Fill done_answer(Position at) {
  return [at](wire::Response::Builder response) {
    response.setPosition(at.value);
    response.setDone();
  };
}

}  // namespace holdfast::api
