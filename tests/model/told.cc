#include "tests/model/told.h"

namespace holdfast::testing {

namespace {

std::string told(const Refusal& refusal) {
  std::string text = text_of(refusal);
  if (refusal.allowed) text += " allowed=" + std::to_string(*refusal.allowed);
  if (!refusal.what.empty()) text += " what=" + refusal.what + " actual=" + refusal.actual;
  for (const Claim& claim : refusal.blockers) text += "\n    " + text_of(claim);
  if (refusal.position != 0) text += " position=" + std::to_string(refusal.position);
  if (refusal.positions != 0) text += " of=" + std::to_string(refusal.positions);
  for (const Refusal& one : refusal.refused) text += "\n  " + told(one);
  return text;
}

std::string told(const Accepted& accepted) {
  std::string text = text_of(accepted);
  if (accepted.begun) text += " begun=" + std::to_string(accepted.begun->value);
  if (accepted.after) text += " after=" + accepted.after->str();
  for (const Accepted& part : accepted.parts) text += "\n  " + told(part);
  return text;
}

}  // namespace

std::string told(const Outcome& outcome) {
  return outcome.refusal ? told(*outcome.refusal) : told(outcome.accepted);
}

}  // namespace holdfast::testing
