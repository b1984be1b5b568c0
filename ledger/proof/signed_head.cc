#include "ledger/proof/signed_head.h"

#include <utility>

#include "ledger/proof/text_bytes.h"
#include "ledger/proof/text_fields.h"

namespace holdfast::proof {
namespace {

std::string text_of(const Head& head) {
  std::string text = origin(head.ledger) + "\n" + std::to_string(head.size) + "\n" +
                     to_base64(head.root) + "\nat " + std::to_string(head.at.ms) + "\n";
  if (head.paths) {
    text += "paths " + std::to_string(head.paths->count) + " " + to_base64(head.paths->root) + "\n";
  }
  return text;
}

// Strict, so that a head has one text only.
std::optional<Head> parse_head(std::string_view text) {
  const std::string_view all = text;
  Head head;
  const auto name = take(text, '\n');
  const auto size = take(text, '\n');
  const auto root = take(text, '\n');
  const auto at = take(text, '\n');
  const auto ledger = name ? read_origin(*name) : std::nullopt;
  if (!at || !ledger || !read_number(*size, head.size) || !read_digest(*root, head.root) ||
      !at->starts_with("at ") || !read_number(at->substr(3), head.at.ms)) {
    return std::nullopt;
  }
  head.ledger = *ledger;
  if (const auto paths = take(text, '\n')) {
    std::string_view rest = *paths;
    if (take(rest, ' ') != "paths") return std::nullopt;
    head.paths.emplace();
    const auto count = take(rest, ' ');
    if (!count || !read_number(*count, head.paths->count) || !read_digest(rest, head.paths->root)) {
      return std::nullopt;
    }
  }
  if (text_of(head) != all) return std::nullopt;
  return head;
}

struct HeadNote {
  Note note;
  Head head;
};

std::optional<HeadNote> parse_head_note(std::string_view text) {
  auto note = parse_note(text);
  if (!note) return std::nullopt;
  const auto head = parse_head(note->text);
  if (!head || head->ledger != note->ledger) return std::nullopt;
  return HeadNote{std::move(*note), *head};
}

}  // namespace

std::string sign_head(const Head& head, const SigningKey& key) {
  return sign_note(text_of(head), head.ledger, key);
}

tl::expected<Head, NoteFault> read_signed_head(std::string_view note, const VerifierKey& key) {
  const auto parsed = parse_head_note(note);
  if (!parsed) return tl::unexpected(NoteFault::malformed);
  if (const auto checked = check_note(parsed->note, key); !checked) {
    return tl::unexpected(checked.error());
  }
  return parsed->head;
}

std::optional<Head> read_unchecked_head(std::string_view note) {
  const auto parsed = parse_head_note(note);
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
