#include "ledger/proof/signed_note.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ledger/proof/text_bytes.h"
#include "ledger/proof/text_fields.h"
#include "ledger/store/sha256.h"

namespace holdfast::proof {
namespace {

constexpr std::string_view kOrigin = "holdfast/";
constexpr std::string_view kDash = "\xe2\x80\x94 ";  // an em dash and a space
constexpr char kEd25519 = 1;
constexpr std::size_t kHashBytes = 4;

// Which key it is, in few bytes.
std::string key_hash(const VerifierKey& key) {
  const std::string algorithm{'\n', kEd25519};
  const std::string name = origin(key.ledger);
  const Digest digest =
      store::sha256(std::array<std::string_view, 3>{name, algorithm, chars_of(key.key)});
  return std::string(chars_of(digest).substr(0, kHashBytes));
}

}  // namespace

std::string origin(const store::LedgerId& ledger) { return std::string(kOrigin) + to_hex(ledger); }

std::optional<store::LedgerId> read_origin(std::string_view text) {
  if (!text.starts_with(kOrigin)) return std::nullopt;
  return fixed<16>(from_hex(text.substr(kOrigin.size())));
}

std::string to_text(const VerifierKey& key) {
  return origin(key.ledger) + "+" + to_hex(bytes_of(key_hash(key))) + "+" +
         to_base64(bytes_of(std::string(1, kEd25519) + std::string(chars_of(key.key))));
}

std::optional<VerifierKey> parse_verifier_key(std::string_view text) {
  const std::string_view all = text;
  VerifierKey key;
  const auto name = take(text, '+');
  const auto hash = take(text, '+');
  const auto ledger = name ? read_origin(*name) : std::nullopt;
  if (!hash || !ledger) return std::nullopt;
  key.ledger = *ledger;
  const auto bytes = from_base64(text);
  if (!bytes || bytes->size() != 1 + key.key.size() || bytes->front() != kEd25519) {
    return std::nullopt;
  }
  key.key = *fixed<32>(bytes->substr(1));
  if (to_text(key) != all) return std::nullopt;
  return key;
}

std::string sign_note(std::string_view text, const store::LedgerId& ledger, const SigningKey& key) {
  const std::string hash = key_hash({ledger, key.public_key()});
  const Signature signature = key.sign(text);
  return std::string(text) + "\n" + std::string(kDash) + origin(ledger) + " " +
         to_base64(bytes_of(hash + std::string(chars_of(signature)))) + "\n";
}

std::optional<Note> parse_note(std::string_view note) {
  const std::size_t end = note.find("\n\n");
  if (end == note.npos) return std::nullopt;
  std::string_view rest = note.substr(end + 2);
  if (!rest.starts_with(kDash)) return std::nullopt;
  rest.remove_prefix(kDash.size());
  const auto name = take(rest, ' ');
  const auto signature = take(rest, '\n');
  if (!name || !signature || !rest.empty()) return std::nullopt;
  const auto ledger = read_origin(*name);
  const auto bytes = fixed<kHashBytes + sizeof(Signature)>(from_base64(*signature));
  if (!ledger || !bytes) return std::nullopt;
  Note parsed{
      note.substr(0, end + 1), *ledger, std::string(chars_of(*bytes).substr(0, kHashBytes)), {}};
  std::copy(bytes->begin() + kHashBytes, bytes->end(), parsed.signature.begin());
  return parsed;
}

tl::expected<void, NoteFault> check_note(const Note& note, const VerifierKey& key) {
  if (note.ledger != key.ledger) return tl::unexpected(NoteFault::other_ledger);
  if (note.key_hash != key_hash(key)) return tl::unexpected(NoteFault::other_key);
  if (!is_signed(note.text, note.signature, key.key)) {
    return tl::unexpected(NoteFault::bad_signature);
  }
  return {};
}

}  // namespace holdfast::proof
