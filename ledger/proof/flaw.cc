#include "ledger/proof/flaw.h"

namespace holdfast::proof {

std::string_view name_of(Flaw::Kind kind) {
  switch (kind) {
    case Flaw::Kind::malformed:
      return "malformed";
    case Flaw::Kind::other_ledger:
      return "other_ledger";
    case Flaw::Kind::other_key:
      return "other_key";
    case Flaw::Kind::bad_signature:
      return "bad_signature";
    case Flaw::Kind::other_file:
      return "other_file";
    case Flaw::Kind::not_in_log:
      return "not_in_log";
    case Flaw::Kind::left_out:
      return "left_out";
    case Flaw::Kind::not_asked:
      return "not_asked";
    case Flaw::Kind::bad_paths:
      break;
  }
  return "bad_paths";
}

tl::expected<Head, Flaw> checked_head(std::string_view note, const VerifierKey& key,
                                      const std::string& what) {
  const auto flaw = [](Flaw::Kind kind, std::string why) {
    return tl::unexpected(Flaw{kind, {}, std::move(why)});
  };
  const auto head = read_signed_head(note, key);
  if (head) return *head;
  switch (head.error()) {
    case NoteFault::malformed:
      return flaw(Flaw::Kind::malformed, "the head is no signed note of a ledger");
    case NoteFault::other_ledger:
      return flaw(Flaw::Kind::other_ledger, what + " is of another ledger than the public key");
    case NoteFault::other_key:
      return flaw(Flaw::Kind::other_key, "the head is signed by another key");
    case NoteFault::bad_signature:
      break;
  }
  return flaw(Flaw::Kind::bad_signature, "the head's signature is not of its text");
}

}  // namespace holdfast::proof
