#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/proof/signing_key.h"
#include "ledger/store/ledger_id.h"

// Text that a ledger has signed: a C2SP signed-note with one signature, whose name is the ledger's.
//
//     the text, lines without an empty one
//
//     — holdfast/8976832936fcbcd5da90641b26fef354 Gkf3…
namespace holdfast::proof {

// A ledger's name in notes.
std::string origin(const store::LedgerId& ledger);
std::optional<store::LedgerId> read_origin(std::string_view text);

// A ledger's public key as text: name+hash+base64, the form of C2SP signed-note.
struct VerifierKey {
  store::LedgerId ledger{};
  PublicKey key{};
  bool operator==(const VerifierKey&) const = default;
};
std::string to_text(const VerifierKey& key);
std::optional<VerifierKey> parse_verifier_key(std::string_view text);

// The text, which has no empty line and ends with a line break, with its signature.
std::string sign_note(std::string_view text, const store::LedgerId& ledger, const SigningKey& key);

// What a note says, whoever has signed it. Views into the note.
struct Note {
  std::string_view text;   // what is signed
  store::LedgerId ledger;  // whose signature it claims to be
  std::string key_hash;
  Signature signature;
};
std::optional<Note> parse_note(std::string_view note);

enum class NoteFault { malformed, other_ledger, other_key, bad_signature };
tl::expected<void, NoteFault> check_note(const Note& note, const VerifierKey& key);

}  // namespace holdfast::proof
