#include "api/tokens.h"

#include <capnp/message.h>
#include <openssl/crypto.h>
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "api/form.h"
#include "api/text/json.h"
#include "api/tokens.capnp.h"
#include "ledger/store/sha256.h"

namespace holdfast::api {
namespace {

constexpr std::array<const char*, 3> kRoles{"app", "auditor", "operator"};

tl::unexpected<std::string> wrong(std::string what) { return tl::unexpected(std::move(what)); }

std::optional<Role> to_role(wire::Role role) {
  switch (role) {
    case wire::Role::APP:
      return Role::app;
    case wire::Role::AUDITOR:
      return Role::auditor;
    case wire::Role::OPERATOR:
      return Role::operations;
    case wire::Role::NONE:
      break;
  }
  return std::nullopt;
}

tl::expected<Scope, std::string> to_scope(wire::TokenLine::Reader line, Role role) {
  const bool has_paths = line.getPaths().size() > 0;
  if (role != Role::app) {
    if (has_paths || line.getAllPaths()) return wrong("paths are for an app");
    return Scope{};
  }
  if (has_paths == line.getAllPaths()) {
    return wrong("an app needs paths, or all_paths and no paths");
  }
  if (line.getAllPaths()) return Scope{};
  std::vector<Path> paths;
  for (const auto text : line.getPaths()) {
    const auto path = Path::make(view(text));
    if (!path) return wrong("a path is 1 to 200 bytes, segments separated by '/', none empty");
    paths.push_back(*path);
  }
  return Scope(std::move(paths));
}

tl::expected<Token, std::string> to_token(std::string_view json) {
  capnp::MallocMessageBuilder message;
  const auto done = from_json(json, message.initRoot<wire::TokenLine>());
  if (!done) return wrong(done.error().text());
  const auto line = message.getRoot<wire::TokenLine>().asReader();
  Token token{{}, {Actor::trusted({})}};
  const auto sha256 = line.getSha256();
  if (sha256.size() != token.digest.size()) return wrong("sha256 must have 64 digits");
  std::copy(sha256.begin(), sha256.end(), reinterpret_cast<kj::byte*>(token.digest.data()));
  const auto actor = actor_of_client(view(line.getActor()));
  if (!actor) {
    return wrong("actor must be 1 to 200 bytes without control characters, and not 'system'");
  }
  const auto role = to_role(line.getRole());
  if (!role) return wrong("role must be app, auditor or operator");
  auto scope = to_scope(line, *role);
  if (!scope) return wrong(scope.error());
  token.grant = {*actor, *role, std::move(*scope)};
  return token;
}

bool is_same(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

tl::expected<std::vector<Token>, std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) return wrong(path + " cannot be read");
  auto tokens = parse_tokens(text);
  if (!tokens) return wrong(path + ", " + tokens.error());
  return tokens;
}

}  // namespace

Digest token_digest(std::string_view token) { return store::sha256(token); }

tl::expected<std::vector<Token>, std::string> parse_tokens(std::string_view text) {
  std::vector<Token> tokens;
  std::set<Digest> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.front() == '#') continue;
    auto token = to_token(line);
    const std::string where = "line " + std::to_string(number) + ": ";
    if (!token) return wrong(where + token.error());
    if (!seen.insert(token->digest).second) return wrong(where + "this token is there already");
    tokens.push_back(std::move(*token));
  }
  if (tokens.empty()) return wrong("there is no token in it");
  return tokens;
}

std::string summary(const std::vector<Token>& tokens) {
  std::string text = std::to_string(tokens.size()) + (tokens.size() == 1 ? " token" : " tokens");
  std::string separator = ": ";
  for (std::size_t role = 0; role < kRoles.size(); ++role) {
    const auto count = std::count_if(tokens.begin(), tokens.end(), [&](const Token& token) {
      return static_cast<std::size_t>(token.grant.role) == role;
    });
    if (count == 0) continue;
    text += std::exchange(separator, ", ") + std::to_string(count) + " " + kRoles[role];
  }
  return text;
}

tl::expected<std::unique_ptr<Tokens>, std::string> Tokens::open(std::string file) {
  std::unique_ptr<Tokens> tokens(new Tokens(std::move(file)));
  auto read = read_file(tokens->file_);
  if (!read) return wrong(read.error());
  tokens->tokens_ = std::move(*read);
  return tokens;
}

std::optional<Grant> Tokens::grant_of(const Digest& digest) const {
  const std::lock_guard lock(mutex_);
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (is_same(token.digest, digest)) found = &token;
  }
  return found != nullptr ? std::optional(found->grant) : std::nullopt;
}

tl::expected<std::string, std::string> Tokens::reload() {
  auto read = read_file(file_);
  if (!read) return wrong(read.error());
  std::string said = summary(*read);
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(*read);
  ++changes_;
  return said;
}

}  // namespace holdfast::api
