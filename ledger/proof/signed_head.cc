#include "ledger/proof/signed_head.h"

#include <array>
#include <charconv>

#include "ledger/proof/text_bytes.h"
#include "ledger/store/sha256.h"

namespace holdfast::proof {
namespace {

constexpr std::string_view kOrigin = "holdfast/";
constexpr std::string_view kDash = "\xe2\x80\x94 ";  // an em dash and a space
constexpr char kEd25519 = 1;
constexpr std::size_t kHashBytes = 4;

std::string origin(const store::LedgerId& ledger) { return std::string(kOrigin) + to_hex(ledger); }

// Which key it is, in few bytes.
std::string key_hash(const VerifierKey& key) {
  const std::string algorithm{'\n', kEd25519};
  const std::string name = origin(key.ledger);
  const Digest digest =
      store::sha256(std::array<std::string_view, 3>{name, algorithm, chars_of(key.key)});
  return std::string(chars_of(digest).substr(0, kHashBytes));
}

std::string text_of(const Head& head) {
  std::string text = origin(head.ledger) + "\n" + std::to_string(head.size) + "\n" +
                     to_base64(head.root) + "\nat " + std::to_string(head.at.ms) + "\n";
  if (head.paths) {
    text += "paths " + std::to_string(head.paths->count) + " " + to_base64(head.paths->root) + "\n";
  }
  return text;
}

// Takes what comes before the next `end`, and that.
std::optional<std::string_view> take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == text.npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return taken;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_digest(std::string_view text, Digest& digest) {
  const auto read = fixed<32>(from_base64(text));
  if (read) digest = *read;
  return read.has_value();
}

bool read_origin(std::string_view text, store::LedgerId& ledger) {
  if (!text.starts_with(kOrigin)) return false;
  const auto id = fixed<16>(from_hex(text.substr(kOrigin.size())));
  if (id) ledger = *id;
  return id.has_value();
}

// Strict, so that a head has one text only.
std::optional<Head> parse_head(std::string_view text) {
  const std::string_view all = text;
  Head head;
  const auto name = take(text, '\n');
  const auto size = take(text, '\n');
  const auto root = take(text, '\n');
  const auto at = take(text, '\n');
  if (!at || !read_origin(*name, head.ledger) || !read_number(*size, head.size) ||
      !read_digest(*root, head.root) || !at->starts_with("at ") ||
      !read_number(at->substr(3), head.at.ms)) {
    return std::nullopt;
  }
  if (const auto paths = take(text, '\n')) {
    std::string_view rest = *paths;
    if (take(rest, ' ') != "paths") return std::nullopt;
    head.paths.emplace();
    const auto count = take(rest, ' ');
    if (!count || !read_number(*count, head.paths->count) || !read_digest(rest, head.paths->root)) {
      return std::nullopt;
    }
  }
  if (!text.empty() || text_of(head) != all) return std::nullopt;
  return head;
}

struct Note {
  std::string_view text;  // what is signed
  Head head;
  std::string key_hash;
  Signature signature;
};

std::optional<Note> parse_note(std::string_view note) {
  const std::size_t end = note.find("\n\n");
  if (end == note.npos) return std::nullopt;
  const std::string_view text = note.substr(0, end + 1);
  std::string_view rest = note.substr(end + 2);
  const auto head = parse_head(text);
  if (!head || !rest.starts_with(kDash)) return std::nullopt;
  rest.remove_prefix(kDash.size());
  const auto name = take(rest, ' ');
  const auto signature = take(rest, '\n');
  if (!signature || !rest.empty() || *name != origin(head->ledger)) return std::nullopt;
  const auto signature_bytes = fixed<kHashBytes + sizeof(Signature)>(from_base64(*signature));
  if (!signature_bytes) return std::nullopt;
  Note parsed{text, *head, std::string(chars_of(*signature_bytes).substr(0, kHashBytes)), {}};
  std::copy(signature_bytes->begin() + kHashBytes, signature_bytes->end(),
            parsed.signature.begin());
  return parsed;
}

}  // namespace

std::string sign_head(const Head& head, const SigningKey& key) {
  const std::string text = text_of(head);
  const std::string hash = key_hash({head.ledger, key.public_key()});
  const Signature signature = key.sign(text);
  return text + "\n" + std::string(kDash) + origin(head.ledger) + " " +
         to_base64(bytes_of(hash + std::string(chars_of(signature)))) + "\n";
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
  if (!hash || !read_origin(*name, key.ledger)) return std::nullopt;
  const auto bytes = from_base64(text);
  if (!bytes || bytes->size() != 1 + key.key.size() || bytes->front() != kEd25519) {
    return std::nullopt;
  }
  key.key = *fixed<32>(bytes->substr(1));
  if (to_text(key) != all) return std::nullopt;
  return key;
}

tl::expected<Head, NoteFault> read_signed_head(std::string_view note, const VerifierKey& key) {
  const auto parsed = parse_note(note);
  if (!parsed) return tl::unexpected(NoteFault::malformed);
  if (parsed->head.ledger != key.ledger) return tl::unexpected(NoteFault::other_ledger);
  if (parsed->key_hash != key_hash(key)) return tl::unexpected(NoteFault::other_key);
  if (!is_signed(parsed->text, parsed->signature, key.key)) {
    return tl::unexpected(NoteFault::bad_signature);
  }
  return parsed->head;
}

std::optional<Head> read_unchecked_head(std::string_view note) {
  const auto parsed = parse_note(note);
  if (!parsed) return std::nullopt;
  return parsed->head;
}

std::vector<std::string_view> split_notes(std::string_view file) {
  std::vector<std::string_view> notes;
  constexpr std::string_view kBetween = "\n\nholdfast/";
  while (!file.empty()) {
    const std::size_t end = file.find(kBetween);
    if (end == file.npos) {
      notes.push_back(file);
      break;
    }
    notes.push_back(file.substr(0, end + 1));
    file.remove_prefix(end + 2);
  }
  return notes;
}

}  // namespace holdfast::proof
