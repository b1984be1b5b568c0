#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/caller.h"

// Tokens: what stands in for a name and a password. docs/TOKENS.md says what the file looks like.
namespace holdfast::api {

// SHA-256 of a token. Enough for what nobody can guess: tokens are made at random, 32 bytes.
Digest token_digest(std::string_view token);

struct Token {
  Digest digest;
  Grant grant;
};
// The error names the line and what is wrong with it, and never shows a token.
tl::expected<std::vector<Token>, std::string> parse_tokens(std::string_view text);
// "3 tokens: 1 app, 1 auditor, 1 operator".
std::string summary(const std::vector<Token>& tokens);

// The tokens of a file, which are in force until it is read again. Any thread.
class Tokens {
 public:
  static tl::expected<std::unique_ptr<Tokens>, std::string> open(std::string file);

  // How long it takes does not depend on which token it is, nor on how much of one is right.
  std::optional<Grant> grant_of(const Digest& digest) const;

  // Reads the file again; the answer is its summary(). After an error the tokens stay as they were.
  tl::expected<std::string, std::string> reload();
  // How often that has changed them.
  std::uint64_t changes() const { return changes_.load(); }

 private:
  explicit Tokens(std::string file) : file_(std::move(file)) {}

  const std::string file_;
  mutable std::mutex mutex_;  // guards tokens_
  std::vector<Token> tokens_;
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace holdfast::api
