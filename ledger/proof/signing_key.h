#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "ledger/store/storage_error.h"

// Ed25519 (RFC 8032).
namespace holdfast::proof {

using PublicKey = std::array<std::byte, 32>;
using Signature = std::array<std::byte, 64>;

bool is_signed(std::string_view text, const Signature& signature, const PublicKey& key);

// The ledger's private key. Any thread.
class SigningKey {
 public:
  // From a file in PEM (PKCS #8), which is made with a fresh key, readable by its owner alone,
  // where there is none. Durable when it returns.
  static tl::expected<SigningKey, store::StorageError> open(const std::string& path);
  static SigningKey generate();

  SigningKey(SigningKey&&) noexcept;
  SigningKey& operator=(SigningKey&&) noexcept;
  ~SigningKey();

  const PublicKey& public_key() const { return public_key_; }
  Signature sign(std::string_view text) const;

 private:
  struct Key;
  explicit SigningKey(std::unique_ptr<Key> key);

  std::unique_ptr<Key> key_;
  PublicKey public_key_{};
};

}  // namespace holdfast::proof
