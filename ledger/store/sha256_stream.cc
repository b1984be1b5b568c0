#include "ledger/store/sha256_stream.h"

#include <openssl/evp.h>

#include "ledger/domain/invariant.h"

namespace holdfast::store {
namespace {

void require(bool done) { HOLDFAST_INVARIANT(done, "OpenSSL computes SHA-256"); }

}  // namespace

struct Sha256Stream::Context {
  Context() : md(EVP_MD_CTX_new()) { require(md != nullptr); }
  ~Context() { EVP_MD_CTX_free(md); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  EVP_MD_CTX* md;
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  require(EVP_DigestInit_ex(context_->md, EVP_sha256(), nullptr) == 1);
}
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::add(std::string_view piece) {
  require(EVP_DigestUpdate(context_->md, piece.data(), piece.size()) == 1);
}

Digest Sha256Stream::digest() const {
  const Context so_far;
  require(EVP_MD_CTX_copy_ex(so_far.md, context_->md) == 1);
  Digest digest;
  auto* out = reinterpret_cast<unsigned char*>(digest.data());
  require(EVP_DigestFinal_ex(so_far.md, out, nullptr) == 1);
  return digest;
}

}  // namespace holdfast::store
