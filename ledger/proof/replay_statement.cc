#include "ledger/proof/replay_statement.h"

#include <algorithm>
#include <optional>

#include "ledger/proof/text_bytes.h"
#include "ledger/proof/text_fields.h"

namespace holdfast::proof {
namespace {

// No head begins like this: the key signs both, and neither can be taken for the other.
constexpr std::string_view kStatement = "holdfast statement 1";

std::string statement_text(const ReplayStatement& statement) {
  std::string text(kStatement);
  text += "\nledger " + to_hex(statement.ledger) + "\nsize " + std::to_string(statement.size) +
          "\nroot " + to_base64(statement.root) + "\nprogram " + statement.program +
          "\nrow-format " + std::to_string(statement.row_format) + "\n";
  for (const RowsDigest& rows : statement.projections) {
    text += rows.name + " " + std::to_string(rows.rows) + " " + to_base64(rows.digest) + "\n";
  }
  return text;
}

// What stands behind the word in a line of its own.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view word) {
  auto line = take(text, '\n');
  if (!line || take(*line, ' ') != word) return std::nullopt;
  return line;
}

std::optional<RowsDigest> read_rows(std::string_view line) {
  RowsDigest rows;
  const auto name = take(line, ' ');
  const auto count = take(line, ' ');
  if (!count || name->empty() || !read_number(*count, rows.rows) ||
      !read_digest(line, rows.digest)) {
    return std::nullopt;
  }
  rows.name = *name;
  return rows;
}

// Strict, so that a statement has one text only.
std::optional<ReplayStatement> parse_statement(std::string_view text) {
  const std::string_view all = text;
  if (take(text, '\n') != kStatement) return std::nullopt;
  ReplayStatement statement;
  const auto ledger = take_line(text, "ledger");
  const auto size = take_line(text, "size");
  const auto root = take_line(text, "root");
  const auto program = take_line(text, "program");
  const auto format = take_line(text, "row-format");
  if (!ledger || !size || !root || !program || !format) return std::nullopt;
  const auto id = fixed<16>(from_hex(*ledger));
  if (!id || !read_number(*size, statement.size) || !read_digest(*root, statement.root) ||
      !read_number(*format, statement.row_format)) {
    return std::nullopt;
  }
  statement.ledger = *id;
  statement.program = *program;
  while (const auto line = take(text, '\n')) {
    auto rows = read_rows(*line);
    if (!rows) return std::nullopt;
    statement.projections.push_back(std::move(*rows));
  }
  if (statement_text(statement) != all) return std::nullopt;
  return statement;
}

std::string said(const RowsDigest* rows) {
  if (rows == nullptr) return "no such projection";
  return std::to_string(rows->rows) + " rows, " + to_base64(rows->digest);
}

const RowsDigest* find(const ReplayStatement& statement, std::string_view name) {
  const auto found = std::ranges::find(statement.projections, name, &RowsDigest::name);
  return found == statement.projections.end() ? nullptr : &*found;
}

}  // namespace

std::string sign_statement(const ReplayStatement& statement, const SigningKey& key) {
  return sign_note(statement_text(statement), statement.ledger, key);
}

tl::expected<ReplayStatement, NoteFault> read_signed_statement(std::string_view note,
                                                               const VerifierKey& key) {
  const auto parsed = parse_note(note);
  if (!parsed) return tl::unexpected(NoteFault::malformed);
  auto statement = parse_statement(parsed->text);
  if (!statement || statement->ledger != parsed->ledger) {
    return tl::unexpected(NoteFault::malformed);
  }
  if (const auto checked = check_note(*parsed, key); !checked) {
    return tl::unexpected(checked.error());
  }
  return std::move(*statement);
}

std::vector<std::string> differences(const ReplayStatement& stated, const ReplayStatement& here) {
  if (stated.row_format != here.row_format) {
    return {"the projections of " + stated.program + " have row format " +
            std::to_string(stated.row_format) + ", those of this program " +
            std::to_string(here.row_format) + ": they cannot be compared"};
  }
  std::vector<std::string> found;
  const auto compare = [&](const std::string& name) {
    const RowsDigest* there = find(stated, name);
    const RowsDigest* own = find(here, name);
    if (there != nullptr && own != nullptr && *there == *own) return;
    found.push_back(name + ": stated " + said(there) + "; here " + said(own));
  };
  for (const RowsDigest& rows : stated.projections) compare(rows.name);
  for (const RowsDigest& rows : here.projections) {
    if (find(stated, rows.name) == nullptr) compare(rows.name);
  }
  return found;
}

}  // namespace holdfast::proof
